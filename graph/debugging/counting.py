"""Logs that tell how much of them was read, and that end early where the person does not want to wait."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from graph.debugging.log import BLOCK, LogSource, from_paths
from knowledge.opening import open_plain
from knowledge.types import Working

PAUSE_S = 0.1
Tell = Callable[[Working], None]


class Counted(io.RawIOBase):
    """A file, opened at the first read (a job may have a log a rank) and closed at the last."""

    def __init__(self, path: Path, tell: Tell, stopped: Callable[[], bool]) -> None:
        self.path, self.report, self.stopped = path, tell, stopped
        self.file: IO[bytes] | None = None
        self.done = self.total = 0
        self.said = time.monotonic()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        """How many bytes were read; 0 at the end, and where the person stopped it."""
        if self.file is None:
            self.file = open_plain(self.path, buffered=False)
            self.total = self.path.stat().st_size
        count = 0 if self.file.closed or self.stopped() else self.file.readinto(buffer) or 0  # type: ignore[attr-defined]
        self.done += count
        if time.monotonic() - self.said > PAUSE_S:
            self.said = time.monotonic()
            self.report(Working(f"reading {self.path.name}", self.done, self.total))
        if not count:
            self.file.close()
        return count


def counted(paths: Iterable[Path], tell: Tell, stopped: Callable[[], bool] = lambda: False) -> list[LogSource]:
    """The logs of files and folders, read with progress. Raises InputError where there is none."""
    sources = from_paths(paths)
    return [
        LogSource(one.name, stream=io.BufferedReader(Counted(one.path, tell, stopped), BLOCK)) if one.path else one
        for one in sources
    ]
