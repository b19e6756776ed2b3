"""The conversations as they were said, turn by turn, in SQLite. Readable in milliseconds, without LangGraph.

A turn is written down before it is worked on and closed with its answer. A turn without an answer belongs to a program
that was killed: the next one finishes it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assistant.drawing import markdown
from assistant.errors import UnavailableError
from assistant.events import EVENTS, Event, Kept, Text, to_json
from knowledge.types import Attachment

WAIT_S = 10.0
# Each is added where it is missing, so a file of an older version goes on as it is.
TABLES = (
    """
CREATE TABLE IF NOT EXISTS turns (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, attachments TEXT NOT NULL,
    answer TEXT, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, turn))
""",
    "CREATE TABLE IF NOT EXISTS titles (thread TEXT PRIMARY KEY, title TEXT NOT NULL)",
)
LONGEST_TITLE = 80
COLUMNS = "turn, at, text, attachments, answer, tries"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and its answer; answer None: not finished. tries: how often it was begun."""

    number: int
    at: datetime
    text: str
    attachments: tuple[Attachment, ...]
    answer: tuple[Kept, ...] | None
    tries: int


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation in a list: its name, its last use, how many turns, how it began, and its title (may be empty)."""

    name: str
    at: datetime
    turns: int
    begins: str
    title: str = ""


class Turns:
    """The store. Each call opens the file for itself: any thread or process may call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as database:
            for table in TABLES:
                database.execute(table)

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
            database.execute("DELETE FROM titles WHERE thread = ?", (thread,))

    def entitle(self, thread: str, title: str) -> None:
        """Give a conversation a title of a person's own; an empty one takes it away."""
        title = " ".join(title.split())[:LONGEST_TITLE]
        with self._open() as database:
            database.execute("DELETE FROM titles WHERE thread = ?", (thread,))
            if title:
                database.execute("INSERT INTO titles (thread, title) VALUES (?, ?)", (thread, title))

    def title(self, thread: str) -> str:
        """The title that a person gave; empty for none."""
        with self._open() as database:
            row = database.execute("SELECT title FROM titles WHERE thread = ?", (thread,)).fetchone()
            return str(row[0]) if row else ""

    def threads(self, words: str = "") -> tuple[Thread, ...]:
        """The conversations in which all the words were said or answered (all: no words), the one used last first."""
        with self._open() as database:
            rows = database.execute(
                "SELECT thread, max(at), count(*), (SELECT text FROM turns AS first WHERE first.thread = turns.thread "
                "ORDER BY turn LIMIT 1), coalesce((SELECT title FROM titles WHERE titles.thread = turns.thread), '') "
                "FROM turns GROUP BY thread ORDER BY max(at) DESC"
            ).fetchall()
        threads = tuple(Thread(name, datetime.fromisoformat(at), *rest) for name, at, *rest in rows)
        for word in words.casefold().split():
            with_word = self._threads_with(word)
            threads = tuple(t for t in threads if t.name in with_word or word in f"{t.name} {t.title}".casefold())
        return threads

    def _threads_with(self, word: str) -> set[str]:
        """The database finds the candidates in what is stored; the words as they are shown decide."""
        # LIKE knows no capitals beyond ASCII, so other words are looked for in all turns.
        stored = json.dumps(word, ensure_ascii=False)[1:-1] if word.isascii() else ""
        pattern = "%" + re.sub(r"([\\%_])", r"\\\1", stored) + "%"
        query = (
            f"SELECT thread, {COLUMNS} FROM turns "
            "WHERE text LIKE ? ESCAPE '\\' OR answer LIKE ? ESCAPE '\\' OR attachments LIKE ? ESCAPE '\\'"
        )
        with self._open() as database:
            rows = database.execute(query, (pattern,) * 3)
            return {thread for thread, *row in rows if word in shown(turn_of(tuple(row))).casefold()}


def shown(turn: Turn) -> str:
    """The words of a turn as a person saw them."""
    names = (attachment.name for attachment in turn.attachments)
    return "\n".join([turn.text, *names, *map(markdown, turn.answer or ())])


def turn_of(row: tuple[Any, ...]) -> Turn:
    """A turn from its COLUMNS."""
    number, at, text, attachments, answer, tries = row
    attached = tuple(Attachment(**item) for item in json.loads(attachments))
    events = None if answer is None else read_answer(answer)
    return Turn(number, datetime.fromisoformat(at), text, attached, events, tries)


def read_answer(answer: str) -> tuple[Kept, ...]:
    """The events; an answer of another version, which cannot be read, is said to be one."""
    try:
        return tuple(EVENTS.validate_json(answer))
    except ValidationError:
        return (Text("(an answer that another version of this program wrote)"),)
