"""The account of a port: what became of every statement of the old script that is no directive, and what is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fate = Literal["carried", "replaced"]


@dataclass(frozen=True, slots=True)
class AccountLine:
    """Lines first to last of the old script (from 1, both in): they stand in the new one, or it has its own for them.

    text is the statement, keys and tokens hidden; why is never empty.
    """

    first: int
    last: int
    text: str
    fate: Fate
    why: str


@dataclass(frozen=True, slots=True)
class PortNote:
    """Something that a person should look at after the port; line is the source's, 0 for the whole script."""

    line: int
    says: str


def counts(lines: tuple[AccountLine, ...]) -> str:
    """`12 carried, 5 replaced`."""
    fates: tuple[Fate, ...] = ("carried", "replaced")
    return ", ".join(f"{sum(one.fate == fate for one in lines)} {fate}" for fate in fates)
