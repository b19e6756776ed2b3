"""A database of its own for each test: SQLite in a folder, or a PostgreSQL database that is dropped afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

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


PROGRAMS = {name: shutil.which(name) for name in ("initdb", "pg_ctl")}
# PostgreSQL does not run as root.
OTHER = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}


def control(*words: str) -> None:
    name, *rest = words
    command = [str(PROGRAMS[name]), *rest]
    subprocess.run(
        command,
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        **OTHER,
    )  # type: ignore[call-overload]


@pytest.fixture
def own_server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Restarts the server that the settings name."""
    pytest.importorskip("psycopg")
    if None in PROGRAMS.values():
        pytest.skip("no PostgreSQL to start")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="maple-postgres-"))
    if OTHER:
        shutil.chown(folder, *OTHER.values())
    data = ("-D", str(folder / "data"))
    control("initdb", *data, "-A", "trust", "-U", "postgres", "--no-sync")
    started = (*data, "-w", "-o", f"-p {port} -k {folder} -F", "-l", str(folder / "log"))
    control("pg_ctl", "start", *started)
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", f"postgresql://postgres@127.0.0.1:{port}/postgres")
    yield lambda: control("pg_ctl", "restart", *started, "-m", "immediate")
    open_database(read_settings()).close()  # type: ignore[attr-defined]
    control("pg_ctl", "stop", *data, "-m", "immediate")
    shutil.rmtree(folder)
