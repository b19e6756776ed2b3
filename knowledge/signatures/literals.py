"""The fixed words without which a pattern cannot match: what the fast scan looks for.

One automaton over a few hundred short words runs at memory speed; one over the patterns themselves would not.
"""

from __future__ import annotations

import re

# Python's own parser of patterns: private, yet stable, and the only one that needs no second syntax of ours.
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

SHORTEST = 3
LONGEST = 32
MOST_TEXTS = 64
ANY_CASE = "(?i)"
# Words of every line of training output: a scan that stopped at them would be slow.
ORDINARY_WORDS = """
loss losses grad gradient norm token tokens step steps epoch iter iteration time rank info inf warn warning error train
training model valid batch value values line file data memory index found node learning lr eval param params weight
weights output input ring all ms the and for not with from has have
"""
# Nor do ordinary lines shout: `ERROR: text`, `[ERROR] text`.
SHOUTED = re.compile(r"\bERROR\b|\bFATAL\b|\bCRITICAL\b")
COMMON = frozenset(ORDINARY_WORDS.split()) | {"nccl info", "loss scale"}


def literals(pattern: str, common: bool = False) -> tuple[str, ...]:
    """Words, one of which is in every text that matches; empty where there are none. `(?i)` before a word: any case.

    common: words that stand in ordinary lines will do, since nobody searches for them.
    """
    any_case = "(?i" in pattern
    words = {word[:LONGEST] for word in _best(parser.parse(pattern), common) or ()}
    return tuple(sorted({ANY_CASE + word.lower() for word in words} if any_case else words))


def _best(sequence: Any, common: bool) -> tuple[str, ...] | None:
    """The most telling set of words of a sequence: its shortest word is the longest."""
    found = [words for words in _candidates(sequence, common) if all(_telling(word, common) for word in words)]
    return max(found, key=lambda words: min(LONGEST, *map(len, words)) / (1 + len(words) / 8), default=None)


def _telling(word: str, common: bool) -> bool:
    bare = word.strip(" :=.,[](){}'\"").lower()
    return (
        len(word.strip()) >= SHORTEST
        and bare != ""
        and (common or bare not in COMMON or "rror: " in word or word == "Error" or SHOUTED.search(word) is not None)
    )


def _candidates(sequence: Any, common: bool) -> list[tuple[str, ...]]:
    """Sets of words, one of each set must be met: runs of plain characters, and what every branch of a choice holds."""
    found: list[tuple[str, ...]] = []
    runs = [""]
    for node in _flat(sequence):
        texts = _texts(node)
        if texts and len(runs) * len(texts) <= MOST_TEXTS:
            runs = [run + text for run in runs for text in texts]
            continue
        found, runs = [*found, tuple(runs)], [""]
        if inner := _inside(node, common):
            found.append(inner)
    return [words for words in [*found, tuple(runs)] if all(words)]


def _inside(node: tuple[Any, Any], common: bool) -> tuple[str, ...] | None:
    """What a choice or a repetition holds in any case."""
    kind, value = node
    if kind is kinds.BRANCH:
        branches = [_best(branch, common) for branch in value[1]]
        return tuple(word for words in branches for word in words or ()) if all(branches) else None
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT) and value[0] >= 1:
        return _best(value[2], common)
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
