"""Index folders that are built aside and swapped in by one rename, so that nobody ever reads a half-built one.

A generation is never changed once it is in place: a change makes the next one. It is found by the fingerprint of what
it was made from, so two processes with different data each find their own. One lock serves all who build or open.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from knowledge.errors import UnavailableError

FORMAT = 3
"""Raised when what lies in a generation changes, the tokens of words included: older ones are then built anew."""
MARKER = "made-by-maple-chat.json"
KEPT = 3
"""Generations left in place: the one in use, and those of processes with other data or an older program."""
LOCK_SECONDS = 120.0


class ForeignIndexError(UnavailableError):
    """The index folder may have been written by somebody else. Opening such an index can run code (CVE-2026-45829)."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished index: its folder, what it was made from, and the model of its vectors ("" : words alone)."""

    path: Path
    fingerprint: str
    model: str


@dataclass(frozen=True, slots=True)
class Generations:
    """All generations of one index, in one folder."""

    folder: Path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock. Raises UnavailableError when it cannot be had, ForeignIndexError on an unsafe folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            check_owner(self.folder)
            lock = FileLock(self.folder / "lock", timeout=LOCK_SECONDS)
            lock.acquire()
        except Timeout as error:
            raise UnavailableError(f"another process has held {self.folder} for {LOCK_SECONDS:.0f} s") from error
        except OSError as error:
            raise UnavailableError(f"{self.folder} cannot be written: {error.strerror or error}") from error
        try:
            yield
        finally:
            lock.release()

    def ready(self, fingerprint: str) -> Generation | None:
        """The finished generation of that fingerprint. The caller holds the lock."""
        return next((g for g in self.newest_first() if g.fingerprint == fingerprint), None)

    def latest(self, model: str) -> Generation | None:
        """The newest one with vectors of that model: what a new one can start from. The caller holds the lock."""
        return next((g for g in self.newest_first() if g.model == model), None)

    def newest_first(self) -> list[Generation]:
        """All finished ones."""
        folders = sorted(self.folder.glob("*/"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        return [found for path in folders if (found := read_marker(path))]

    def build(self, fingerprint: str, model: str, make: Callable[[Path], None]) -> Generation:
        """Make one in a folder aside, then rename it into place. The caller holds the lock.

        What a killed process left half-built is removed first. Errors of `make` pass through; nothing is swapped then.
        """
        for left in self.folder.glob(".building-*"):
            shutil.rmtree(left, ignore_errors=True)
        # A name of its own each time: Chroma remembers a path that failed for as long as the process lives.
        name = f"{fingerprint}-{secrets.token_hex(3)}"
        aside, place = self.folder / f".building-{name}", self.folder / name
        try:
            aside.mkdir(mode=0o700)
            make(aside)
            facts = {"format": FORMAT, "fingerprint": fingerprint, "model": model, "made": now()}
            (aside / MARKER).write_text(json.dumps(facts), encoding="utf-8")
            aside.rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        os.utime(place)
        for old in self.newest_first()[KEPT:]:
            shutil.rmtree(old.path, ignore_errors=True)
        return Generation(place, fingerprint, model)

    def set_aside(self, path: Path) -> Path:
        """Move a folder that cannot be used out of the way, for a person to look at; only the last one is kept."""
        for old in self.folder.glob(".set-aside-*"):
            shutil.rmtree(old, ignore_errors=True)
        target = self.folder / f".set-aside-{path.name}"
        if path.exists():
            path.rename(target)
        return target


def read_marker(path: Path) -> Generation | None:
    """The generation in that folder; None when it is none, not finished, or of another format."""
    try:
        facts = json.loads((path / MARKER).read_text(encoding="utf-8"))
        if facts["format"] != FORMAT or path.name.startswith("."):
            return None
        return Generation(path, str(facts["fingerprint"]), str(facts["model"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_owner(folder: Path) -> None:
    """Refuse a folder of somebody else, or one where others may write. Raises ForeignIndexError."""
    facts = folder.stat()
    if facts.st_uid != os.getuid():
        raise ForeignIndexError(f"{folder} belongs to another user; set XDG_DATA_HOME to a folder of your own")
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ForeignIndexError(f"others may write in {folder}; run: chmod go-w '{folder}'")


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
