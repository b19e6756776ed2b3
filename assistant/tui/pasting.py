"""Bracketed pastes cut out of what the terminal sends, before Textual reads it letter by letter.

Textual's parser takes about a microsecond and eight bytes a letter: 50 MB would keep it busy for a minute and half a
gigabyte. Here a long paste goes to a file as it comes. Bytes that are no UTF-8, which end Textual's reader, stay as
they are in the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import IO

START, END = b"\x1b[200~", b"\x1b[201~"
MOST_BYTES = 8_000
MOST_LINES = 60
TELL_EVERY = 1 << 20


@dataclass(frozen=True, slots=True)
class Growing:
    """A long paste is coming in: so many bytes so far."""

    size: int


@dataclass(frozen=True, slots=True)
class Spooled:
    """A long paste, whole, in a file of its own; problem: why it could not be kept."""

    path: Path
    lines: int
    problem: str = ""


class Pastes:
    """Feed it what was read; it gives back what is for the keyboard's reader, and what became of long pastes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.inside = False
        self.held = b""
        self.escaped = False
        self.spool = Spool(folder)

    def feed(self, data: bytes) -> Iterator[bytes | Growing | Spooled]:
        """A marker may be cut in two by the reads: what could be its beginning is held back."""
        data, self.held = self.held + data, b""
        if self.escaped and data.startswith(START[1:]):  # its escape went to the keyboard: an empty paste there
            yield START[1:] + END
            data, self.inside = data[len(START) - 1 :], True
        elif self.escaped and data and START[1:].startswith(data):
            self.held = data
            return
        self.escaped = False
        while data:
            mark = END if self.inside else START
            at = data.find(mark)
            if at >= 0:
                part, data = data[:at], data[at + len(mark) :]
            else:
                part, self.held = held_back(data, mark, 1 if self.inside else 2)
                data = b""
            if self.inside:
                yield from self.spool.add(part)
            elif part:
                self.escaped = at < 0 and part.endswith(START[:1])
                yield part
            if at >= 0:
                yield from self.turn_over()

    def turn_over(self) -> Iterator[bytes | Growing | Spooled]:
        """A marker was read: a paste begins or ends."""
        self.inside = not self.inside
        if not self.inside:
            yield self.spool.ended()
            self.spool = Spool(self.folder)

    def rest(self) -> bytes:
        """What was held back and turned out to be no marker, after a pause."""
        if self.inside:
            return b""
        held, self.held, self.escaped = self.held, b"", False
        return held


def held_back(data: bytes, mark: bytes, least: int) -> tuple[bytes, bytes]:
    """The data, and the end of it that may begin a marker. A lone escape is a key: it is not held before a paste."""
    for size in range(len(mark) - 1, least - 1, -1):
        if data.endswith(mark[:size]):
            return data[:-size], data[-size:]
    return data, b""


class Spool:
    """One paste: in memory while it is short, then in a file. Terminals send line ends as carriage returns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memory = bytearray()
        self.file: IO[bytes] | BufferedRandom | None = None
        self.size = self.lines = self.told = 0
        self.last = b""
        self.problem = ""
        self.returned = False

    def add(self, data: bytes) -> Iterator[Growing]:
        if not data:
            return
        text = self.unix(data)
        self.size += len(text)
        self.lines += text.count(b"\n")
        self.last = text[-1:] or self.last
        if self.file is None:
            self.memory += text
            if len(self.memory) > MOST_BYTES or self.lines >= MOST_LINES:
                self.to_file()
        else:
            self.write(text)
        if self.file and self.size - self.told >= TELL_EVERY:
            self.told = self.size
            yield Growing(self.size)

    def unix(self, data: bytes) -> bytes:
        """Line feeds only; a line end that two reads cut in half is one."""
        if self.returned and data.startswith(b"\n"):
            data = data[1:]
        self.returned = data.endswith(b"\r") or (self.returned and not data)
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def to_file(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.file = tempfile.NamedTemporaryFile(dir=self.folder, suffix=".log", delete=False)  # noqa: SIM115
        except OSError as error:
            self.problem = self.problem or (error.strerror or str(error))
            self.memory.clear()
            return
        self.write(bytes(self.memory))
        self.memory.clear()

    def write(self, text: bytes) -> None:
        """On a full disk the rest is dropped, and said to be."""
        try:
            if self.file and not self.problem:
                self.file.write(text)
        except OSError as error:
            self.problem = error.strerror or str(error)

    def ended(self) -> bytes | Spooled:
        """A short paste as the terminal sent it; a long one as a file."""
        if self.file is None and not self.problem:
            return START + bytes(self.memory) + END
        path = Path(self.file.name) if self.file else self.folder
        try:
            if self.file:
                self.file.close()
        except OSError as error:
            self.problem = self.problem or (error.strerror or str(error))
        return Spooled(path, self.lines + (self.last not in (b"\n", b"")), self.problem)
