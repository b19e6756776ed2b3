"""Annotated wishes, `KIND<TAB>utterance with [slot:words] marks`, as text and spans: what the tagger learns from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graph.reading.wishes.tokens import WishToken

MARK = re.compile(r"\[(?P<off>-?)(?P<slot>[a-z_]+)(?P<sign>[+~*^!]?):(?P<words>[^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class Mark:
    """One marked stretch: characters of the plain text, the slot, and the operation ("" sets, see `signs`)."""

    start: int
    end: int
    slot: str
    sign: str


@dataclass(frozen=True, slots=True)
class AnnotatedLine:
    """kind: do, ask or tell; text: without the marks."""

    kind: str
    text: str
    marks: tuple[Mark, ...]


def read_lines(path: Path) -> list[AnnotatedLine]:
    """The lines of one file. Raises ValueError on a line of another form."""
    return [read_line(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_line(line: str) -> AnnotatedLine:
    """One annotated line. Raises ValueError where it has no kind or a bracket stands alone."""
    kind, tab, marked = line.partition("\t")
    pieces, marks, at, length = list[str](), list[Mark](), 0, 0
    for match in MARK.finditer(marked):
        pieces += [marked[at : match.start()], match["words"]]
        start = length + match.start() - at
        length = start + len(match["words"])
        marks.append(Mark(start, length, match["slot"], match["off"] or match["sign"]))
        at = match.end()
    text = "".join([*pieces, marked[at:]])
    if not tab or kind not in ("do", "ask", "tell") or re.search(r"[\[\]]", text):
        raise ValueError(f"no annotated wish: {line[:80]}")
    return AnnotatedLine(kind, text, tuple(marks))


def labels_of(tokens: list[WishToken], marks: tuple[Mark, ...]) -> Iterator[str]:
    """O, B-slot or I-slot for each token; one that reaches into a mark belongs to it."""
    last: Mark | None = None
    for token in tokens:
        mark = next((m for m in marks if token.start < m.end and m.start < token.end), None)
        yield "O" if mark is None else f"{'I' if mark is last else 'B'}-{mark.slot}"
        last = mark
