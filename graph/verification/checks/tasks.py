"""The text that each task of the launcher runs, and which variables stand in it: expanded there, or too early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from graph.extraction.commands import Command
from graph.extraction.launch_shape import LaunchShape, root_of
from graph.extraction.shell_words import atoms, plain
from graph.verification.checks.subject import Subject
from graph.verification.checks.words import WORDS

NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
HEREDOC = re.compile(r"<<-?\s*(['\"\\]?)\w+")
# Variables that differ from task to task, by who sets them.
OF_TASK: dict[str, re.Pattern[str]] = {name: re.compile(pattern) for name, pattern in WORDS["of_task"].items()}
EACH_TASK = re.compile("|".join(f"(?:{one.pattern})" for one in OF_TASK.values()))


@dataclass(frozen=True, slots=True)
class Used:
    """A variable of a launch: early where the batch shell expands it before the launcher starts anything."""

    name: str
    line: int
    early: bool


def option_pairs(launch: LaunchShape) -> Iterator[tuple[str, str]]:
    """Each word that the program is given with its value: what stands behind its `=`, else the next word."""
    words = [plain(word) for word in launch.program.args]
    for word, after in pairwise([*words, ""]):
        option, joined, value = word.partition("=")
        yield option, value if joined else after


def root_with_launcher(launch: LaunchShape) -> Command | None:
    """The command of the chain that calls the parallel launcher."""
    one: Command | None = launch.command
    found: Command | None = None
    while one is not None:
        if any(layer.kind == "parallel" for layer in one.chain.layers):
            found = one
        one = one.outer
    return found


def variables(s: Subject) -> Iterator[Used]:
    """Every variable of the launch line and of what its tasks run."""
    launch = s.launch
    command = root_with_launcher(launch) if launch else None
    if launch is None or command is None:
        return
    # What stands behind the text of `bash -c` is expanded by the shell that starts it.
    outer = root_of(command).written if command.outer is not None else ()
    for word in command.written:
        nested = command.outer is not None and word not in outer
        start = line_of(s, command, word)
        for atom in atoms(word):
            inner = start + word[: max(word.find(atom.text), 0)].count("\n")
            if atom.kind == "parameter":
                yield from (Used(name, inner, not nested) for name in re.findall(r"^[!#]?([A-Za-z_]\w*)", atom.text))
            elif atom.kind == "text":
                yield from (
                    Used(found[1], inner + atom.text[: found.start()].count("\n"), False)
                    for found in NAME.finditer(atom.text)
                )
            else:
                yield from (Used(found[1], inner, not nested) for found in NAME.finditer(atom.text))
    yield from of_workers(s, launch, command)


def line_of(s: Subject, command: Command, word: str) -> int:
    """The line on which a word of the command begins: searched, because a command only knows its first."""
    first = word.split("\n")[0]
    for number in range(command.line, min(command.line + 60, len(s.lines) + 1)):
        if first and first in s.line(number):
            return number
    return command.line


def of_workers(s: Subject, launch: LaunchShape, command: Command) -> Iterator[Used]:
    """Variables of worker scripts that the script itself writes and the launcher starts."""
    if not in_task(s, launch.command.inside):
        return
    for document in s.script.documents:
        last = document.line + document.text.count("\n")
        if not any(document.name in where for where in launch.command.inside if "heredoc" in where):
            continue
        opened = HEREDOC.search(" ".join(s.lines[max(document.line - 3, 0) : document.line - 1]))
        early = bool(opened) and not (opened and opened[1])
        for number in range(document.line, last + 1):
            for found in re.finditer(r"(\\?)\$\{?([A-Za-z_]\w*)", s.line(number)):
                yield Used(found[2], number, early and not found[1])


def in_task(s: Subject, inside: tuple[str, ...]) -> bool:
    """Whether a place is text that the launcher's tasks run, and not the batch script (or a job that it submits)."""
    command = root_with_launcher(s.launch) if s.launch else None
    depth = len(command.inside) if command else 0
    return inside[:depth] == (command.inside if command else ()) and any(
        " -c" in where or "heredoc" in where for where in inside[depth:]
    )


def task_text(s: Subject) -> str:
    """What the tasks run as shell text: `bash -c` and worker scripts; empty where they run a program at once."""
    launch = s.launch
    if launch is None:
        return ""
    texts: list[str] = []
    one: Command | None = launch.command
    while one is not None:
        if one.chain.shell_text is not None:
            texts.append("".join(piece.text for piece in one.chain.shell_text))
        one = one.outer
    for document in s.script.documents:
        if any(document.name in where for where in launch.command.inside):
            texts.append(document.text)
    return "\n".join(texts)


def in_tasks(s: Subject, names: frozenset[str]) -> dict[str, tuple[int, str]]:
    """Name -> (line, value) for variables that the tasks themselves set."""
    launch = s.launch
    found: dict[str, tuple[int, str]] = {}
    if launch is None:
        return found
    for one in s.script.assignments:
        if one.name in names and in_task(s, one.inside):
            found[one.name] = (one.line, one.written)
    command: Command | None = launch.command
    while command is not None:
        for name, value in command.assignments:
            if name in names and command.outer is not None:
                found[name] = (command.line, value)
        command = command.outer
    return found


def are_alone(s: Subject) -> bool:
    """Whether each task is made a group of its own: rank 0 of one."""
    own = {name: value.strip("'\"") for name, (_, value) in in_tasks(s, frozenset({"RANK", "WORLD_SIZE"})).items()}
    return own == {"RANK": "0", "WORLD_SIZE": "1"}
