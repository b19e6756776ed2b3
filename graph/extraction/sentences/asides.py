"""Pieces of a message that tell of another run: somebody else's, an earlier one, one that may come later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from graph.extraction.sentences.line import Line
from graph.extraction.sentences.patterns import pattern


@dataclass(frozen=True, slots=True)
class Aside:
    """From where to where in the row of meanings; others: it tells what somebody else runs (not: has).

    elsewhere: even alone it says nothing of a request that stands: it was so, or may be so one day.
    """

    start: int
    end: int
    others: bool = False
    elsewhere: bool = False


def _aside(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "asides", name)


def aside(line: Line, token: int) -> Aside | None:
    """The piece about another run that a token stands in. What is said nowhere else may still count."""
    return next((a for a in asides(line.canon) if a.start <= line.starts[token] < a.end), None)


@lru_cache(maxsize=64)
def asides(canon: str) -> tuple[Aside, ...]:
    """The pieces in a row of meanings; other people's first."""
    return (*_sentences(canon, "others"), *_sentences(canon, "condition"), *_clauses(canon))


def _sentences(canon: str, name: str) -> Iterator[Aside]:
    """`My friend uses 16 nodes, 8 GPUs each.`: over commas, up to the next sentence or a word that turns back."""
    for mark in _aside(name).finditer(canon):
        start = mark.start() if name == "others" else _begin(canon, mark.start())
        end = _stop(canon, mark.end(), f"{name}_end")
        runs = name == "others" and mark["does"] is not None
        yield Aside(start, end, runs, runs or (name == "condition" and not _is_wanted(canon[start:end])))


def _clauses(canon: str) -> Iterator[Aside]:
    """`Last week 2 nodes, ...`: as far as the clause goes; behind what it is said of, up to the next "and"."""
    for mark in _aside("clause").finditer(canon):
        start = _begin(canon, mark.start())
        behind = re.search(r"<\w>|\d", canon[start : mark.start()])
        end = _stop(canon, mark.end(), "behind_end" if behind else "clause_end")
        was = _aside("was").search(canon[start:end]) is not None
        yield Aside(start, end, elsewhere=was if mark["when"] != "later" else not _is_wanted(canon[start:end]))


def _is_wanted(piece: str) -> bool:
    return _aside("wanted").search(piece) is not None


def _begin(canon: str, at: int) -> int:
    """The clause around this place begins behind the last stop or joining word."""
    ends = [m.end() for m in _aside("clause_begin").finditer(canon, 0, at + 1)]
    return ends[-1] - 1 if ends else 0


def _stop(canon: str, at: int, name: str) -> int:
    found = _aside(name).search(canon, at - 1)
    return found.start() + 1 if found else len(canon)
