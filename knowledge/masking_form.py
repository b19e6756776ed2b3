"""A text in the form in which its secrets can be read: without what stands between their characters.

Colours, invisible characters, escaped quotes, percent signs and the blanks of a recognised picture hide a key from
rules that read a text as it stands. The plain form keeps where each of its characters stood in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

import re2

# What is left out: terminal sequences, invisible characters, the backslash of an escaped quote or line end.
HIDDEN = re.compile(
    r"(?:\x1b|\\+(?:033|x1b|e))\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufe00-\ufe0f]|\\+(?=[\"'\n])"
)
# Encoded characters: %22, \\u0022, \\x22, &quot;, &#34;.
ENCODED = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\+u00([2-7][0-9A-Fa-f])|\\+x([2-7][0-9A-Fa-f])|&#x([2-7][0-9A-Fa-f]);"
    r"|(?<=['\" \d])\\(0?[01][0-7]{2})(?=[\\'\"])"
)
ENTITY = re.compile(r"&(?:quot|amp|apos|lt|gt|#\d{2,3});")
FULL_WIDTH = re.compile(r"[\uff01-\uff5e]")
# Each mark begins with one of these; a class of characters is looked for ten times as fast as the marks themselves.
SIGNS = re.compile(
    r"[\x1b%\\\\&\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufe00-\ufe0f\uff01-\uff5e]"
)
MARKS = re.compile(rf"{ENCODED.pattern}|{ENTITY.pattern}|{HIDDEN.pattern}|{FULL_WIDTH.pattern}")
BLANK = re.compile(" ")
# What a picture's recognition or a maker parts by blanks: characters, or groups of four that are no words.
SPACED = re.compile(
    r"(?<!\S)(?:\S(?: \S){5,}|(?=[\d ]*[A-Za-z])(?:[\da-f]{4}(?: [\da-f]{4}){3,}|[\dA-Z]{4}(?: [\dA-Z]{4}){3,}))(?!\S)"
)
LOOKS_SPACED = re2.compile(r"(?:^|\s)(?:\S(?: \S){5}|[\da-f]{4}(?: [\da-f]{4}){3}|[\dA-Z]{4}(?: [\dA-Z]{4}){3})")
# The value of a query's field, up to an encoded sign in it, and how far back it is looked for.
OF_QUERY, QUERY = re.compile(r"=[^\s=&]*$"), 80
# Lines behind a mark that are read with it: a line that tells of a secret tells of so many.
BEHIND = 3
Replaced = Iterable[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class PlainForm:
    """The text without disguise; from each place `at` in it on, it runs alike with the original from its `of` on."""

    text: str
    at: tuple[int, ...]
    of: tuple[int, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The part of the original that became text[start:end], which is not empty."""
        first, last = bisect_right(self.at, start) - 1, bisect_right(self.at, end - 1) - 1
        alone = self.at[last + 1] - self.at[last] == 1  # it may have been written with several characters
        stop = self.of[last + 1] if alone else self.of[last] + end - self.at[last]
        return self.of[first] + start - self.at[first], stop


def marks_of(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """All that is in the way, in order."""
    last = start
    for sign in SIGNS.finditer(text, start, len(text) if end is None else end):
        if sign.start() >= last and (mark := MARKS.match(text, sign.start())):
            last = mark.end()
            yield mark


def plain_forms(text: str) -> Iterator[tuple[int, int, PlainForm]]:
    """The disguised passages of a text, each with where it begins and how far the plain form stands for it: the lines
    with marks, and a few around them; not at all for what blanks part."""
    begin = end = -1
    for mark in marks_of(text):
        if mark.start() < end:
            continue
        if end >= 0:
            yield begin, end, plain(text[begin:end])
        begin = max(end + 1, text.rfind("\n", 0, max(0, text.rfind("\n", 0, mark.start()))) + 1)
        end = reached(text, mark.end())
    if end >= 0:
        yield begin, end, plain(text[begin:end])
    yield from ((at, at, plain(part, blanks(part))) for at, part in spaced(text))


def spaced(text: str) -> Iterator[tuple[int, str]]:
    """Each block of lines in which blanks part what belongs together, with where it begins."""
    begin = end = -1
    for run in SPACED.finditer(text) if LOOKS_SPACED.search(text.encode("utf-8", "replace")) else ():
        if run.start() > end >= 0:
            yield begin, text[begin:end]
            end = -1
        begin = begin if end >= 0 else text.rfind("\n", 0, run.start()) + 1
        end = line_end(text, run.end())
    if end >= 0:
        yield begin, text[begin:end]


def blanks(text: str) -> Replaced:
    """The blanks between what belongs together; they stand for nothing."""
    return ((one.start(), one.end(), "") for run in SPACED.finditer(text) for one in BLANK.finditer(text, *run.span()))


def reached(text: str, start: int) -> int:
    """Where a passage ends: some lines behind the last mark that has no other on them."""
    while True:
        end = line_end(text, start)
        for _ in range(BEHIND):
            end = line_end(text, end + 1)
        marks = [mark.end() for mark in marks_of(text, start, end)]
        if not marks:
            return end
        start = marks[-1]


def line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def plain_form(text: str) -> PlainForm | None:
    """The whole text without disguise, or None: it has none."""
    return plain(text) if next(marks_of(text), None) else None


def plain(text: str, without: Replaced | None = None) -> PlainForm:
    """A text without what is in the way, or without what is told."""
    parts: list[str] = []
    at: list[int] = []
    of: list[int] = []
    last = size = 0

    def piece(put: str, begin: int) -> None:
        nonlocal size
        if put:
            at.append(size)
            of.append(begin)
            parts.append(put)
            size += len(put)

    for start, end, put in replaced(text) if without is None else without:
        piece(text[last:start], last)
        piece(put, start)
        last = end
    piece(text[last:], last)
    at.append(size)
    of.append(len(text))
    return PlainForm("".join(parts), tuple(at), tuple(of))


def replaced(text: str) -> Iterator[tuple[int, int, str]]:
    """What is in the way, and what it stands for (nothing, or a character)."""
    for found in marks_of(text):
        shown = found[0]
        code = found[1] or found[2] or found[3] or found[4]
        if found[5]:
            yield found.start(), found.end(), chr(int(found[5], 8))
        elif code == "26" and shown[0] == "%" and OF_QUERY.search(text, max(0, found.start() - QUERY), found.start()):
            yield found.start(), found.end(), "+"  # within a value: what parts the values stands there as it is
        elif code:
            yield found.start(), found.end(), chr(int(code, 16))
        elif shown[0] == "&":
            yield found.start(), found.end(), unescape(shown)
        elif FULL_WIDTH.fullmatch(shown):
            yield found.start(), found.end(), chr(ord(shown) - 0xFEE0)
        else:
            yield found.start(), found.end(), ""
