"""What came in, until it is answered: written down before Slack hears that it was received.

A row waits, is taken by one worker, gets its answer (parts to send), is sent part by part, and is done. Killed
anywhere, the next worker goes on from what is written. Rows of one thread are taken one after the other, in the order
of Slack's time stamps. What was done is remembered by its key alone, so that a second delivery is known. A worker that
was taken for dead and lives writes no more to what others have taken over: LostError.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assistant.slack.database import Store
from assistant.slack.settings import DAY_S
from assistant.slack.types import Incoming, SlackPart, incoming_of, part_of
from assistant.storage.database import Transaction

RECENT = 2_000
COLUMNS = "body, state, tries, turn_before, turn, live_ts"
# The oldest requests that nobody has taken, and before which nothing is open on their threads: one of a thread.
CLAIM = f"""
    UPDATE slack_inbox SET holder = ?, tries = tries + 1 WHERE key IN (
        SELECT key FROM slack_inbox AS mine WHERE state <> 'done' AND holder IS NULL AND due <= ? AND NOT EXISTS (
            SELECT 1 FROM slack_inbox AS other WHERE other.thread = mine.thread AND other.state <> 'done'
            AND other.key <> mine.key AND (other.holder IS NOT NULL
                OR other.ts < mine.ts OR (other.ts = mine.ts AND other.key < mine.key)))
        ORDER BY at LIMIT ?)
    RETURNING {COLUMNS}"""


class TakenOverError(Exception):
    """Another worker has taken the request over."""


@dataclass(frozen=True, slots=True)
class TakenRequest:
    """A row that this worker has taken.

    answered: the parts are stored. tries: how often it was taken. turn_before: the conversation's last turn before it
    (None: its turn was never begun). live_ts: the message that already shows what goes on.
    """

    incoming: Incoming
    answered: bool
    tries: int
    turn_before: int | None
    turn: int | None
    live_ts: str

    @property
    def key(self) -> str:
        return self.incoming.key


@dataclass(frozen=True, slots=True)
class Stored:
    """A part and how far it is: planned, sending (it may have arrived), sent (ts: where)."""

    number: int
    part: SlackPart
    state: str
    ts: str


class Inbox:
    """The table of requests and the table of parts. Every call is one transaction and may come from any thread.

    What changes a request that was taken raises LostError where it is no longer this worker's.
    """

    def __init__(self, store: Store, worker: str) -> None:
        self.store = store
        self.worker = worker

    def put(self, incoming: Incoming, way: str) -> bool:
        """Write a request down; False: it is there already. way: how it came in, for the counts."""
        with self.store.transaction(durable=True) as talk:
            new = talk.execute(
                "INSERT INTO slack_inbox (key, thread, ts, body, state, at, way) VALUES (?, ?, ?, ?, 'waiting', ?, ?) "
                "ON CONFLICT (key) DO NOTHING",
                (incoming.key, incoming.thread, incoming.ts, incoming.to_json(), time.time(), way),
            )
            return new.rowcount == 1

    def claim(self, most: int) -> list[TakenRequest]:
        """Take up to so many requests, those that wait longest and whose threads are free, the oldest first."""
        with self.store.transaction() as talk:
            self.store.one_at_a_time(talk)
            rows = talk.execute(CLAIM, (self.worker, time.time(), most)).fetchall()
        return sorted(map(job_of, rows), key=lambda job: job.incoming.ts)

    def others(self) -> tuple[str, ...]:
        """The other workers that have taken something."""
        query = "SELECT DISTINCT holder FROM slack_inbox WHERE state <> 'done' AND holder IS NOT NULL AND holder <> ?"
        with self.store.reading() as talk:
            return tuple(name for (name,) in talk.execute(query, (self.worker,)).fetchall())

    def free(self, worker: str) -> int:
        """Give back what a dead worker had taken; how many requests that were."""
        with self.store.transaction() as talk:
            freed = talk.execute("UPDATE slack_inbox SET holder = NULL WHERE holder = ?", (worker,))
            return freed.rowcount

    def begin(self, job: TakenRequest, turn_before: int) -> TakenRequest:
        """Note where the conversation stood before the turn of this request."""
        with self.store.transaction() as talk:
            self._set(talk, job.key, "turn_before = ?", turn_before)
        return replace(job, turn_before=turn_before)

    def shows(self, key: str, live_ts: str) -> None:
        """Note the message in which progress is shown; the answer will take its place."""
        with self.store.transaction() as talk:
            self._set(talk, key, "live_ts = ?", live_ts)

    def answer(self, job: TakenRequest, parts: Sequence[SlackPart], turn: int | None) -> TakenRequest:
        """Store what is to be sent. From here on the request is only sent, never worked on again."""
        with self.store.transaction() as talk:
            self._set(talk, job.key, "state = 'answered', turn = ?", turn)
            for number, part in enumerate(parts):
                sql = "INSERT INTO slack_parts (key, number, body, state) VALUES (?, ?, ?, 'planned')"
                talk.execute(sql, (job.key, number, part.to_json()))
        return replace(job, answered=True, turn=turn)

    def parts(self, key: str) -> tuple[Stored, ...]:
        query = "SELECT number, body, state, ts FROM slack_parts WHERE key = ? ORDER BY number"
        with self.store.reading() as talk:
            rows = talk.execute(query, (key,)).fetchall()
        return tuple(Stored(number, part_of(body), state, ts or "") for number, body, state, ts in rows)

    def sending(self, key: str, number: int) -> None:
        """Note that a part is about to leave."""
        self._part(key, number, "sending", None)

    def sent(self, key: str, number: int, ts: str) -> None:
        self._part(key, number, "sent", ts)

    def _part(self, key: str, number: int, state: str, ts: str | None) -> None:
        with self.store.transaction() as talk:
            mine = talk.execute(
                "UPDATE slack_parts SET state = ?, ts = ? WHERE key = ? AND number = ? "
                "AND EXISTS (SELECT 1 FROM slack_inbox WHERE slack_inbox.key = slack_parts.key AND holder = ?)",
                (state, ts, key, number, self.worker),
            )
            if mine.rowcount != 1:
                raise TakenOverError(key)

    def finish(self, job: TakenRequest) -> None:
        """Done: the words and files of the request are forgotten, its key and place stay."""
        bare = replace(job.incoming, text="", files=(), more={}, reply="")
        with self.store.transaction() as talk:
            self._set(talk, job.key, "state = 'done', holder = NULL, live_ts = NULL, body = ?", bare.to_json())
            talk.execute("DELETE FROM slack_parts WHERE key = ?", (job.key,))

    def release(self, key: str, after_s: float) -> None:
        """Give a request back, to be taken again after some time."""
        with self.store.transaction() as talk:
            self._set(talk, key, "holder = NULL, due = ?", time.time() + after_s)

    def _set(self, talk: Transaction, key: str, what: str, *values: object) -> None:
        mine = talk.execute(f"UPDATE slack_inbox SET {what} WHERE key = ? AND holder = ?", (*values, key, self.worker))
        if mine.rowcount != 1:
            raise TakenOverError(key)

    def find(self, key: str) -> TakenRequest | None:
        """A request by its key, also one that is done."""
        with self.store.reading() as talk:
            rows = talk.execute(f"SELECT {COLUMNS} FROM slack_inbox WHERE key = ?", (key,)).fetchall()
        return job_of(rows[0]) if rows else None

    def answered(self, channel: str, thread_ts: str, user: str) -> str:
        """The key of the newest answer in a thread, or of a person's newest in a channel; empty: there is none."""
        done = "state = 'done' AND turn IS NOT NULL"
        query = f"SELECT {COLUMNS} FROM slack_inbox WHERE {done} ORDER BY at DESC LIMIT {RECENT}"
        with self.store.reading() as talk:
            jobs = [job_of(row) for row in talk.execute(query).fetchall()]
        there = [job for job in jobs if job.incoming.channel == channel]
        wanted = [
            job for job in there if (job.incoming.thread_ts == thread_ts if thread_ts else job.incoming.user == user)
        ]
        return wanted[0].key if wanted else ""

    def asker(self, thread: str) -> str:
        """Who asked or chose last on a thread; empty: nobody did."""
        query = (
            "SELECT body FROM slack_inbox WHERE thread = ? AND way NOT IN ('evidence', 'person', 'ticket') "
            "ORDER BY ts DESC LIMIT 1"
        )
        with self.store.reading() as talk:
            rows = talk.execute(query, (thread,)).fetchall()
        return incoming_of(rows[0][0]).user if rows else ""

    def waiting(self) -> int:
        """How many requests are not done."""
        with self.store.reading() as talk:
            return int(talk.execute("SELECT count(*) FROM slack_inbox WHERE state <> 'done'").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """Requests by the way they came in, kept ones only; and how many threads."""
        with self.store.transaction() as talk:
            ways = talk.execute("SELECT way, count(*) FROM slack_inbox GROUP BY way ORDER BY way").fetchall()
            (threads,) = talk.execute("SELECT count(DISTINCT thread) FROM slack_inbox").fetchone()
        return {"threads": int(threads), **{way: int(count) for way, count in ways}}

    def forget_before(self, days: float) -> None:
        """Drop requests that are done and older."""
        with self.store.transaction() as talk:
            talk.execute("DELETE FROM slack_inbox WHERE state = 'done' AND at < ?", (time.time() - days * DAY_S,))


def job_of(row: tuple[str, str, int, int | None, int | None, str | None]) -> TakenRequest:
    body, state, tries, turn_before, turn, live_ts = row
    return TakenRequest(incoming_of(body), state != "waiting", tries, turn_before, turn, live_ts or "")
