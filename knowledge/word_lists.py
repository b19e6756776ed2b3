"""Lists of words that are written as one text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Its words as a set."""
    return frozenset(text.split())


def in_order(text: str) -> tuple[str, ...]:
    """Its words in the order in which they stand."""
    return tuple(text.split())
