"""What the shell reader finds: commands, assignments, files that the script writes, jobs that it submits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from graph.extraction.launch_chain import LaunchChain
from graph.extraction.shell_words import Field, plain


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable set at a line. value is expanded as far as the text allows; known: nothing is left to the run."""

    line: int
    name: str
    value: str
    written: str
    exported: bool = False
    known: bool = True
    inside: tuple[str, ...] = ()


def mark_exported(assignments: list[Assignment], name: str) -> None:
    """`NAME=value` and later `export NAME`: the last value of the name is exported."""
    for at in range(len(assignments) - 1, -1, -1):
        if assignments[at].name == name:
            assignments[at] = replace(assignments[at], exported=True)
            return


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. line counts from 1 in the whole file, also for text inside quotes and heredocs.

    fields are its words expanded (`argv` as strings); written are the words as they stand; inside names what it stands
    in (`function f`, `loop`, `branch`, `bash -c`, `ssh`, `heredoc`); outer is the command whose text it is part of.
    """

    line: int
    fields: tuple[Field, ...]
    written: tuple[str, ...]
    chain: LaunchChain
    assignments: tuple[tuple[str, str], ...] = ()
    redirects: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    background: bool = False
    outer: Command | None = None
    # Every rule asks for it, of every command.
    argv: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "argv", tuple(plain(one) for one in self.fields))

    @property
    def name(self) -> str:
        return self.argv[0] if self.fields else ""

    @property
    def unresolved(self) -> tuple[str, ...]:
        """The expansions that only the run will tell."""
        return tuple(piece.text for one in self.fields for piece in one if piece.open)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that the script writes (heredoc, echo): its name as far as known, its text, the line where it starts."""

    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class InnerJob:
    """A batch job whose text the script itself makes and submits (`sbatch <<EOF`)."""

    submit: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reader is: what the text stands in, whose text it is, and how many lines stand before it."""

    inside: tuple[str, ...] = ()
    outer: Command | None = None
    first_line: int = 1

    def within(self, what: str) -> Place:
        return Place((*self.inside, what), self.outer, self.first_line)
