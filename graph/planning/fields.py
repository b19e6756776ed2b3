"""What a request's fields may hold before they reach a script. Anything else is refused in one line.

Program, arguments and variables are quoted when rendered, so nearly any text is harmless there. A directive cannot be
quoted: what goes into one has to be a plain word.
"""

from __future__ import annotations

import re

from knowledge.cluster import walltime_seconds
from knowledge.errors import InputError
from knowledge.printable import TURNING
from knowledge.types import JobRequest

PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+:/,-]{0,99}")
DIRECTIVE_VALUE = re.compile(r"[A-Za-z0-9._@+:/,&|*!=%~()\[\]{}-]{1,300}")
PATH = re.compile(r"~?(?:[A-Za-z0-9._@+:/,%=-]|\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\}){1,1000}")
FREE_DIRECTIVE = re.compile(rf"[^\x00-\x1f\x7f-\x9f\u2028\u2029{TURNING}]{{1,1000}}")
CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{TURNING}]")
LONGEST = 8_000
MOST_NODES, MOST_GPUS_PER_NODE = 100_000, 64


def check_request(request: JobRequest) -> None:
    """Refuse what no script can hold. Raises InputError."""
    for name in ("account", "queue"):
        check_plain_word(name, getattr(request, name))
    for name in ("entry", "args", "model", "environment", "container"):
        check_text(name, getattr(request, name))
    check_count("nodes", request.nodes, MOST_NODES)
    check_count("gpus_per_node", request.gpus_per_node or None, MOST_GPUS_PER_NODE)
    check_count("total_gpus", request.total_gpus, MOST_NODES * MOST_GPUS_PER_NODE)
    for bind in request.binds:
        check_path("binds", bind)
    if request.job_name is not None:
        check_plain_word("job_name", request.job_name)
    check_count("port", request.port, 65_535)
    check_count("cpus_per_task", request.cpus_per_task, 1_024)
    check_count("processes_per_node", request.processes_per_node, 1_024)
    if request.walltime is not None:
        check_walltime(request.walltime)


def check_plain_word(name: str, value: str | None) -> None:
    if value is not None and not PLAIN_WORD.fullmatch(value):
        raise InputError(f"{name} {shown(value)} cannot stand in a directive; give letters, digits and . _ - only")


def check_directive(name: str, value: str, *, free: bool = False) -> None:
    """What goes into a directive: no blanks or quotes, which the scheduler would read as its own; free: one line."""
    wanted = FREE_DIRECTIVE if free else DIRECTIVE_VALUE
    if not wanted.fullmatch(value):
        said = name.replace("_", " ")
        raise InputError(f"{said} {shown(value)} cannot stand in a directive; give it without blanks or quotes")


def check_path(name: str, value: str) -> None:
    """A path that stands inside double quotes of a script: plain variables, no commands."""
    if not PATH.fullmatch(value):
        raise InputError(f"{name.replace('_', ' ')} {shown(value)} is no plain path; give it without blanks or quotes")


def check_module(name: str) -> None:
    """A module's name, which stands in a `module load` line."""
    if not PLAIN_WORD.fullmatch(name):
        raise InputError(f"module {shown(name)} is no module's name; give letters, digits and . _ / - only")


def check_text(name: str, value: str | None) -> None:
    if value is None:
        return
    if CONTROL.search(value):
        what = "a line break, a control character or a mark that turns letters round"
        raise InputError(f"{name} {shown(value)} holds {what}; give it on one line, without")
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
