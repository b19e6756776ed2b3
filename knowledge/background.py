"""What stands behind an answer: statements for the question that goes on from it (knowledge/background.yaml)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.cards import Address
from knowledge.data_file import read_facts
from knowledge.strict import Facts
from knowledge.types import ToldStatement

FILE = Path(__file__).parent / "background.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Background(Facts):
    """of: the limit, cause (or the beginning of its family) or topic that was spoken of; about: what the sentences say
    something of; source: the page that bears them."""

    of: str
    about: str
    says: tuple[str, ...]
    source: Address


@cache
def background() -> tuple[Background, ...]:
    """The whole file. Raises FactsError on a wrong one."""
    found: tuple[Background, ...] = read_facts(FILE, tuple[Background, ...])
    return found


def background_of(names: Iterable[str]) -> Iterator[tuple[str, ToldStatement]]:
    """(of what, statement) behind what was spoken of; an entry that ends on a hyphen is of every name of its family."""
    spoken = tuple(names)
    for one in background():
        if any(name == one.of or (one.of.endswith("-") and name.startswith(one.of)) for name in spoken):
            yield from ((one.of, ToldStatement(says, one.about, one.source)) for says in one.says)
