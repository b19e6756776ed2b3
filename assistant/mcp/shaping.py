"""Answers fit for a context: in parts, with no hidden characters and no credentials."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from assistant.attachments import clean
from assistant.errors import InputError
from knowledge.masking import hide

Answer = TypeVar("Answer")
Item = TypeVar("Item")
# A part of a text that still leaves a context room for work: about 3,000 tokens.
MOST_TEXT = 12_000


def shaped(answer: Answer) -> Answer:
    """The answer with every text in it cleaned and its credentials hidden; numbers and types as they were."""
    return cast(Answer, _shaped(answer))


def _shaped(value: Any) -> Any:
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, tuple):
        return tuple(_shaped(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _shaped(getattr(value, one.name)) for one in fields(value)})
    return value


def safe(text: str) -> str:
    """Without control characters, characters nobody sees, and credentials."""
    return hide("".join(char for char in clean(text) if char.isascii() or unicodedata.category(char) != "Cf"))


def cut(text: str, rest: str) -> str:
    """A text that is not given in parts: cut at a line's end, with what was cut and where the rest is."""
    if len(text) <= MOST_TEXT:
        return text
    end = text.rfind("\n", 0, MOST_TEXT) + 1 or MOST_TEXT
    return f"{text[:end]}(cut here: {len(text) - end} more characters; {rest})"


def left_out(items: Sequence[Item], most: int, what: str, rest: str) -> tuple[str, ...]:
    """Said where a list is longer than what is given of it."""
    more = len(items) - most
    return (f"{more} more {what}{'s' if more > 1 else ''} not given here; {rest}",) if more > 0 else ()


def part_of_text(text: str, cursor: str) -> tuple[str, str]:
    """The part that begins at the cursor, cut at a line's end, and the cursor of the next."""
    start = place(cursor, len(text))
    if len(text) - start <= MOST_TEXT:
        return text[start:], ""
    end = text.rfind("\n", start, start + MOST_TEXT) + 1
    end = end if end > start else start + MOST_TEXT
    return text[start:end], str(end)


def part_of_list(items: Sequence[Item], cursor: str, most: int) -> tuple[tuple[Item, ...], str]:
    """At most so many from the cursor on, and the cursor of the next."""
    start = place(cursor, len(items))
    end = start + most
    return tuple(items[start:end]), str(end) if end < len(items) else ""


def place(cursor: str, length: int) -> int:
    """Where the cursor stands. Raises InputError on one that no answer gave."""
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10 and int(cursor) < length):
        raise InputError("that is no cursor of this answer; give `more` of the same call, or none to begin")
    return int(cursor)
