"""The tables, in the order in which versions of this program added them. Nothing is ever taken away."""

from __future__ import annotations

from pathlib import Path

from assistant.storage.database import Transaction


def statements() -> tuple[str, ...]:
    """Those of tables.sql, one by one."""
    text = Path(__file__).with_name("tables.sql").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return tuple(part.strip() for part in lines.split(";\n") if part.strip())


TABLES = statements()


def set_up(talk: Transaction) -> None:
    """Make the tables that are missing."""
    for table in TABLES:
        talk.execute(table)
