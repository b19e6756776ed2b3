"""Failures that people asked about and that reports found, kept in one table: who had this before, and what cured it.

Whose a ticket was is kept as a pseudonym that means nothing outside this database.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal

from assistant.storage.database import Database, Transaction
from assistant.storage.past_cases import past_cases, words_by_id
from graph.incidents.likeness import bands, text_id, words_of
from graph.usecases.seen_before import SeenBefore
from knowledge.job_record import JobRecord

ROWS_AT_ONCE = 200
KEPT = "key, thread, at, kind, who, place, private, said, asked, cause, signature, record, says, fix"
Sees = Literal["nobody", "mine", "place", "all"]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks and where: `who` as the door knows the person, `place` a channel, `link` to the thread.

    private: nobody else is told of it. sees: whose past tickets are shown: none, the person's own, the place's as well,
    or all that are not private.
    """

    who: str = ""
    place: str = ""
    link: str = ""
    private: bool = True
    sees: Sees = "mine"


@dataclass(frozen=True, slots=True)
class KeptFailure:
    """A failure as it is kept. record.user is a pseudonym, record.source a link, record.ended when it was asked.

    question: in the person's words. kind: what a person asked, or a job that a report read.
    """

    key: str
    thread: str
    kind: Literal["ticket", "job"]
    record: JobRecord
    says: str = ""
    fix: tuple[str, ...] = ()
    question: str = ""
    place: str = ""
    private: bool = False


class Diagnoses:
    """The table. Any thread or process may call."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @cached_property
    def salt(self) -> str:
        """What makes pseudonyms this site's own; made once a database."""
        with self.database.reading() as talk:
            if row := talk.execute("SELECT salt FROM incident_watch WHERE id = 1").fetchone():
                return str(row[0])
        with self.database.transaction() as talk:
            made = (1, 0, secrets.token_hex(16))
            talk.execute("INSERT INTO incident_watch (id, looks, salt) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", made)
            return str(talk.execute("SELECT salt FROM incident_watch WHERE id = 1").fetchone()[0])

    def pseudonym(self, who: str) -> str:
        """The same for the same person; nobody else's."""
        return blake2b(who.encode(), key=self.salt.encode(), digest_size=8).hexdigest()

    def put(self, tickets: Iterable[KeptFailure]) -> None:
        """Keep them; those that are there already stay as they are."""
        with self.database.transaction() as talk:
            add(talk, tickets)

    def rate(self, thread: str, turn: int, rating: str, cure: str = "", cause: str = "") -> None:
        """What a person said of the answers of a turn: helpful or wrong, and perhaps the right cause and the cure."""
        with self.database.transaction() as talk:
            talk.execute(
                "UPDATE diagnoses SET rating = ?, cure = CASE WHEN ? = '' THEN cure ELSE ? END, "
                "cause = CASE WHEN ? = '' THEN cause ELSE ? END WHERE thread = ? AND key LIKE ?",
                (rating, cure, cure, cause, cause, thread, f"{thread}:{turn}:%"),
            )

    def like(self, ticket: KeptFailure, sees: Sees, limit: int = 3) -> SeenBefore:
        """Past tickets that are like this one and that its asker may see, the most telling first.

        By the telling line, by lines nearly the same, by the signature, and by the words of the question.
        """
        if sees == "nobody":
            return SeenBefore()
        with self.database.reading() as talk:
            return past_cases(talk, ticket, sees, limit)

    def counts(self) -> dict[str, int]:
        """How many tickets and jobs are kept."""
        with self.database.reading() as talk:
            rows = talk.execute("SELECT kind, count(*) FROM diagnoses GROUP BY kind").fetchall()
        return {kind: int(number) for kind, number in rows}


def add(talk: Transaction, tickets: Iterable[KeptFailure]) -> None:
    """Keep tickets within a transaction. Rows go many at a time: a server is a round trip away."""
    tickets = list(tickets)
    texts = {
        text_id(words): words for t in tickets for words in (words_of(t.record.mark), words_of(t.question)) if words
    }
    unknown = texts.keys() - words_by_id(talk, texts.keys()).keys()
    insert(talk, "diagnoses", KEPT, [row_of(ticket) for ticket in tickets])
    insert(talk, "texts", "id, words", [(one, " ".join(sorted(texts[one]))) for one in sorted(unknown)])
    insert(talk, "text_bands", "band, text", [(band, one) for one in sorted(unknown) for band in bands(texts[one])])


def insert(talk: Transaction, table: str, columns: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Rows that are there already stay as they are."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        places = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        values = [value for row in some for value in row]
        talk.execute(f"INSERT INTO {table} ({columns}) VALUES {places} ON CONFLICT DO NOTHING", values)


def row_of(ticket: KeptFailure) -> tuple[Any, ...]:
    record = ticket.record
    at = record.ended if record.ended is not None else time.time()
    said, asked = text_id(words_of(record.mark)), text_id(words_of(ticket.question))
    return (
        ticket.key, ticket.thread, at, ticket.kind, record.user, ticket.place, int(ticket.private), said, asked,
        record.cause, record.signature, json.dumps(asdict(record)), ticket.says, json.dumps(ticket.fix),
    )  # fmt: skip


def named(ticket: KeptFailure, asker: Asker, who: str) -> KeptFailure:
    """The ticket with its asker's pseudonym and place."""
    record = replace(ticket.record, user=who, source=asker.link)
    return replace(ticket, record=record, place=asker.place, private=asker.private)
