"""What a request's fields may hold before they reach a script. Anything else is refused in one line.

Program, arguments and variables are quoted when rendered, so nearly any text is harmless there. A directive cannot be
quoted: what goes into one has to be a plain word.
"""

from __future__ import annotations

import re
import shlex
from typing import Literal

from knowledge.cluster import walltime_seconds
from knowledge.errors import InputError
from knowledge.types import JobRequest

PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+:/,-]{0,99}")
MODULE = re.compile(r"-m\s+([A-Za-z_][A-Za-z0-9_.]*)")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
LONGEST = 8_000
MOST_NODES, MOST_GPUS_PER_NODE = 100_000, 64
PYTHON = re.compile(r"\.pyw?$")


def check_request(request: JobRequest) -> None:
    """Refuse what no script can hold. Raises InputError."""
    for name in ("account", "queue"):
        check_plain_word(name, getattr(request, name))
    for name in ("entry", "args", "model", "environment", "container"):
        check_text(name, getattr(request, name))
    check_count("nodes", request.nodes, MOST_NODES)
    check_count("gpus_per_node", request.gpus_per_node, MOST_GPUS_PER_NODE)
    check_count("total_gpus", request.total_gpus, MOST_NODES * MOST_GPUS_PER_NODE)
    if request.walltime is not None:
        check_walltime(request.walltime)


def check_plain_word(name: str, value: str | None) -> None:
    if value is not None and not PLAIN_WORD.fullmatch(value):
        raise InputError(f"{name} {shown(value)} cannot stand in a directive; give letters, digits and . _ - only")


def check_text(name: str, value: str | None) -> None:
    if value is None:
        return
    if CONTROL.search(value):
        raise InputError(f"{name} {shown(value)} holds a line break or a control character; give it on one line")
    if len(value) > LONGEST:
        raise InputError(f"{name} has {len(value)} characters; put more than {LONGEST} into a file that it names")


def check_count(name: str, value: int | None, most: int) -> None:
    if value is not None and not 0 < value <= most:
        raise InputError(f"{name} is {value}; give a number from 1 to {most}")


def check_walltime(text: str) -> None:
    try:
        seconds = walltime_seconds(text)
    except ValueError as error:
        raise InputError(f"walltime {shown(text)} is not HH:MM:SS, such as 02:00:00") from error
    if seconds <= 0:
        raise InputError("walltime is zero; give HH:MM:SS, such as 02:00:00")


def shown(value: str) -> str:
    """A value as it may be repeated in a message: short, one line, no control characters."""
    text = CONTROL.sub("?", value)
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def split_arguments(text: str | None) -> tuple[str, ...]:
    """The program's arguments as words, split as a shell splits them. Raises InputError on an open quote."""
    try:
        return tuple(shlex.split(text or ""))
    except ValueError as error:
        raise InputError("args has an open quote; close it, or escape it with a backslash") from error


def entry_of(text: str) -> tuple[str, Literal["script", "module", "program"]]:
    """The program to start and what it is. Raises InputError on something Python would take for an option."""
    module = MODULE.fullmatch(text.strip())
    if module:
        return module[1], "module"
    if not text.strip() or text.lstrip().startswith("-"):
        raise InputError(f"entry {shown(text)} is not a program; give a path such as train.py, or '-m package.module'")
    return text, "script" if PYTHON.search(text) or " " in text else "program"
