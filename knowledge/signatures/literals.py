"""The fixed words without which a pattern cannot match: what the fast scan looks for.

One automaton over a few hundred short words runs at memory speed; one over the patterns themselves would not.
"""

from __future__ import annotations

# Python's own parser of patterns: private, yet stable, and the only one that needs no second syntax of ours.
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

SHORTEST = 4
LONGEST = 32


def literals(pattern: str) -> tuple[str, ...]:
    """Words in lower case, one of which is in every text that matches; empty where there is no such word."""
    best = _best(parser.parse(pattern))
    return tuple(sorted({word.lower()[:LONGEST] for word in best or ()}))


def _best(sequence: Any) -> tuple[str, ...] | None:
    """The most telling set of words of a sequence: its shortest word is the longest."""
    found = [words for words in _candidates(sequence) if min(map(len, words)) >= SHORTEST]
    return max(found, key=lambda words: min(LONGEST, *map(len, words)) / (1 + len(words) / 8), default=None)


def _candidates(sequence: Any) -> list[tuple[str, ...]]:
    """Sets of words, each of which must be met: runs of plain characters, and what every branch of a choice holds."""
    found: list[tuple[str, ...]] = []
    run = ""
    for kind, value in _flat(sequence):
        if kind is kinds.LITERAL and value < 128:
            run += chr(value)
            continue
        found, run = [*found, (run,)] if run else found, ""
        if kind is kinds.BRANCH:
            branches = [_best(branch) for branch in value[1]]
            if all(branches):
                found.append(tuple(word for words in branches if words for word in words))
        elif kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[0] >= 1 and (inner := _best(value[2])):
            found.append(inner)
    return [*found, (run,)] if run else found


def _flat(sequence: Any) -> list[tuple[Any, Any]]:
    """The sequence with plain groups opened, so that a word is not cut at a group's border."""
    flat: list[tuple[Any, Any]] = []
    for kind, value in sequence:
        flat += _flat(value[3]) if kind is kinds.SUBPATTERN else [(kind, value)]
    return flat
