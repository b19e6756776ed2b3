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
MOST_TEXTS = 16


def literals(pattern: str) -> tuple[str, ...]:
    """Words in lower case, one of which is in every text that matches; empty where there is no such word."""
    best = _best(parser.parse(pattern))
    return tuple(sorted({word.lower()[:LONGEST] for word in best or ()}))


def _best(sequence: Any) -> tuple[str, ...] | None:
    """The most telling set of words of a sequence: its shortest word is the longest."""
    found = [words for words in _candidates(sequence) if min(map(len, words)) >= SHORTEST]
    return max(found, key=lambda words: min(LONGEST, *map(len, words)) / (1 + len(words) / 8), default=None)


def _candidates(sequence: Any) -> list[tuple[str, ...]]:
    """Sets of words, one of each set must be met: runs of plain characters, and what every branch of a choice holds."""
    found: list[tuple[str, ...]] = []
    runs = [""]
    for node in _flat(sequence):
        texts = _texts(node)
        if texts and len(runs) * len(texts) <= MOST_TEXTS:
            runs = [run + text for run in runs for text in texts]
            continue
        found, runs = [*found, tuple(runs)], [""]
        if inner := _inside(node):
            found.append(inner)
    return [words for words in [*found, tuple(runs)] if all(words)]


def _inside(node: tuple[Any, Any]) -> tuple[str, ...] | None:
    """What a choice or a repetition holds in any case."""
    kind, value = node
    if kind is kinds.BRANCH:
        branches = [_best(branch) for branch in value[1]]
        return tuple(word for words in branches for word in words or ()) if all(branches) else None
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[0] >= 1:
        return _best(value[2])
    return None


def _texts(node: tuple[Any, Any]) -> list[str]:
    """All the texts that a node can be, where they are few; else none."""
    kind, value = node
    if kind is kinds.LITERAL and value < 128:
        return [chr(value)]
    if kind is kinds.AT:
        return [""]
    if kind is kinds.IN and all(k is kinds.LITERAL and v < 128 for k, v in value):
        return [chr(v) for _, v in value]
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[:2] == (0, 1):
        inner = _whole(value[2])
        return ["", *inner] if inner else []
    if kind is kinds.BRANCH:
        branches = [_whole(branch) for branch in value[1]]
        return [text for texts in branches for text in texts] if all(branches) else []
    return []


def _whole(sequence: Any) -> list[str]:
    """All the texts that a sequence can be, where they are few."""
    texts = [""]
    for node in _flat(sequence):
        of_node = _texts(node)
        texts = [text + more for text in texts for more in of_node]
        if not texts or len(texts) > MOST_TEXTS:
            return []
    return texts


def _flat(sequence: Any) -> list[tuple[Any, Any]]:
    """The sequence with plain groups opened, so that a word is not cut at a group's border."""
    flat: list[tuple[Any, Any]] = []
    for kind, value in sequence:
        flat += _flat(value[3]) if kind is kinds.SUBPATTERN else [(kind, value)]
    return flat
