"""What doctor says of the database, of the workers and of what was read in."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.health import database, documents, guarded
from assistant.settings import Settings
from assistant.storage.sqlite import Sqlite
from assistant.turns import Turns
from knowledge.documents import FILE, Chunk, Documents, SourceDocument


def test_sqlite_and_the_workers(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no conversation yet" in database().says and not settings.conversations.exists()
    Turns(Sqlite(settings.conversations)).begin("a", "hello", [])
    monkeypatch.setenv("MAPLE_CHAT_WORKERS", "3")
    assert database().says == "SQLite, 1 conversation; 3 turns at once (MAPLE_CHAT_WORKERS)"
    monkeypatch.setenv("MAPLE_CHAT_WORKERS", "0")
    assert guarded("database", database).says.startswith("MAPLE_CHAT_WORKERS: ")


def test_a_damaged_file_is_told(settings: Settings) -> None:
    settings.conversations.write_text("no database at all, " * 99)
    found = guarded("database", database)
    assert found.state == "wrong" and "move it away" in found.says


def test_a_server_is_entered_not_only_reached(postgres: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database().says.startswith("PostgreSQL at ")
    address = postgres.database.get_secret_value()
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", f"{address}_gone")
    found = guarded("database", database)
    assert found.state == "wrong" and "createdb" in found.says


def test_what_was_read_in(settings: Settings, tmp_path: Path) -> None:
    assert documents().says.startswith("none read in")
    store = Documents(settings.data / FILE)
    store.begin("here", "folder", "docs", {})
    store.put(
        "here", [SourceDocument("k", "https://e.org/k", "docs", "Tokens", (Chunk("renew it"), Chunk("twice")), "h")]
    )
    store.close()
    assert documents().says == "2 of kind doc; not indexed yet: docs (the first question does it)"
