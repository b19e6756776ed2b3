"""The streams that commands print to: whatever is printed, from whatever source, leaves through `printable`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from knowledge.printable import printable

BOLD, NORMAL = "\x1b[1m", "\x1b[0m"
OVERWRITE = "\r\x1b[K"
"""The only codes of our own: bold, and a line of progress that is written over."""
OURS = re.compile("|".join(map(re.escape, (BOLD, NORMAL))))
AS_THEY_ARE = re.compile("|".join((OURS.pattern, "\r\n", "[\ud800-\udfff]+")))
"""In a file or a pipe, also the line ends and the bytes of a script that is handed over."""


class PrintableStream:
    """A text stream that nothing which steers a terminal gets through. Everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        kept = OURS if self.stream.isatty() else AS_THEY_ARE
        parts, place = [], 0
        for found in kept.finditer(text):
            parts += [printable(text[place : found.start()]), found[0]]
            place = found.end()
        self.stream.write("".join([*parts, printable(text[place:])]))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __iter__(self) -> Iterator[str]:
        return iter(self.stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def printable_streams() -> Iterator[None]:
    """While this holds, all that is printed is printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, PrintableStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def overwrite(text: str) -> None:
    """A line of progress on stderr, in place of the one before."""
    stream = sys.stderr
    raw = stream.stream if isinstance(stream, PrintableStream) else stream
    raw.write(OVERWRITE + printable(text))
    raw.flush()
