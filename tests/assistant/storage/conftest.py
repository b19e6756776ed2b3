"""A database of its own for each test: SQLite in a folder, or a PostgreSQL database that is dropped afterwards."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from assistant.settings import Settings, read_settings
from assistant.storage.database import Database, open_database

SERVER = os.environ.get("MAPLE_CHAT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")


@pytest.fixture(scope="session")
def server() -> str:
    """The address of a PostgreSQL server, without a database name."""
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    try:
        psycopg.connect(f"{SERVER}/postgres", connect_timeout=3).close()
    except psycopg.Error as error:
        pytest.skip(f"no PostgreSQL at {SERVER}: {str(error).splitlines()[0]}")
    return SERVER


@pytest.fixture
def admin(server: str) -> Callable[[str], list[tuple[object, ...]]]:
    """Run a statement as the server's master, and get its rows."""
    import psycopg

    def run(statement: str) -> list[tuple[object, ...]]:
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            cursor = connection.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    return run


@pytest.fixture
def address(server: str, admin: Callable[[str], list[tuple[object, ...]]]) -> Iterator[str]:
    """A new, empty database."""
    name = f"maple_{uuid.uuid4().hex[:12]}"
    admin(f"CREATE DATABASE {name}")
    yield f"{server}/{name}"
    admin(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres(address: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings that use that database; child processes inherit them."""
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", address)
    ours = read_settings()
    yield ours
    open_database(ours).close()  # type: ignore[attr-defined]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, settings: Settings) -> Database:
    """Each in turn: what is said in the protocol holds for both."""
    chosen = settings if request.param == "sqlite" else request.getfixturevalue("postgres")
    return open_database(chosen)
