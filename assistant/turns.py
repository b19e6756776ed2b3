"""The conversations as they were said, turn by turn. Readable in milliseconds, without LangGraph.

A turn is written down before it is worked on and closed with its answer. A turn without an answer belongs to a program
that was killed: the next one finishes it.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assistant.drawing import markdown
from assistant.events import Done, Event, Kept, Text, from_json, to_json
from assistant.storage.database import Database, Transaction
from knowledge.checked_file import read_stored
from knowledge.opening import read_plain
from knowledge.types import Attachment

# Attachments of turns that are not answered yet, in the database: another machine may have to answer them.


# Bytes of a file that goes along. A larger one is not found elsewhere, and the answer then says so.
LARGEST = 16 << 20


def carry(talk: Transaction, thread: str, number: int, attachments: Sequence[Attachment]) -> None:
    """Pack the files of a turn that was just begun."""
    for attachment in attachments:
        try:
            content = read_plain(attachment.path, LARGEST)
        except OSError:
            continue
        packed = base64.b85encode(zlib.compress(content, 1)).decode()
        talk.execute(
            "INSERT INTO carried (thread, turn, path, packed) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (thread, number, attachment.path, packed),
        )


def fetch(
    talk: Transaction, thread: str, number: int, attachments: Sequence[Attachment], folder: Path
) -> tuple[Attachment, ...]:
    """The attachments as they are found here: those that are not are unpacked into the folder."""
    query = "SELECT path, packed FROM carried WHERE thread = ? AND turn = ?"
    packed = dict(talk.execute(query, (thread, number)).fetchall())
    here = []
    for place, attachment in enumerate(attachments):
        if attachment.path in packed and not Path(attachment.path).exists():
            copy = folder / f"{thread}-{number}-{place}.log"
            copy.write_bytes(zlib.decompress(base64.b85decode(packed[attachment.path])))
            attachment = replace(attachment, path=str(copy))
        here.append(attachment)
    return tuple(here)


def drop(talk: Transaction, thread: str, number: int) -> None:
    """The turn is answered."""
    talk.execute("DELETE FROM carried WHERE thread = ? AND turn = ?", (thread, number))


LONGEST_TITLE = 80
Attached = tuple[Attachment, ...]
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
    """The store. Any thread or process may call."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def history(self, thread: str) -> tuple[Turn, ...]:
        with self.database.reading() as talk:
            rows = talk.execute(f"SELECT {COLUMNS} FROM turns WHERE thread = ? ORDER BY turn", (thread,)).fetchall()
        return tuple(map(turn_of, rows))

    def unfinished(self, thread: str) -> Turn | None:
        """The turn that a killed program left, if any."""
        return self._one("thread = ? AND answer IS NULL ORDER BY turn DESC", thread)

    def begun(self, thread: str, at: datetime) -> Turn | None:
        """The turn that was begun at exactly that time: how a message is known again after a lost connection."""
        return self._one("thread = ? AND at = ?", thread, at.isoformat())

    def _one(self, condition: str, *values: str) -> Turn | None:
        with self.database.reading() as talk:
            row = talk.execute(f"SELECT {COLUMNS} FROM turns WHERE {condition} LIMIT 1", values).fetchone()
        return turn_of(row) if row else None

    def begin(
        self, thread: str, text: str, attachments: Sequence[Attachment], at: datetime | None = None, tries: int = 1
    ) -> Turn:
        """Write a message down. Its attachments go along where other machines share the database.

        tries: how often it was begun to be answered, with this time.
        """
        with self.database.transaction() as talk:
            turn = write_down(talk, thread, text, attachments, at or datetime.now(UTC), tries)
            if self.database.shared:
                carry(talk, thread, turn.number, attachments)
        return turn

    def add(self, thread: str, text: str, attachments: Sequence[Attachment], answer: Iterable[Event]) -> None:
        """A turn that is whole at once: what a command found. A message may be on its way meanwhile."""
        with self.database.transaction() as talk:
            turn = write_down(talk, thread, text, attachments, datetime.now(UTC))
            self.close(talk, thread, turn, [*answer, Done(turn.number)])

    def try_again(self, thread: str, turn: Turn, folder: Path) -> Turn:
        """Take over a turn that was left: attachments that are not on this machine are put into the folder."""
        with self.database.transaction() as talk:
            talk.execute("UPDATE turns SET tries = tries + 1 WHERE thread = ? AND turn = ?", (thread, turn.number))
            attachments = fetch(talk, thread, turn.number, turn.attachments, folder)
        return replace(turn, attachments=attachments, tries=turn.tries + 1)

    def close(self, talk: Transaction, thread: str, turn: Turn, answer: Iterable[Event]) -> bool:
        """Store the answer; False where somebody else took the turn over meanwhile."""
        closed = talk.execute(
            "UPDATE turns SET answer = ? WHERE thread = ? AND turn = ? AND tries = ? AND answer IS NULL",
            (to_json(answer), thread, turn.number, turn.tries),
        )
        drop(talk, thread, turn.number)
        return closed.rowcount == 1

    def forget(self, talk: Transaction, thread: str) -> None:
        for table in ("turns", "titles", "carried", "diagnoses"):
            talk.execute(f"DELETE FROM {table} WHERE thread = ?", (thread,))

    def entitle(self, thread: str, title: str) -> None:
        """Give a conversation a title of a person's own; an empty one takes it away."""
        title = " ".join(title.split())[:LONGEST_TITLE]
        with self.database.transaction() as talk:
            talk.execute("DELETE FROM titles WHERE thread = ?", (thread,))
            if title:
                talk.execute("INSERT INTO titles (thread, title) VALUES (?, ?)", (thread, title))

    def title(self, thread: str) -> str:
        """The title that a person gave; empty for none."""
        with self.database.reading() as talk:
            row = talk.execute("SELECT title FROM titles WHERE thread = ?", (thread,)).fetchone()
            return str(row[0]) if row else ""

    def threads(self, words: str = "") -> tuple[Thread, ...]:
        """The conversations in which all the words were said or answered (all: no words), the one used last first."""
        with self.database.transaction() as talk:
            rows = talk.execute(
                "SELECT thread, max(at), count(*), (SELECT text FROM turns AS first WHERE first.thread = turns.thread "
                "ORDER BY turn LIMIT 1), coalesce((SELECT title FROM titles WHERE titles.thread = turns.thread), '') "
                "FROM turns GROUP BY thread ORDER BY max(at) DESC"
            ).fetchall()
        threads = tuple(Thread(name, moment(at), *rest) for name, at, *rest in rows)
        for word in words.casefold().split():
            with_word = self._threads_with(word)
            threads = tuple(t for t in threads if t.name in with_word or word in f"{t.name} {t.title}".casefold())
        return threads

    def _threads_with(self, word: str) -> set[str]:
        """The database finds the candidates in what is stored; the words as they are shown decide."""
        # LIKE knows no capitals beyond ASCII, so other words are looked for in all turns.
        stored = json.dumps(word, ensure_ascii=False)[1:-1] if word.isascii() else ""
        pattern = "%" + re.sub(r"([!%_])", r"!\1", stored) + "%"
        places = " OR ".join(f"lower({place}) LIKE ? ESCAPE '!'" for place in ("text", "answer", "attachments"))
        with self.database.transaction() as talk:
            rows = talk.execute(f"SELECT thread, {COLUMNS} FROM turns WHERE {places}", (pattern,) * 3).fetchall()
        return {thread for thread, *row in rows if word in shown(turn_of(tuple(row))).casefold()}


