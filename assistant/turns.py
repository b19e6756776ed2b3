"""The conversations as they were said, turn by turn, in SQLite. Readable in milliseconds, without LangGraph.

A turn is written down before it is worked on and closed with its answer. A turn without an answer belongs to a program
that was killed: the next one finishes it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from assistant.errors import UnavailableError
from assistant.events import EVENTS, Event, Text, to_json
from knowledge.types import Attachment

WAIT_S = 10.0
TABLE = """
CREATE TABLE IF NOT EXISTS turns (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, attachments TEXT NOT NULL,
    answer TEXT, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, turn))
"""
COLUMNS = "turn, at, text, attachments, answer, tries"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and its answer; answer None: not finished. tries: how often it was begun."""

    number: int
    at: datetime
    text: str
    attachments: tuple[Attachment, ...]
    answer: tuple[Event, ...] | None
    tries: int


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation in a list: its name, its last use, how many turns, and how it began."""

    name: str
    at: datetime
    turns: int
    begins: str


class Turns:
    """The store. Each call opens the file for itself: any thread or process may call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as database:
            database.execute(TABLE)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self.path, timeout=WAIT_S)
            try:
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise UnavailableError(
                f"{self.path} cannot be used ({error}); set MAPLE_CHAT_DATA to another folder"
            ) from error

    def history(self, thread: str) -> tuple[Turn, ...]:
        with self._open() as database:
            rows = database.execute(f"SELECT {COLUMNS} FROM turns WHERE thread = ? ORDER BY turn", (thread,))
            return tuple(turn_of(row) for row in rows)

    def unfinished(self, thread: str) -> Turn | None:
        """The turn that a killed program left, if any."""
        with self._open() as database:
            row = database.execute(
                f"SELECT {COLUMNS} FROM turns WHERE thread = ? AND answer IS NULL ORDER BY turn DESC LIMIT 1", (thread,)
            ).fetchone()
            return turn_of(row) if row else None

    def begin(self, thread: str, text: str, attachments: Sequence[Attachment]) -> Turn:
        at, stored = datetime.now(UTC), json.dumps([asdict(a) for a in attachments])
        with self._open() as database:
            (last,) = database.execute("SELECT max(turn) FROM turns WHERE thread = ?", (thread,)).fetchone()
            number = (last or 0) + 1
            database.execute(
                "INSERT INTO turns (thread, turn, at, text, attachments, tries) VALUES (?, ?, ?, ?, ?, 1)",
                (thread, number, at.isoformat(), text, stored),
            )
        return Turn(number, at, text, tuple(attachments), None, 1)

    def try_again(self, thread: str, number: int) -> None:
        with self._open() as database:
            database.execute("UPDATE turns SET tries = tries + 1 WHERE thread = ? AND turn = ?", (thread, number))

    def close(self, thread: str, number: int, answer: Sequence[Event]) -> None:
        with self._open() as database:
            database.execute(
                "UPDATE turns SET answer = ? WHERE thread = ? AND turn = ?", (to_json(answer), thread, number)
            )

    def forget(self, thread: str) -> None:
        with self._open() as database:
            database.execute("DELETE FROM turns WHERE thread = ?", (thread,))

    def threads(self) -> tuple[Thread, ...]:
        """All conversations, the one used last first."""
        with self._open() as database:
            rows = database.execute(
                "SELECT thread, max(at), count(*), (SELECT text FROM turns AS first WHERE first.thread = turns.thread "
                "ORDER BY turn LIMIT 1) FROM turns GROUP BY thread ORDER BY max(at) DESC"
            )
            return tuple(Thread(name, datetime.fromisoformat(at), count, begins) for name, at, count, begins in rows)


def turn_of(row: tuple[int, str, str, str, str | None, int]) -> Turn:
    number, at, text, attachments, answer, tries = row
    attached = tuple(Attachment(**item) for item in json.loads(attachments))
    events = None if answer is None else read_answer(answer)
    return Turn(number, datetime.fromisoformat(at), text, attached, events, tries)


def read_answer(answer: str) -> tuple[Event, ...]:
    """The events; an answer of another version, which cannot be read, is said to be one."""
    try:
        return tuple(EVENTS.validate_json(answer))
    except ValidationError:
        return (Text("(an answer that another version of this program wrote)"),)
