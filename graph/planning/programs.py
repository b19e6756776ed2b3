"""The program that a person names, taken apart: what starts, its arguments, and what stood in front of it.

`python -u -m pkg.train --lr 1`, `train.py --lr 3`, `./run.sh`, `uv run train.py` and a notebook all become a program,
its kind and its words. Changes of single arguments are applied here too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from graph.extraction.script import read_script
from graph.extraction.shell_words import plain
from graph.planning.fields import shown
from knowledge.errors import InputError
from knowledge.job_parts import ArgumentEdit, EnvironmentKind
from knowledge.types import Variable
from knowledge.word_lists import in_order
from templates.quoting import WHOLE, SplitWords

EntryKind = Literal["script", "module", "program"]
PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
PYTHON_FILE = re.compile(r"\.pyw?$")
SHELL_FILE = re.compile(r"(?!\.?/).*\.(?:sh|bash)")
TORCH_LAUNCH = re.compile(r"-m\s+torch\.distributed\.(?:run|launch)\b")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.S)
MODULE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
# Python's own options that take a word; -m names the program.
TAKES_WORD = ("-W", "-X")
# Starting the ranks is the script's work: a launcher in front of the program would start them twice.
LAUNCHERS = in_order("torchrun srun mpirun mpiexec deepspeed accelerate jsrun ibrun horovodrun aprun")
# A word as it is written, quotes and all.
WRITTEN = re.compile(r"(?:[^\s'\"\\]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+", re.S)
OPTION = re.compile(r"-{1,2}[A-Za-z]")
KEY = re.compile(r"(\+{0,2})([A-Za-z_][\w./]*)=(.*)", re.S)


@dataclass(frozen=True, slots=True)
class Started:
    """What starts: entry (a path, a module or a program), its kind, its arguments, variables set before it.

    launcher: the words in front of it that start ranks, which is the script's work.
    """

    entry: str
    kind: EntryKind
    args: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    environment_kind: EnvironmentKind | None = None
    launcher: str = ""

    @property
    def name(self) -> str:
        """The file or module that people know it by: of `bash run.sh` the file."""
        return self.args[0] if self.entry == "bash" and self.args else self.entry


# Characters of a command line: shlex takes the square of a word's length.
LONGEST = 20_000


def take_apart(entry: str, args: str | None = None) -> Started:
    """The program in these words, with the arguments that were said beside it behind its own.

    Raises InputError on an open quote, on nothing to start, and where a launcher stands in front of the program.
    """
    words = split_words("entry", entry)
    variables = []
    while words and (found := ASSIGNMENT.fullmatch(words[0])):
        variables.append(Variable(found[1], found[2]))
        words = words[1:]
    uses_uv = words[:2] == ("uv", "run")
    words, launcher = without_launcher(words[2:] if uses_uv else words, entry)
    started = program_of(words, entry)
    return Started(
        started.entry,
        started.kind,
        (*started.args, *split_words("args", args or "")),
        tuple(variables),
        "uv" if uses_uv else None,
        launcher,
    )


def without_launcher(words: tuple[str, ...], text: str) -> tuple[tuple[str, ...], str]:
    """The words of the program itself, and those in front of it that start ranks. Raises InputError where no program
    is to be seen behind them."""
    if not words or not (PurePosixPath(words[0]).name in LAUNCHERS or TORCH_LAUNCH.search(text)):
        return words, ""
    program = read_script(f"#!/bin/bash\n{text}\n").program
    at = len(words) - 1 - len(program.args) if program else 0
    if program is None or at < 1 or words[at] != plain(program.entry):
        raise InputError(
            f"entry {shown(text)} starts with {words[0]}; give the program alone: the script starts the ranks"
        )
    head = words[:at]
    while head and (head[-1] in ("-m", "-u", "bash", "sh") or PYTHON.fullmatch(head[-1])):
        head = head[:-1]
    return (("-m",) if program.kind == "module" else ()) + words[at:], shlex.join(head)


def split_words(name: str, text: str) -> tuple[str, ...]:
    """A command line's words, as a shell splits them. Raises InputError on an open quote, and where it is too long.

    A variable alone and without quotes stays one whose value is split.
    """
    if len(text) > LONGEST:
        raise InputError(f"{name} has {len(text):,} characters, more than {LONGEST:,}; put them into a file")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{name} has an open quote; close it, or escape it with a backslash") from error
    written = WRITTEN.findall(text)
    if len(written) != len(words):
        return tuple(words)
    return tuple(SplitWords(word) if raw == word and WHOLE.fullmatch(word) else word
                 for raw, word in zip(written, words, strict=True))  # fmt: skip


def program_of(words: tuple[str, ...], text: str) -> Started:
    if words and PYTHON.fullmatch(words[0]):
        return after_python(words, text)
    if words[:1] == ("-m",):
        return module(words, text)
    if not words or words[0].startswith("-"):
        raise InputError(f"entry {shown(text)} is not a program; give a path such as train.py, or '-m package.module'")
    if is_one_file(words, text):
        return Started(text.strip(), "script")
    if words[0].endswith(".ipynb"):
        return Started("jupyter", "program", ("nbconvert", "--to", "notebook", "--execute", "--inplace", *words))
    if SHELL_FILE.fullmatch(words[0]):  # a file that no PATH has and that need not be executable
        return Started("bash", "program", words)
    return Started(words[0], "script" if PYTHON_FILE.search(words[0]) else "program", words[1:])


def is_one_file(words: tuple[str, ...], text: str) -> bool:
    """Whether the blanks are part of a file's name: `my train.py`."""
    plain = len(words) > 1 and not any(re.search(r"^-|[./=]", word) for word in words[:-1])
    return plain and PYTHON_FILE.search(text.strip()) is not None