def write_down(
    talk: Transaction, thread: str, text: str, attachments: Sequence[Attachment], at: datetime, tries: int = 1
) -> Turn:
    """The next number is taken in the statement that writes the turn down: others may take one at the same moment."""
    stored = json.dumps([asdict(a) for a in attachments])
    while True:
        taken = talk.execute(
            "INSERT INTO turns (thread, turn, at, text, attachments, tries) "
            "SELECT ?, coalesce(max(turn), 0) + 1, ?, ?, ?, ? FROM turns WHERE thread = ? "
            "ON CONFLICT DO NOTHING RETURNING turn",
            (thread, at.isoformat(), text, stored, tries, thread),
        ).fetchall()
        if taken:
            return Turn(taken[0][0], at, text, tuple(attachments), None, tries)


def shown(turn: Turn) -> str:
    """The words of a turn as a person saw them."""
    names = (attachment.name for attachment in turn.attachments)
    return "\n".join([turn.text, *names, *map(markdown, turn.answer or ())])


def turn_of(row: tuple[Any, ...]) -> Turn:
    """A turn from its COLUMNS."""
    number, at, text, attachments, answer, tries = row
    attached = read_stored(attachments, Attached) or ()
    events = None if answer is None else read_answer(answer)
    return Turn(number, moment(at), text, attached, events, tries)


def moment(at: str) -> datetime:
    """When it was; the begin of 1970 where the row is damaged, which orders it last."""
    try:
        return datetime.fromisoformat(at)
    except (ValueError, TypeError):
        return datetime.fromtimestamp(0, UTC)


def read_answer(answer: str) -> tuple[Kept, ...]:
    """The events; an answer of another version, which cannot be read, is said to be one."""
    try:
        return tuple(from_json(answer))
    except ValueError:
        return (Text("(an answer that another version of this program wrote)"),)
