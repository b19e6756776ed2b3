"""What each task did around the program, in a text that a shell of the launch ran: where it goes in the new script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from graph.extraction.commands import Command
from graph.extraction.places import ASSIGNMENTS, Node, tree_of, within
from graph.extraction.shell_words import plain
from graph.porting.account import PortNote
from graph.porting.walk import Placing, is_settings, is_software, listed, name_of, source_of, words_in
from knowledge.word_lists import word_set
from templates.quoting import shell_word

# Steps of each task that may be taken before the launch instead.
MAY_MOVE = word_set("cd mkdir ulimit umask")
IDLE = word_set("echo set export true :")


@dataclass(frozen=True, slots=True)
class InnerSteps:
    """rows: lines before the launch. first: what stands in front of the program for the steps of each task."""

    rows: tuple[str, ...] = ()
    first: str = ""
    notes: tuple[PortNote, ...] = ()


def inner_steps(launch: Command, walk: Placing, boxed: bool, evaluated: bool = False) -> InnerSteps:
    """The steps beside a launch in a text for another shell. boxed: whether the old container goes along, with its own
    software and folders; evaluated: whether `eval` runs the text."""
    if launch.outer is None and not evaluated:
        return InnerSteps()
    text = plain(launch.outer.chain.shell_text or ()) if launch.outer else ""
    found = TaskSteps(launch, walk, boxed, text or "\n".join(beside(launch, walk)), list(settings_of(launch, walk)))
    for one in statements(tree_of(found.text)):
        found.look_at(one)
    if not found.inner:
        return InnerSteps(tuple(found.rows), "", tuple(found.notes))
    read = words_in(" ".join(re.findall(r"\$\{?\w+", " ".join(found.inner))))
    handed = [name for name, set_ in walk.values.items() if name in read and not set_.exported]
    rows = [*found.rows, *([f"export {' '.join(handed)}"] if handed else [])]
    between = "\n" if any("\n" in one for one in found.inner) else "; "
    steps = between.join((*found.inner, 'exec "$@"'))
    # Single quotes: what the steps name is put in by each task, as it was.
    return InnerSteps(tuple(rows), f"bash -c {shlex.quote(steps)} steps ", tuple(found.notes))


@dataclass
class TaskSteps:
    """Sorts the statements of a text: rows go before the launch, inner ones stay in each task, the rest is told."""

    launch: Command
    walk: Placing
    boxed: bool
    text: str
    rows: list[str]
    inner: list[str] = field(default_factory=list)
    notes: list[PortNote] = field(default_factory=list)
    behind: bool = False

    def note(self, says: str) -> None:
        self.notes.append(PortNote(self.launch.line, says))

    def look_at(self, one: Node) -> None:
        whole = source_of(one, self.text)
        commands = list(within(one, ("command",)))
        alone, shown = one.type == "command", listed([whole])
        if not self.behind and any(starts(node, self.launch, self.text) for node in commands):
            self.behind = True
            if not alone and len(commands) > 1:
                self.note(f"{shown}: of this each task runs the program alone now.")
        elif one.type in ASSIGNMENTS or (alone and name_of(commands[0]) in IDLE):
            return
        elif not self.boxed and commands and all(is_software(node, self.walk, self.text) for node in commands):
            self.note(f"{shown} stood inside the launch: {self.walk.target.title} has its own software.")
        elif self.behind:
            self.note(f"{shown}: each task ran it behind the program or where that failed; left out.")
        elif not self.boxed and alone and name_of(commands[0]) in MAY_MOVE:
            self.rows.append(whole)
            self.note(f"{shown}: each task ran it before the program; it runs once now, before all.")
        else:
            self.inner.append(whole)


def settings_of(launch: Command, walk: Placing) -> Iterator[str]:
    """Variables that the text sets and that are the person's."""
    for one in walk.script.assignments:
        first = launch.outer.line if launch.outer else launch.line
        within_it = first <= one.line <= launch.line and (not launch.outer or "bash -c" in " ".join(one.inside))
        if within_it and not is_settings(one.name, one.written, walk):
            yield f"export {one.name}={one.written}"
    for name, value in launch.assignments:
        if not is_settings(name, value, walk):
            yield f"export {name}={shell_word(value)}"


def beside(launch: Command, walk: Placing) -> Iterator[str]:
    """The commands of the same text, where only these are known."""
    for one in walk.script.commands:
        if one.outer is launch.outer and one.argv and (launch.outer or one.inside == launch.inside):
            yield " ".join((*one.written, *one.redirects))


def statements(node: Node) -> Iterator[Node]:
    """Each statement of a text, those of `a && b; c` one by one."""
    for one in node.named_children:
        if one.type == "list":
            yield from statements(one)
        elif one.type != "comment":
            yield one


def starts(node: Node, launch: Command, text: str) -> bool:
    """Whether a command of the text is the launch, or starts what it is given (`exec "$@"`)."""
    program = launch.chain.program
    entry = plain(program.entry) if program else ""
    words = re.sub(r"[\"']", "", source_of(node, text)).split()
    if "$@" in words or words == re.sub(r"[\"']", "", " ".join(launch.written)).split():
        return True
    return bool(entry) and (entry in words or any(word.endswith(f"/{entry}") for word in words))
