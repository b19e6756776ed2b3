"""The tables, in the order in which versions of this program added them. Nothing is ever taken away."""

from __future__ import annotations

from assistant.storage.database import Talk

# What already exists is left as it is, so a database of an older version goes on. carried: the text of attachments of
# turns that are not answered, packed: another machine may have to finish them.
TABLES = (
    """
    CREATE TABLE IF NOT EXISTS turns (
        thread TEXT NOT NULL, turn INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, attachments TEXT NOT NULL,
        answer TEXT, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, turn))
    """,
    "CREATE TABLE IF NOT EXISTS titles (thread TEXT PRIMARY KEY, title TEXT NOT NULL)",
    """
    CREATE TABLE IF NOT EXISTS carried (
        thread TEXT NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, packed TEXT NOT NULL,
        PRIMARY KEY (thread, turn, path))
    """,
)


def set_up(talk: Talk) -> None:
    """Make the tables that are missing."""
    for table in TABLES:
        talk.execute(table)
