"""Reads what is appended to files, and no more: a log of gigabytes costs as much as one of kilobytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from knowledge.opening import open_plain

# Of a file that is there already so much of its end is read, for the step that it is at.
HISTORY = 64 * 1024
# In one look no more than this is taken in; a log that grows faster is read at its end.
MOST = 4 * 1024 * 1024
# Of so many lines in one look each is read; before them only those with a word of trouble, and of these so many a word.
MOST_LINES, MOST_FOUND = 400, 20
TROUBLE = (
    *(b"nan", b"error", b"exception", b"traceback", b"killed", b"abort", b"segmentation", b"out of memory", b"oom"),
    *(b"timeout", b"timed out", b"fatal"),
)


def worth_reading(data: bytes) -> list[bytes]:
    """Of the lines of one look the last ones, and those before them with a word of trouble, in their order.

    What comes before is searched as one block: a line of a log that prints 100,000 a minute must cost nothing. Lines
    of a run differ in their numbers only; without these few are left to search.
    """
    parts = data.rsplit(b"\n", MOST_LINES)
    if len(parts) <= MOST_LINES:
        return parts
    shapes = b"\n".join(set(parts[0].translate(None, b"0123456789").split(b"\n"))).lower()
    if not any(word in shapes for word in TROUBLE):
        return parts[1:]
    early = parts[0].lower()
    starts = sorted({start for word in TROUBLE for start in lines_with(word, early)})
    return [*(parts[0][start : end_of_line(early, start)] for start in starts), *parts[1:]]


def lines_with(word: bytes, text: bytes) -> list[int]:
    """Where the first lines with the word begin."""
    found: list[int] = []
    at = text.find(word)
    while at >= 0 and len(found) < MOST_FOUND:
        found.append(text.rfind(b"\n", 0, at) + 1)
        at = text.find(word, end_of_line(text, at))
    return found


def end_of_line(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return end if end >= 0 else len(text)


@dataclass(slots=True)
class FileTail:
    """One file that grows; `read` gives its new whole lines, of very many those that are worth it."""

    path: Path
    at: int = -1
    rest: bytes = b""

    def read(self) -> list[str]:
        """The new lines since the last call; none while the file is not there. A file that shrank is read anew."""
        try:
            size = self.path.stat().st_size
            if size < self.at:
                self.at, self.rest = 0, b""
            if self.at < 0:
                self.at = max(0, size - HISTORY)
            elif size - self.at > MOST:
                self.at, self.rest = size - MOST, b""
            if size == self.at:
                return []
            with open_plain(self.path) as stream:
                stream.seek(self.at)
                data = stream.read(size - self.at)
        except OSError:
            return []
        self.at += len(data)
        # A progress bar writes a line anew with carriage returns.
        whole, _, self.rest = (self.rest + data).replace(b"\r", b"\n").rpartition(b"\n")
        return [line.decode("utf-8", "replace") for line in worth_reading(whole) if line]
