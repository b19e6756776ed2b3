"""What looks like a key and is none, whatever rule finds it: checksums, commits, ids, public keys.

The shapes stand in masking_public.yaml.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import re2

from knowledge.data_file import read_data
from knowledge.masking_scorer import TELLING, WORD, told_by

# Characters before a key that are looked through for what makes it public, and behind it.
BEFORE, BEHIND = 2000, 120
WORD_BEFORE, MOST_BEFORE = re.compile(r"\S*\s*\Z"), 40
# What gives a value; the shortest name that is no word of anybody's; what closes or marks a word.
GIVEN = re.compile(r"(?:[:=]|\b(?:is|was|ist|est|es|\u00e8|and|und|et|y|e)|(?<!\S)--?[\w-]+)\s*[\"'`]*\Z")
LEAST_NAME = 8
# What stands before a machine's name: `a user on Delta`.
ON_ONE = re.compile(r"(?i)\b(?:on|at|to|from|auf|sur|em|en|su|na)\s\Z")
SIGNS = "`'\"*()[],.;:!?"


AROUND, LONG = re.compile(r"\(\?<?[=!]"), re.compile(r"\{\d+,\d{4,}\}")


@cache
def patterns() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(shape["pattern"]) for shape in shapes())


@cache
def shapes() -> tuple[Mapping[str, Any], ...]:
    return tuple(read_data(Path(__file__).with_suffix(".yaml")))


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
                part = found.span("p") if "p" in pattern.groupindex and found["p"] is not None else found.span()
                if not (shapes()[number].get("named") and is_told(text, part[0])):
                    yield part


def is_told(text: str, start: int) -> bool:
    """Whether the word before a part of a text tells that it is a secret: `the password is`, `-p`, `token`."""
    words = WORD.findall(text, max(0, text.rfind("\n", 0, start) + 1, start - MOST_BEFORE), start)
    tells = [tell for tell in map(told_by, reversed(words)) if tell[:1] != "v"][:1]
    return any(tell[:1] in TELLING and tell[:1] != "W" for tell in tells if tell) or tells == ["-p"]


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


@cache
def site_names() -> frozenset[str]:
    """Machines, their queues, kinds of nodes and GPUs, in small letters: they look like users beside some words."""
    from knowledge.catalogue import catalogue  # a file a machine: read when something looks private

    clusters = catalogue().clusters.values()
    named = {name for one in clusters for name in (one.id, *one.names, *(queue.id for queue in one.queues))}
    nodes = {name for one in clusters for node in one.node_types for name in (node.id, *node.gpus.model.split())}
    # `MareNostrum` is said for MareNostrum 5, too.
    bare = {name.rstrip(" 0123456789") for one in clusters for name in one.names}
    return frozenset(name.lower() for name in (*named, *nodes, *bare))


def is_site_name(text: str, start: int, end: int) -> bool:
    """Whether a part of a text is a name of site_names that no ordinary word is, and not what a name or an option is
    given, nor said to be something (`password: delta-gpu`, `the key is gpuH200x8`)."""
    value = text[start:end].strip(SIGNS).lower()
    before = text[max(0, start - MOST_BEFORE) : start]
    telling = any(not one.isalpha() for one in value) or len(value) >= LEAST_NAME or ON_ONE.search(before)
    return bool(telling) and value in site_names() and not GIVEN.search(before)


# `My programme code is ENVI1187`: what jobs are charged to, in capitals and digits.
OF_PROJECT = re.compile(
    r"(?i)\b(?:program(?:me)?|project|allocation|account|budget|grant|group|projekt|projet|proyecto|progetto)[ -]?"
    r"(?:code|id|number|name|nummer|kennung|numéro|número)?\s*(?:is|was|:|=|ist|est|es|è)?\s*[\"'`]?$"
)
PROJECT_CODE = re.compile(r"[A-Z]{2,8}[-_]?\d{2,8}")


# `mon login est bsc841207`: a name and a number, and nothing else.
OF_LOGIN = re.compile(
    r"(?i)\b(?:login|log-in|user(?: ?name)?|utilisateur|identifiant|usuario|utente|benutzer(?:name)?|kennung)\s*"
    r"(?:(?:is|was|ist|est|es|è)\s|[:=])\s*[\"'`]?$"
)
LOGIN = re.compile(r"[a-z]{2,12}\d{1,7}")


def is_called(text: str, start: int, end: int, form: re.Pattern[str], told: re.Pattern[str]) -> bool:
    """Whether a part of a text has a form, and the words before it tell that it is what has that form."""
    has_form = form.fullmatch(text[start:end].strip(SIGNS)) is not None
    return has_form and told.search(text, max(0, start - MOST_BEFORE), start) is not None


def without_public(text: str, spans: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The spans but those of keys that lie in a public part, or are the name of a machine or queue. What is said to be
    a login is a person's name."""
    keys = sorted((start, end) for start, end, kind in spans if kind == "KEY")
    parts = sorted(public_parts(text, keys))
    reach = list(accumulate((end for _, end in parts), max))
    for start, end, kind in spans:
        at = bisect_right(parts, (start, 1 << 60)) - 1
        public = at >= 0 and reach[at] >= end
        if kind != "KEY" or not (
            public or is_site_name(text, start, end) or is_called(text, start, end, PROJECT_CODE, OF_PROJECT)
        ):
            yield start, end, "USER" if kind == "KEY" and is_called(text, start, end, LOGIN, OF_LOGIN) else kind


def with_word_before(text: str, start: int, end: int) -> str:
    """A part of a text with the word that stands before it, or what sticks to it."""
    before = WORD_BEFORE.search(text, max(0, start - MOST_BEFORE), start)
    return text[before.start() if before else start : end]
