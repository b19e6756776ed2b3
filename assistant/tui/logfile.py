"""A log of any size, line by line, without reading it whole.

The index holds, for every BLOCK of bytes, how many lines began before it: 16,000 numbers for a gigabyte. A line is
found by one search in the index and one read. An endless line is cut where it is shown.
"""

from __future__ import annotations

import contextlib
import gzip
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path

from knowledge.opening import open_plain

BLOCK = 64 << 10
LONGEST = 2_000
TELL_EVERY = 1 << 8
GZIP = b"\x1f\x8b"


class LogFile:
    """Reads windows of lines (from 1). `lines` counts what is indexed so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = open_plain(path)
        self.size = path.stat().st_size
        self.before = array("Q", [0])
        self.indexed = 0
        self.ends_open = True

    def close(self) -> None:
        self.file.close()

    @property
    def lines(self) -> int:
        """How many lines the indexed part has."""
        return self.before[-1] + (1 if self.ends_open and self.indexed else 0)

    def index(self, stopped: Callable[[], bool] = lambda: False) -> Iterator[tuple[int, int]]:
        """Count the line feeds; bytes done of total, now and then. May run in a thread while others read."""
        with open_plain(self.path) as file:
            while (block := file.read(BLOCK)) and not stopped():
                self.before.append(self.before[-1] + block.count(b"\n"))
                self.indexed += len(block)
                self.ends_open = not block.endswith(b"\n")
                if len(self.before) % TELL_EVERY == 2:
                    yield self.indexed, self.size
        yield self.indexed, self.size

    def offset(self, line: int) -> int:
        """Where a line begins; the end of the indexed part for one that is beyond it."""
        feeds = line - 1
        if feeds <= 0:
            return 0
        place = bisect_right(self.before, feeds - 1) - 1
        if place >= len(self.before) - 1:
            return self.indexed
        left = feeds - self.before[place]
        self.file.seek(place * BLOCK)
        block, at = self.file.read(BLOCK), -1
        for _ in range(left):
            at = block.find(b"\n", at + 1)
        return place * BLOCK + at + 1

    def window(self, first: int, count: int) -> list[bytes]:
        """At most that many lines from there on, each cut at LONGEST bytes, without its line end."""
        found: list[bytes] = []
        at = self.offset(first)
        while len(found) < count and at < self.indexed:
            self.file.seek(at)
            block = self.file.read(BLOCK)
            *whole, rest = block.split(b"\n")
            for text in whole[: count - len(found)]:
                found.append(text[:LONGEST])
                at += len(text) + 1
            if len(found) < count and (not whole or at + len(rest) >= self.indexed):
                if rest:
                    found.append(rest[:LONGEST])
                at = self.offset(first + len(found))
        return found

    def line(self, number: int) -> bytes:
        return next(iter(self.window(number, 1)), b"")


def unpacked(path: Path, folder: Path) -> Path:
    """The file itself; what gzip holds in it is written out first, beside the pasted logs. Raises OSError."""
    with open_plain(path) as file:
        if file.read(2) != GZIP:
            return path
    target = folder / f"{path.stem}.unpacked"
    cut_off = contextlib.suppress(EOFError, zlib.error)  # such a one is shown as far as it goes
    with open_plain(path) as file, gzip.GzipFile(fileobj=file) as packed, target.open("wb") as plain, cut_off:
        while block := packed.read1(1 << 20):
            plain.write(block)
    return target
