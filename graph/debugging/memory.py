"""Verdicts on lines that were seen before, so that what repeats is judged once.

Three ways to be the same: the same bytes; the same but for longer numbers, after SURE of them; and, in a log of
thousands of different lines, the same start and the same fixed words, after SURE of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.debugging.events import Event
from knowledge.signatures.matcher import Matcher

MOST_REMEMBERED = 50_000
LONGEST_REMEMBERED = 400
MANY_JUDGED = 2_000
SURE = 64
START = 40
# Numbers of one digit may be codes, and on such lines all may be.
NUMBERS = re.compile(rb"\d\d+")
CODES = re.compile(rb"(?i)code|status|signal|exit|xid|rank \d+ ")


@dataclass(frozen=True, slots=True)
class Key:
    """A line as it is remembered: whole, without its longer numbers, and by its start and fixed words."""

    raw: bytes
    shape: bytes
    alike: tuple[bytes, tuple[int, ...]] | None


class LineMemory:
    """The verdicts on one log's lines. None: the line says nothing."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._lines: dict[bytes, Event | None] = {}
        self._shapes: dict[bytes, tuple[int, Event | None]] = {}
        self._alike: dict[tuple[bytes, tuple[int, ...]], tuple[int, Event | None]] = {}
        self._asked = 0

    def key(self, raw: bytes, plain: bool) -> Key:
        """plain: whether numbers may be left out."""
        shape = NUMBERS.sub(b"0", raw) if plain and not CODES.search(raw) else b""
        self._asked += 1
        alike = (shape[:START], self._matcher.words(raw)) if shape and self._asked > MANY_JUDGED else None
        return Key(raw, shape, alike)

    def known(self, key: Key, run: int) -> tuple[bool, Event | None]:
        """Whether this line, or many like it, was judged before in this run, and the event that it is one more of."""
        if key.raw in self._lines:
            times, event = SURE, self._lines[key.raw]
        else:
            times, event = self._shapes.get(key.shape, (0, None))
            if times < SURE and key.alike is not None:
                times, event = self._alike.get(key.alike, (0, None))
        known = times >= SURE and (event is None or event.run == run)
        return known, event if known else None

    def keep(self, key: Key, event: Event | None) -> None:
        """Remember a verdict. The start of a run is judged each time."""
        if len(key.raw) > LONGEST_REMEMBERED or (event is not None and event.signature.kind == "start"):
            return
        if len(self._lines) < MOST_REMEMBERED:
            self._lines[key.raw] = event
        if key.shape and (key.shape in self._shapes or len(self._shapes) < MOST_REMEMBERED):
            times, like = self._shapes.get(key.shape, (0, event))
            self._shapes[key.shape] = (times + 1, event) if event is like else (0, event)
        if key.alike is not None and (key.alike in self._alike or len(self._alike) < MOST_REMEMBERED):
            times, like = self._alike.get(key.alike, (0, event))
            same = (event and event.signature) is (like and like.signature)
            self._alike[key.alike] = (times + 1, like) if same else (0, event)
