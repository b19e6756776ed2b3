"""SQLite in the data folder: one person, or one worker. One lock file a thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from assistant.errors import UnavailableError
from assistant.settings import Settings
from assistant.storage.database import BUSY, Talk
from assistant.storage.schema import set_up

if TYPE_CHECKING:
    from graph.checkpoints import Checkpoints

WAIT_S = 10.0


def open_from(settings: Settings) -> Sqlite:
    return Sqlite(settings.conversations, own_disk=settings.own_disk)


class Sqlite:
    """Each call opens the file for itself. Within the process they wait for each other here: SQLite only polls."""

    shared = False

    def __init__(self, path: Path, *, own_disk: bool = False) -> None:
        """own_disk: write ahead; a kill loses nothing, a power cut perhaps the last turns."""
        self.path = path
        self.own_disk = own_disk
        self.one_by_one = threading.RLock()
        self._set_up()

    def _set_up(self) -> None:
        with self._open() as database:
            if self.own_disk:
                database.execute("PRAGMA journal_mode=WAL")
            set_up(database)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with self.one_by_one:
                database = sqlite3.connect(self.path, timeout=WAIT_S)
                if self.own_disk:
                    database.execute("PRAGMA synchronous=NORMAL")
                try:
                    with database:
                        yield database
                finally:
                    database.close()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> UnavailableError:
        return UnavailableError(f"{self.path} cannot be used ({error}); set MAPLE_CHAT_DATA to another folder")

    @contextmanager
    def transaction(self) -> Iterator[Talk]:
        if not self.path.exists():
            self._set_up()
        with self._open() as database:
            yield database

    @contextmanager
    def alone(self, thread: str, wait_s: float) -> Iterator[Sqlite]:
        lock = FileLock(self.path.parent / f"{thread}.lock", timeout=wait_s)
        try:
            lock.acquire()
        except Timeout as error:
            raise UnavailableError(BUSY.format(thread)) from error
        except (NotImplementedError, OSError):
            # Some parallel file systems are mounted without locks: better to answer than to refuse.
            yield self
            return
        try:
            yield self
        finally:
            lock.release()

    def attempt(self) -> AbstractContextManager[None]:
        return nullcontext()

    @cached_property
    def _saver(self) -> Checkpoints:
        from graph.checkpoints import Checkpoints

        return Checkpoints(self.path, self.one_by_one, own_disk=self.own_disk)

    def saver(self) -> Checkpoints:
        with self.one_by_one:
            return self._saver

    def trouble(self, error: Exception) -> UnavailableError | None:
        return self._unusable(error) if isinstance(error, sqlite3.Error) else None
