"""Messages that stand in a log a million times: after some thousands, the scan steps over them.

In a block that is full of lines whose verdict is known, the words at which the scan stops there are left out of the
search, and only counted. The end of each block is always read in full, and so is what holds any other word.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from graph.debugging.events import Event
from knowledge.signatures.matcher import Matcher

# Known lines with one word in a block before it is left out there; fewer where an earlier block was full of it.
MANY, AGAIN = 1_500, 150
# What of a block's end is read in full, in bytes.
CLOSE = 192 << 10


class Flood:
    """Which words are left out in this block, and the events that their lines belong to."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._earlier: dict[bytes, Event | None] = {}
        self._here: Counter[bytes] = Counter()
        self._out: set[bytes] = set()
        self._counted: set[int] = set()

    def next_block(self) -> None:
        self._here.clear()
        self._out.clear()
        self._counted.clear()

    def rises(self, word: bytes, event: Event | None) -> bool:
        """Whether one more known line with this word is one too many in this block."""
        self._here[word] += 1
        if self._here[word] < (AGAIN if word in self._earlier else MANY):
            return False
        self._earlier[word] = event
        return True

    def settle(self, event: Event | None) -> None:
        """A line that was met one by one, though its event's lines are counted at once."""
        if event is not None and id(event) in self._counted:
            event.count -= 1

    def search(self, data: bytes, start: int, end: int) -> Any:
        """The search without the words in flood, whose lines between start and end are counted at once."""
        for word in self._earlier.keys() - self._out:
            event = self._earlier[word]
            if event is not None and id(event) not in self._counted:
                event.count += data.count(word, start, end)
                self._counted.add(id(event))
        self._out |= self._earlier.keys()
        return self._matcher.without(frozenset(self._out)).search
