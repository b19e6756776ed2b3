"""What looks like a key and is none, whatever rule finds it: checksums, commits, ids, public keys.

The shapes stand in masking_public.yaml.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

import re2

from knowledge.data_file import read_data

# Characters before a key that are looked through for what makes it public, and behind it.
BEFORE, BEHIND = 2000, 120


AROUND, LONG = re.compile(r"\(\?<?[=!]"), re.compile(r"\{\d+,\d{4,}\}")


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape["pattern"]) for shape in read_data(Path(__file__).with_suffix(".yaml")))


@cache
def together() -> re2.Filter:
    """All patterns in one, each without what must stand or not stand around it: RE2 tells which are worth a look."""
    filtered = re2.Filter()
    for pattern in patterns():
        filtered.Add(loosened(pattern.pattern))
    filtered.Compile()
    return filtered


def loosened(pattern: str) -> str:
    """A pattern without its conditions on what stands before or behind a place; it matches wherever the whole does."""
    while around := AROUND.search(pattern):
        depth, at = 1, around.end()
        while depth:
            escaped, grouped = pattern[at] == "\\", pattern[at] == "["
            depth += (pattern[at] == "(") - (pattern[at] == ")")
            at = pattern.index("]", at + 2) + 1 if grouped else at + 1 + escaped
        pattern = pattern[: around.start()] + pattern[at:]
    return LONG.sub("*", pattern)


def public_parts(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where around these spans, which are in order, what is public stands; each character is looked at once."""
    for start, end in joined((max(0, one - BEFORE), other + BEHIND) for one, other in spans):
        for number in together().Match(text[start:end].encode("utf-8", "replace")) or ():
            pattern = patterns()[number]
            for found in pattern.finditer(text, start, end):
                yield found.span("p") if "p" in pattern.groupindex and found["p"] is not None else found.span()


def joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans, those that overlap as one."""
    first = last = -1
    for start, end in spans:
        if start > last >= 0:
            yield first, last
            first = start
        first, last = (start if first < 0 else first), max(last, end)
    if first >= 0:
        yield first, last


def without_public(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The spans but those of keys that lie in a public part."""
    keys = sorted((start, end) for start, end, kind in spans if kind == "KEY")
    parts = sorted(public_parts(text, keys))
    reach = list(accumulate((end for _, end in parts), max))
    for start, end, kind in spans:
        at = bisect_right(parts, (start, 1 << 60)) - 1
        if kind != "KEY" or at < 0 or reach[at] < end:
            yield start, end, kind
