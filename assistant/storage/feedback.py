"""What people thought of an answer; exported as labelled cases, so that it can become signatures and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from assistant.storage.database import Database
from assistant.turns import COLUMNS, Turn, turn_of

LONGEST_WORDS = 2_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """One person's word on one answer. turn None: the conversation was forgotten since."""

    thread: str
    number: int
    who: str
    at: datetime
    helpful: bool
    words: str
    turn: Turn | None


class Feedback:
    """The verdicts; one a person and turn, the last one counts."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def append(self, thread: str, number: int, helpful: bool, *, who: str = "", words: str = "") -> None:
        """Store a verdict. who: any name that tells people apart; nobody needs to be known by it."""
        key = (thread, number, who)
        with self.database.transaction() as talk:
            talk.execute("DELETE FROM feedback WHERE thread = ? AND turn = ? AND who = ?", key)
            talk.execute(
                "INSERT INTO feedback (thread, turn, who, at, helpful, words) VALUES (?, ?, ?, ?, ?, ?)",
                (*key, datetime.now(UTC).isoformat(), int(helpful), words[:LONGEST_WORDS]),
            )

    def export(self) -> Iterator[Verdict]:
        """All verdicts with the turns that they are about, the oldest first."""
        with self.database.transaction() as talk:
            query = "SELECT thread, turn, who, at, helpful, words FROM feedback ORDER BY at"
            rows = talk.execute(query).fetchall()
        for thread, number, who, at, helpful, words in rows:
            yield Verdict(
                thread, number, who, datetime.fromisoformat(at), bool(helpful), words, self._turn(thread, number)
            )

    def _turn(self, thread: str, number: int) -> Turn | None:
        with self.database.transaction() as talk:
            query = f"SELECT {COLUMNS} FROM turns WHERE thread = ? AND turn = ?"
            row = talk.execute(query, (thread, number)).fetchone()
        return turn_of(row) if row else None
