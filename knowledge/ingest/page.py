"""What every reader makes of a file: a page, as headings and blocks in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from knowledge.errors import InputError

BlockKind = Literal["heading", "text", "code", "table"]
SPACES = re.compile(r"[ \t\u00a0]+")
# Control characters (a terminal obeys them), and what turns or hides the text around it. Line breaks and tabs stay.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
MOST_TITLE, MOST_DATE = 300, 100


class UnreadableError(InputError):
    """One file or page cannot be read; the others can."""


class NoTextError(UnreadableError):
    """There is nothing to read in it: a table of contents, an empty page."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list item, a table (one row a line, cells between |), a code block, or a heading of a level."""

    kind: BlockKind
    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page, read. title and date (ISO) are empty where the page itself does not say them."""

    title: str
    blocks: tuple[Block, ...]
    date: str = ""

    def titled(self, fallback: str) -> Page:
        """The page with a title: its own, its first heading, or the one given."""
        first = next((block.text for block in self.blocks if block.kind == "heading"), "")
        return replace(self, title=(one_line(self.title) or first or one_line(fallback))[:MOST_TITLE])


def visible(text: str) -> str:
    """The text without what a terminal would obey or a reader would not see."""
    return UNSEEN.sub("", text)


def one_line(text: str) -> str:
    """The text without line breaks, runs of blanks, and what nobody sees."""
    return SPACES.sub(" ", visible(text.replace("\n", " "))).strip()


def row(cells: list[str]) -> str:
    """A table's row as text."""
    return " | ".join(one_line(cell) for cell in cells).strip()


def table(rows: list[list[str]]) -> Block | None:
    """A table as text; None for one without a word."""
    lines = [row(cells) for cells in rows if any(cell.strip() for cell in cells)]
    return Block("table", "\n".join(lines)) if lines else None


def code(text: str) -> Block:
    return Block("code", visible(text.expandtabs(4)).strip("\n").rstrip())


def scalar(value: object) -> str:
    """A fact that is a word, a number or a day; of a list nothing, however deep it repeats itself."""
    return str(value) if isinstance(value, str | int | float | date) else ""


def iso_date(text: str) -> str:
    """The day in a date as people and servers write it (ISO, or day month year); empty where there is none."""
    text = text[:MOST_DATE]
    found = re.search(r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)", text)
    if found:
        return found[0]
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (TypeError, ValueError, IndexError):
        return ""
