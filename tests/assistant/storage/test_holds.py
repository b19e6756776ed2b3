"""A thread is one worker's at a time, and what a database holds is held against other programs too."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator

import pytest

from assistant.errors import UnavailableError
from assistant.settings import Settings, read_settings
from assistant.storage.database import Database


@pytest.fixture
def another(database: Database, settings: Settings) -> Iterator[Database]:
    """The same database as another program opens it."""
    fresh = importlib.import_module(type(database).__module__).open_from(read_settings())
    yield fresh
    getattr(fresh, "close", lambda: None)()


def test_a_thread_that_is_held_is_busy_until_the_hold_ends(database: Database, another: Database) -> None:
    with database.alone("t", 5.0):
        began = time.monotonic()
        with pytest.raises(UnavailableError, match="still answering on thread 't'"), another.alone("t", 0.5):
            pass
        assert 0.4 < time.monotonic() - began < 5
        with another.alone("u", 0.5):
            pass
    with another.alone("t", 0.5):
        pass


def test_what_fails_stores_nothing(database: Database, another: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.transaction() as talk:
        talk.execute("INSERT INTO titles (thread, title) VALUES (?, ?)", ("t", "x"))
        raise ZeroDivisionError
    with another.transaction() as talk:
        assert talk.execute("SELECT count(*) FROM titles").fetchone()[0] == 0
