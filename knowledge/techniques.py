"""Steps that are advised for a training, and how each is done with each framework: knowledge/techniques.yaml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from knowledge.cards import Address, Day, Id
from knowledge.data_file import read_facts
from knowledge.strict import Checked, Facts, check_filled

FILE = Path(__file__).parent / "techniques.yaml"
ANY = "any"

Names = Annotated[tuple[str, ...], Checked(check_filled)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TechniqueLines(Facts):
    """The lines to write with one framework, the page that says so, and a remark behind them."""

    write: str
    source: Address
    also: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique(Facts):
    """One step. names: patterns of lower-case words; says: what it does; costs, saves: in time and in memory; usual:
    the value to begin with; more: what else is asked of it; ways: by the id of a framework, or `any`."""

    id: Id
    title: str
    names: Names
    says: str
    costs: str
    saves: str
    usual: str
    source: Address
    ways: Mapping[str, TechniqueLines]
    more: tuple[str, ...] = field(default=())

    def way(self, framework: str) -> TechniqueLines | None:
        """How it is done with that framework; None: not there, or nobody wrote it down."""
        return self.ways.get(framework) or self.ways.get(ANY)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkName(Facts):
    """How a framework is called, and by which patterns of lower-case words it is known."""

    title: str
    names: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class TechniqueTable(Facts):
    """asks: what a question asks of a step, as patterns; closed: words that only point at one."""

    frameworks: Mapping[str, FrameworkName]
    asks: Mapping[str, Names]
    closed: str
    as_of: Day
    techniques: tuple[Technique, ...]


@cache
def technique_table() -> TechniqueTable:
    """The whole file. Raises FactsError on a wrong one."""
    return read_facts(FILE, TechniqueTable)


@cache
def patterns() -> tuple[tuple[Technique, re.Pattern[str]], ...]:
    return tuple((one, re.compile("|".join(one.names))) for one in technique_table().techniques)


@cache
def asked_pattern(side: str) -> re.Pattern[str]:
    return re.compile("|".join(technique_table().asks[side]))


def asks(side: str, text: str) -> bool:
    """Whether the words ask that of a step; side: a name under `asks` in the table."""
    return asked_pattern(side).search(text.lower()) is not None


Hit = tuple[int, int, Technique]


def hits(text: str) -> list[Hit]:
    """Where a name of a step stands, the longest first."""
    lower = text.lower()
    found = [(*match.span(), one) for one, names in patterns() for match in names.finditer(lower)]
    return sorted(found, key=lambda hit: hit[0] - hit[1])


def find_techniques(text: str, known: Collection[str] = ()) -> list[Hit]:
    """(start, end, step) of each step that the words name, in their order; of names that overlap the longest, of those
    that are alike (`checkpointing`) a step of the known ids, then the first of the table."""
    kept: list[Hit] = []
    for start, end, one in sorted(hits(text), key=lambda hit: (hit[0] - hit[1], hit[2].id not in known)):
        if not any(start < b and a < end for a, b, _ in kept):
            kept.append((start, end, one))
    return sorted(kept, key=lambda hit: hit[0])


def plainly_named(texts: Iterable[str]) -> frozenset[str]:
    """The ids of steps that the texts name by words that are no other's."""
    found: set[str] = set()
    for text in texts:
        alike = Counter((a, b) for a, b, _ in hits(text))
        found |= {one.id for a, b, one in find_techniques(text) if alike[a, b] == 1}
    return frozenset(found)


def find_framework(text: str) -> str:
    """The id of the framework that the words name, by the order of the table; empty where none is."""
    return next((name for name, _ in framework_spans(text)), "")


def framework_spans(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The frameworks that the words name, by the order of the table, and where."""
    lower = text.lower()
    known = technique_table().frameworks.items()
    return [(name, match.span()) for name, one in known for match in re.finditer("|".join(one.names), lower)]
