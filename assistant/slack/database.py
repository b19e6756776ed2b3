"""The bot's own tables: in a file beside the conversations, or in the PostgreSQL of MAPLE_CHAT_DATABASE.

The file is for a server's own disk: its write-ahead log makes a write cost 0.02 ms, a durable one 1.6 ms, where the
conversations' file (which may lie on a network) needs 8 ms.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from assistant.errors import UnavailableError
from assistant.settings import Settings
from assistant.storage.database import Database, Transaction, open_database
from assistant.storage.sqlite import write_ahead
from knowledge.errors import database_words

WAIT_S = 10.0
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))"
# state: waiting, answered, done. holder: the worker that has taken it. way: how it came in, for the counts.
TABLES = (
    """CREATE TABLE IF NOT EXISTS slack_inbox (
        key TEXT PRIMARY KEY, thread TEXT NOT NULL, ts TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL, due DOUBLE PRECISION NOT NULL DEFAULT 0, holder TEXT,
        tries INTEGER NOT NULL DEFAULT 0, turn_before INTEGER, turn INTEGER, live_ts TEXT, way TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS slack_open ON slack_inbox (thread, ts) WHERE state <> 'done'",
    "CREATE INDEX IF NOT EXISTS slack_thread ON slack_inbox (thread, ts)",
    # What is open, the oldest first: few among the many that are done.
    "CREATE INDEX IF NOT EXISTS slack_waiting ON slack_inbox (at) WHERE state <> 'done'",
    "CREATE INDEX IF NOT EXISTS slack_at ON slack_inbox (at)",
    """CREATE TABLE IF NOT EXISTS slack_parts (
        key TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL, ts TEXT,
        PRIMARY KEY (key, number))""",
    """CREATE TABLE IF NOT EXISTS slack_feedback (
        answer TEXT NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, verdict TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (answer, who))""",
    # What was decided of a proposed signature: accepted or rejected.
    "CREATE TABLE IF NOT EXISTS reviews (proposal TEXT PRIMARY KEY, decision TEXT NOT NULL, at TEXT NOT NULL)",
)


class Store(Protocol):
    """What both kinds offer."""

    def transaction(self, *, durable: bool = False) -> AbstractContextManager[Transaction]:
        """Statements (`?` for values) that are stored together. durable: a power cut does not undo it either."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """One statement that changes nothing."""
        ...

    def one_at_a_time(self, talk: Transaction) -> None:
        """Let only one worker go on from here to the end of the transaction."""
        ...


class InFile:
    """One SQLite file on this computer's disk; several processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()
        try:
            self._quick, self._durable = self._connect("NORMAL"), self._connect("FULL")
            with self.transaction() as talk:
                for table in TABLES:
                    talk.execute(table)
        except sqlite3.Error as error:
            raise UnavailableError(
                f"{path} cannot be used ({database_words(error, path)}); set MAPLE_CHAT_DATA to a local disk"
            ) from error

    def _connect(self, synchronous: str) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=WAIT_S, check_same_thread=False, isolation_level=None)
        write_ahead(connection)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        return connection

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[Transaction]:
        with self._guard:
            connection = self._durable if durable else self._quick
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.transaction()

    def one_at_a_time(self, talk: Transaction) -> None:
        """BEGIN IMMEDIATE did that."""


class InPostgres:
    """The same tables in the database of the conversations, for workers on several computers."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with self.transaction() as talk:
            self.one_at_a_time(talk)
            for table in TABLES:
                talk.execute(table)

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[Transaction]:
        with self.database.transaction(durable=durable) as talk:
            yield talk

    def reading(self) -> AbstractContextManager[Transaction]:
        return self.database.reading()

    def one_at_a_time(self, talk: Transaction) -> None:
        talk.execute(ONE_AT_A_TIME, ("maple-chat slack",))


def open_store(settings: Settings) -> Store:
    """The bot's tables, made where they are missing. Raises InputError, UnavailableError."""
    database = open_database(settings)
    return InPostgres(database) if database.shared else InFile(settings.data / "slack.sqlite")
