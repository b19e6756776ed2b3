"""SQLite in the data folder: one person, or one worker. One lock file a thread."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from assistant.errors import UnavailableError
from assistant.settings import Settings
from assistant.storage.database import BUSY, Transaction
from assistant.storage.schema import set_up
from knowledge.errors import database_words
from knowledge.file_locks import has_locks

if TYPE_CHECKING:
    from graph.checkpoints import Checkpoints

WAIT_S, AGAIN_S = 10.0, 0.05


def open_from(settings: Settings) -> Sqlite:
    return Sqlite(settings.conversations, own_disk=settings.own_disk)


class Sqlite:
    """One connection, kept open: opening costs 0.3 ms. Its users wait for each other here, since SQLite only polls."""

    shared = False

    def __init__(self, path: Path, *, own_disk: bool = False) -> None:
        """own_disk: write ahead; a kill loses nothing, a power cut perhaps the last turns."""
        self.path = path
        self.where = f"SQLite in {path}"
        self.own_disk = own_disk
        self.one_by_one = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._keeps: Checkpoints | None = None
        with self.transaction():
            pass

    def _connected(self) -> sqlite3.Connection:
        """The connection; a new one, and a new saver, where the file was taken away."""
        if self._connection is not None and self.path.exists():
            return self._connection
        self._close()
        with suppress(OSError):  # SQLite tells why it cannot be made
            self.path.touch(mode=0o600)
        wait = WAIT_S if has_locks(self.path.parent) else 0  # where no lock can be had, none is waited for
        connection = sqlite3.connect(self.path, timeout=wait, check_same_thread=False)
        if self.own_disk:
            connection.execute("PRAGMA synchronous=NORMAL")
            write_ahead(connection, wait)
        with connection:
            connection.execute("BEGIN")  # else each table is a transaction, and a wait for the disk, of its own
            set_up(connection)
        self._connection = connection
        return connection

    def _close(self) -> None:
        if self._keeps is not None:
            self._keeps.conn.close()
        if self._connection is not None:
            self._connection.close()
        self._keeps = self._connection = None

    def _unusable(self, error: sqlite3.Error) -> UnavailableError:
        return UnavailableError(
            f"{self.path} cannot be used ({database_words(error, self.path)}); set MAPLE_CHAT_DATA to another folder"
        )

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[Transaction]:
        """Always durable: a person's own file is written a few times a turn."""
        try:
            with self.one_by_one, self._connected() as database:
                yield database
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.transaction()

    @contextmanager
    def alone(self, thread: str, wait_s: float) -> Iterator[Sqlite]:
        """Where the file system has no locks, nobody is kept out: better to answer than to refuse.

        Two programs at once on a thread then both answer what is open; the one that began first says nothing.
        `maple-chat doctor` tells of such a file system.
        """
        lock = FileLock(self.path.parent / f"{thread}.lock", timeout=wait_s)
        try:
            lock.acquire()
        except Timeout as error:
            raise UnavailableError(BUSY.format(thread)) from error
        except (NotImplementedError, OSError):
            yield self
            return
        try:
            yield self
        finally:
            lock.release()

    def attempt(self) -> AbstractContextManager[None]:
        return nullcontext()

    def saver(self) -> Checkpoints:
        from graph.checkpoints import Checkpoints

        with self.one_by_one:
            if self._keeps is None:
                self._keeps = Checkpoints(self.path, self.one_by_one, own_disk=self.own_disk)
            return self._keeps

    def trouble(self, error: Exception) -> UnavailableError | None:
        return self._unusable(error) if isinstance(error, sqlite3.Error) else None


def write_ahead(connection: sqlite3.Connection, wait_s: float = WAIT_S) -> None:
    """Switch the journal. It needs the file for a moment for itself, and SQLite does not wait for that."""
    end = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(AGAIN_S)
