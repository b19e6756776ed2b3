"""Where one purpose of a message ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A stop, a question mark or a line's end; "and" or "also" only where a question or an order begins behind it.
STOP = re.compile(
    # Blanks are taken from their first one on: a long row of them is looked at once.
    r"(?<!\s)\s+(?=\(?[1-9]\)\s)|(?<=[!?。\uff1f\uff01])\s*|(?<=[^\d\s][.;])\s+|(?<!\s)\s*\n\s*"
    r"|(?:,\s*|(?<![\s,])\s+)(?=(?:(?:and|und|et|y|e|also|but|then|plus|oh|ah)(?:[ ,]+(?:by the way|btw|also|then))?"
    r"|by the way|btw|\u00fcbrigens|au fait)[ ,]+"
    r"(?:why|how|what|where|when|which|who|does|do|can|is|are|will|tell|explain|wie|was|warum|wo|pourquoi|comment|où|quel"
    r"|por qué|cómo|qué|dónde|perché|come|dove|quanto)\b)"
    r"|,\s+(?=(?:what|why|how|where|when|which|who)\b(?:'s| is| are| does| do| did| was| will| long| many| much"
    r"| would)\b[^.!?\n]*\?)",
    re.I,
)
MOST_CLAUSES = 80
SHORTEST = 2  # characters of a clause that stands by itself


def split_clauses(text: str) -> list[tuple[int, int]]:
    """Start and end of each clause, in characters; the whole text where nothing parts it."""
    spans = [_trimmed(text, a, b) for a, b in _pieces(text)]
    kept = [(a, b) for a, b in spans if b - a >= SHORTEST]
    if len(kept) > MOST_CLAUSES:  # each costs some milliseconds; what is so much in pieces is no request
        kept[MOST_CLAUSES - 1 :] = [(kept[MOST_CLAUSES - 1][0], kept[-1][1])]
    return kept or [(0, len(text))]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for stop in STOP.finditer(text):
        if stop.start() > at:
            yield at, stop.start()
        at = max(at, stop.end())
    yield at, len(text)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
