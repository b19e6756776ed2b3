"""Where conversations are kept: SQLite in the data folder, or PostgreSQL where several workers share them.

SQL is written once, with `?` for values, in words that both know; what differs is in the module of each.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from assistant.errors import InputError, UnavailableError
from assistant.settings import Settings

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

# Scheme of MAPLE_CHAT_DATABASE -> module; each has `open_from(settings) -> Database`.
DATABASES = {
    "": "assistant.storage.sqlite",
    "postgresql": "assistant.storage.postgres",
    "postgres": "assistant.storage.postgres",
}
BUSY = "another maple-chat is still answering on thread '{}'; wait for it or take another thread"


class LostError(UnavailableError):
    """The connection went in the middle; what was not stored can be done again."""


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Transaction(Protocol):
    """A transaction that is open."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows: ...


class Hold(Protocol):
    """A thread that nobody else works on."""

    def saver(self) -> BaseCheckpointSaver[str]:
        """Where the graph keeps its state; also has `rewind(thread, checkpoint | None)`. Costs LangGraph's import."""

    def attempt(self) -> AbstractContextManager[None]:
        """What fails inside leaves the state as it was, where the database can do that."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Stored at the latest when the hold ends."""


class Database(Protocol):
    """Where everything is kept: `where` in words. shared: also by other machines, which see no files of ours."""

    shared: bool
    where: str

    def transaction(self, *, durable: bool = True) -> AbstractContextManager[Transaction]:
        """Stored at the end; nothing of it where an error ends it. Raises LostError, UnavailableError.

        durable: a power cut of the database's computer does not undo it.
        """

    def reading(self) -> AbstractContextManager[Transaction]:
        """Statements that change nothing; each sees what is stored as it begins. Raises LostError, UnavailableError."""

    def alone(self, thread: str, wait_s: float) -> AbstractContextManager[Hold]:
        """Work on a thread, one at a time over all processes; freed at once when the process dies.

        Raises LostError, also at the end: then it is open whether what was done in it is stored. Raises
        UnavailableError after the waiting time.
        """

    def trouble(self, error: Exception) -> UnavailableError | None:
        """What an error of the database means; None for any other error."""


OPENING = threading.Lock()


@cache
def _open(settings: Settings) -> Database:
    scheme, separator, _ = settings.database.get_secret_value().partition("://")
    module = DATABASES.get(scheme if separator else "") if separator or not scheme else None
    if module is None:
        raise InputError("MAPLE_CHAT_DATABASE is not postgresql://USER@HOST/NAME; correct it, or unset it for SQLite")
    database: Database = importlib.import_module(module).open_from(settings)
    return database


def open_database(settings: Settings) -> Database:
    """The database of the settings, opened once a process. Raises InputError, UnavailableError."""
    with OPENING:
        return _open(settings)
