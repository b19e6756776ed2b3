"""What an answer says, before any door prints it: parts in the order in which they are read.

Text is Markdown, for emphasis and code spans only; words of a user or a log stand in Quote, Code and Diff, which every
printer shows as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knowledge.strict import Facts


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together."""

    text: str
    type: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of somebody else, shown as they are: a line of a log, a fact's page. where: `slurm-1.out:12`, or empty."""

    text: str
    where: str = ""
    type: Literal["quote"] = "quote"


@dataclass(frozen=True, slots=True)
class Step(Facts):
    """One thing to do: what and why in a clause, and the command that does it (empty where there is none)."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """What to do, in order."""

    items: tuple[Step, ...]
    type: Literal["steps"] = "steps"


@dataclass(frozen=True, slots=True)
class Code:
    """Text to copy: a script, a file, commands. name is the file's, if it has one."""

    text: str
    language: str = "bash"
    name: str = ""
    type: Literal["code"] = "code"


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed in a file, as a unified diff."""

    text: str
    name: str = ""
    type: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several ways: what to say to take it, why one would, and whether it is the usual one here.

    change: the fields of a request that taking it settles; none where saying it is all there is to it.
    """

    says: str
    why: str = ""
    usual: bool = False
    change: tuple[tuple[str, str | int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person may choose between, numbered from 1."""

    items: tuple[Choice, ...]
    type: Literal["choices"] = "choices"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact was read: a title, an address or path, and an ISO date (empty where not known)."""

    title: str
    address: str
    date: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """The pages behind the answer."""

    items: tuple[Source, ...]
    type: Literal["sources"] = "sources"


Part = Paragraph | Quote | Steps | Code | Diff | Choices | Sources


@dataclass(frozen=True, slots=True)
class Document:
    """An answer, part by part."""

    parts: tuple[Part, ...]

    def __add__(self, other: Document) -> Document:
        """This answer, and then the other."""
        return Document((*self.parts, *other.parts))
