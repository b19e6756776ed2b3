"""What the field's words mean, for people who meet them for the first time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from knowledge.cards import Address, Day
from knowledge.data_file import read_facts
from knowledge.strict import Checked, Facts, check_filled, matching

GLOSSARY = Path(__file__).parent / "glossary.yaml"
LETTER = r"(?:(?![\u3040-\u30ff\u3400-\u9fff])[\w-])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Term(Facts):
    """One word: how it is called (lower case, any language), what it means, and what sets it off from a neighbour.

    common: names that are everyday words too, which count only where the word itself is asked for; source, as_of: the
    page that bears a number in it, and when it was read.
    """

    id: Annotated[str, Checked(matching(r"^[a-z0-9-]+$"))]
    names: Annotated[tuple[str, ...], Checked(check_filled)]
    text: str
    common: tuple[str, ...] = ()
    apart: Mapping[str, str] = field(default_factory=dict)
    source: Address | None = None
    as_of: Day = ""


@cache
def glossary() -> Mapping[str, Term]:
    """All terms by id. Raises FactsError on a wrong file."""
    terms: tuple[Term, ...] = read_facts(GLOSSARY, tuple[Term, ...])
    return {term.id: term for term in terms}


@cache
def term_names() -> Mapping[str, str]:
    """Each name of each term, in lower case, and the term's id."""
    return {name: term.id for term in glossary().values() for name in (*term.names, *term.common)}


@cache
def common_names() -> frozenset[str]:
    """The names that are everyday words too."""
    return frozenset(name for term in glossary().values() for name in term.common)


@cache
def name_pattern() -> re.Pattern[str]:
    """All names, the longest first, as whole words; Chinese and Japanese write no blanks between theirs."""
    names = sorted(term_names(), key=len, reverse=True)
    return re.compile(rf"(?<!{LETTER})(?:{'|'.join(map(re.escape, names))})(?!{LETTER})")


def difference(one: str, other: str) -> str:
    """What sets two terms (ids) apart, in either order; empty where nobody wrote it down."""
    first, second = glossary()[one], glossary()[other]
    return first.apart.get(other) or second.apart.get(one) or ""
