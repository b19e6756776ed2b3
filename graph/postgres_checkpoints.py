"""Where a conversation's state is kept between turns, in PostgreSQL: the latest checkpoint of each thread.

Made anew for each turn, on the connection that holds the thread: a checkpoint is stored together with the answer, or
not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.postgres import PostgresSaver

from graph.checkpoints import Serializer

if TYPE_CHECKING:
    from psycopg import Connection

TABLES = ("checkpoint_writes", "checkpoints")
UNUSED_BLOBS = """
DELETE FROM checkpoint_blobs AS b WHERE thread_id = %s AND NOT EXISTS (
    SELECT 1 FROM checkpoints AS c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns
    AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version)
"""


def set_up(connection: Connection[Any]) -> None:
    """The saver's own tables, inside one transaction: its own way needs a session of its own, and no second worker."""
    connection.execute(PostgresSaver.MIGRATIONS[0])
    newest = connection.execute("SELECT max(v) FROM checkpoint_migrations").fetchone()
    done = -1 if newest is None or newest[0] is None else newest[0]
    for version, migration in enumerate(PostgresSaver.MIGRATIONS):
        if version > done:
            connection.execute(migration.replace(" CONCURRENTLY", ""))
            connection.execute("INSERT INTO checkpoint_migrations (v) VALUES (%s)", (version,))


class PostgresCheckpoints(PostgresSaver):
    """PostgresSaver inside a transaction that somebody else began."""

    def __init__(self, connection: Connection[Any]) -> None:
        super().__init__(cast(Any, connection), serde=Serializer())

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Drop what a thread no longer needs. The saver's own way opens a transaction, which is open here already."""
        for thread in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread)
            else:
                newest = "(SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = %s)"
                self._drop(f"checkpoint_id < {newest}", thread, thread)

    def rewind(self, thread: str, checkpoint: str | None) -> None:
        """Drop what came after a checkpoint; None: all of it."""
        self._drop("checkpoint_id > %s", thread, checkpoint or "")

    def _drop(self, condition: str, thread: str, value: str) -> None:
        with self._cursor() as cursor:
            for table in TABLES:
                cursor.execute(cast(Any, f"DELETE FROM {table} WHERE thread_id = %s AND {condition}"), (thread, value))
            cursor.execute(UNUSED_BLOBS, (thread,))