def after_python(words: tuple[str, ...], text: str) -> Started:
    """What Python runs: its own options go, -u is written by the script."""
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c", "-"):
        at += 2 if words[at] in TAKES_WORD else 1
    rest = words[at:]
    if rest[:1] == ("-m",):
        return module(rest, text)
    if not rest or rest[0] in ("-c", "-"):
        raise InputError(f"entry {shown(text)} names no program; give a file such as train.py, or '-m package.module'")
    return Started(rest[0], "script", rest[1:])


def module(words: tuple[str, ...], text: str) -> Started:
    if len(words) < 2 or not MODULE_NAME.fullmatch(words[1]):
        raise InputError(f"entry {shown(text)} names no module after -m; give '-m package.module'")
    return Started(words[1], "module", words[2:])


def edited(args: tuple[str, ...], edits: Iterable[ArgumentEdit]) -> tuple[str, ...]:
    """The arguments after these changes, in order. What is not there is added; its form follows the others'."""
    for edit in edits:
        args = one_edit(args, edit)
    return args


def one_edit(args: tuple[str, ...], edit: ArgumentEdit) -> tuple[str, ...]:
    value = () if edit.value is None else split_words("argument", edit.value) or ("",)
    if not edit.name:
        return (*args, *value) if edit.kind != "remove" else tuple(word for word in args if word not in value)
    at = place(args, edit.name)
    if edit.kind == "remove":
        return args if at is None else (*args[:at], *args[at + length(args, at) :])
    if at is None:
        return (*args, *new_words(args, edit.name, value))
    return (*args[:at], *like(args[at], value), *args[at + length(args, at, len(value)) :])


def same_name(one: str, other: str) -> bool:
    """`--batch_size` is `--batch-size` is `batch_size`."""
    return one.lstrip("-+").replace("_", "-") == other.lstrip("-+").replace("_", "-")


def place(args: tuple[str, ...], name: str) -> int | None:
    """Where an argument of that name stands: `--name`, `--name=value` or `name=value`."""
    for at, word in enumerate(args):
        head = word.split("=", 1)[0]
        if (OPTION.match(word) or KEY.fullmatch(word)) and same_name(head, name):
            return at
    return None


def length(args: tuple[str, ...], at: int, wanted: int = 1) -> int:
    """How many words the argument takes: one with `=`, else its value too, as many as are wanted."""
    if "=" in args[at] or wanted == 0:
        return 1
    end = at + 1
    while (
        end < len(args) and end - at <= max(1, wanted) and not OPTION.match(args[end]) and not KEY.fullmatch(args[end])
    ):
        end += 1
    return end - at


def like(old: str, value: tuple[str, ...]) -> tuple[str, ...]:
    """The argument with its new value, written as it was."""
    if "=" in old:
        return (f"{old.split('=', 1)[0]}={' '.join(value)}",)
    return (old, *value)


def new_words(args: tuple[str, ...], name: str, value: tuple[str, ...]) -> tuple[str, ...]:
    """A new argument in the form of the others: `--name value`, or `name=value` where they are keys."""
    keys = any(KEY.fullmatch(word) for word in args) and not any(OPTION.match(word) for word in args)
    if name.startswith("-"):
        return (name, *value)
    if value and (keys or "." in name or name.startswith("+")):
        return (f"{name}={' '.join(value)}",)
    return (f"--{name}", *value)
