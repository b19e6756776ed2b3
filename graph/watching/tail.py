"""Reads what is appended to files, and no more: a log of gigabytes costs as much as one of kilobytes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from knowledge.opening import open_plain

# Of a file that is there already so much of its end is read, for the step that it is at.
HISTORY = 64 * 1024
# In one look no more than this is taken in; a log that grows faster is read at its end.
MOST = 4 * 1024 * 1024


@dataclass(slots=True)
class FileTail:
    """One file that grows; `read` gives its whole new lines."""

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
        *lines, self.rest = (self.rest + data).replace(b"\r", b"\n").split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines if line]
