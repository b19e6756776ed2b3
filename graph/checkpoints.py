"""Where a conversation's state is kept between turns: one SQLite file, the latest checkpoint of each thread.

Measured on a turn of five nodes: writing once a turn 1.5 ms, writing after each node 6.4 ms; the asynchronous saver
4.3 and 7.5 ms. So: the plain saver, once a turn.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from graph.reading import utterance
from knowledge import document, job_parts, resource_question, types

WAIT_S = 10.0
TRAVELLING = tuple(
    c
    for module in (types, job_parts, document, utterance, resource_question)
    for c in vars(module).values()
    if isinstance(c, type) and dataclasses.is_dataclass(c)
)


class Serializer(JsonPlusSerializer):
    """Gives back what was stored: only our types, and tuples where MessagePack knows only lists."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=TRAVELLING)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return as_stored(super().loads_typed(data))


def as_stored(value: Any) -> Any:
    """The same value with the lists inside our dataclasses made tuples again; LangGraph's own lists stay lists."""
    if isinstance(value, dict):
        return {key: as_stored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_stored(item) for item in value]
    if isinstance(value, TRAVELLING):
        return type(value)(**{f.name: frozen(getattr(value, f.name)) for f in dataclasses.fields(value)})
    return value


def frozen(value: Any) -> Any:
    return tuple(frozen(item) for item in value) if isinstance(value, list | tuple) else as_stored(value)


class Checkpoints(SqliteSaver):
    """SqliteSaver without write-ahead logging: home folders are network file systems and people change login nodes.

    SQLite's WAL needs memory shared by all its processes, so it breaks across hosts: https://sqlite.org/wal.html
    """

    def __init__(
        self, path: Path, one_by_one: AbstractContextManager[Any] | None = None, *, own_disk: bool = False
    ) -> None:
        """one_by_one: a lock shared with whoever else writes to this file; SQLite itself only polls for its turn.

        own_disk: no other computer opens the file, so it may be written ahead.
        """
        self.path = path
        factory = sqlite3.Connection if own_disk else NoSharedMemory
        connection = sqlite3.connect(path, timeout=WAIT_S, check_same_thread=False, factory=factory)
        if own_disk:
            connection.execute("PRAGMA synchronous=NORMAL")
        super().__init__(connection, serde=Serializer())
        if one_by_one is not None:
            self.lock = cast(Any, one_by_one)
        self.setup()

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Drop what a thread no longer needs; only the newest checkpoint is ever read."""
        if strategy == "delete":
            for thread in thread_ids:
                self.delete_thread(thread)
            return
        with self.cursor() as cursor:
            for thread in thread_ids:
                newest = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?)"
                for table in ("writes", "checkpoints"):
                    cursor.execute(
                        f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id < {newest}", (thread, thread)
                    )

    def rewind(self, thread: str, checkpoint: str | None) -> None:
        """Drop what came after a checkpoint; None: all of it."""
        with self.cursor() as cursor:
            for table in ("writes", "checkpoints"):
                cursor.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id > ?", (thread, checkpoint or "")
                )


class NoSharedMemory(sqlite3.Connection):
    """A connection on which the saver's own set-up does not switch write-ahead logging on."""

    def executescript(self, script: str, /) -> sqlite3.Cursor:
        try:
            return super().executescript(script.replace("journal_mode=WAL", "journal_mode=TRUNCATE"))
        except sqlite3.OperationalError:
            # A bot on this computer has the file open and writes ahead: then so does everybody.
            if self.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                raise
            return super().executescript(script)
