"""Failures that people asked about and that reports found, kept in one table: who had this before, and what cured it.

Whose a ticket was is kept as a pseudonym that means nothing outside this database.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any, Literal

from assistant.storage.database import Database, Talk
from graph.incidents.likeness import bands, likeness, text_id, words_of
from graph.usecases.seen_before import Past, Seen
from knowledge.job_record import JobRecord

# What decides whether a row is shown. What is shown of it, which is long, is read for those only.
JUDGED = "key, thread, at, who, place, private, said, asked, cause, signature, rating, cure"
KEPT = "key, thread, at, kind, who, place, private, said, asked, cause, signature, record, says, fix"
Sees = Literal["nobody", "mine", "place", "all"]
# How many rows are looked at, newest first: of a text, of a band, of texts that are nearly the same. Rows that nobody
# rated are looked at only for the texts most alike: of them one is shown at most.
OF_TEXT, OF_BAND, NEAR_TEXTS, NEAREST = 20, 200, 12, 3
# Under this two texts are not alike. A question is put in more ways than a log's line.
LIKE_LINE, LIKE_QUESTION = 0.5, 0.6
# What each likeness is worth: the same line, a line like it, the same signature, a question like it.
SAME_LINE, NEAR_LINE, SAME_SIGNATURE, NEAR_QUESTION = 1.0, 0.8, 0.4, 0.6
RATED, CURED, OTHER_CAUSE = 0.2, 0.3, -0.5
AKIN, LEAST = 0.3, 0.4
COUNTED = 1_000


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
class Ticket:
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

    def put(self, tickets: Iterable[Ticket]) -> None:
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

    def like(self, ticket: Ticket, sees: Sees, limit: int = 3) -> Seen:
        """Past tickets that are like this one and that its asker may see, the most telling first.

        By the telling line, by lines nearly the same, by the signature, and by the words of the question.
        """
        if sees == "nobody":
            return Seen()
        line, question = words_of(ticket.record.mark), words_of(ticket.question)
        with self.database.reading() as talk:
            times, last = count(talk, text_id(line), ticket.thread) if line else (0, 0.0)
            near_to = [(column, near(talk, words, least)) for column, words, least in
                       (("said", line, LIKE_LINE), ("asked", question, LIKE_QUESTION))]  # fmt: skip
            found = scored(talk, rated(talk, near_to, ticket.record.signature), line, question, ticket, sees)
            if sum(row[10] != "wrong" for _, row in found) < limit:
                found += scored(talk, unrated(talk, near_to), line, question, ticket, sees)
            best = list(islice(apart(sorted(found, key=lambda one: (-one[0], -one[1][2]))), limit))
            whole = whole_of(talk, [row[0] for _, row in best])
        cases = tuple(past_of(row, whole[row[0]], ticket, score) for score, row in best if row[0] in whole)
        return Seen(times, last, cases, COUNTED)

    def counts(self) -> dict[str, int]:
        """How many tickets and jobs are kept."""
        with self.database.reading() as talk:
            rows = talk.execute("SELECT kind, count(*) FROM diagnoses GROUP BY kind").fetchall()
        return {kind: int(number) for kind, number in rows}


Scored = tuple[float, tuple[Any, ...]]


def apart(found: Sequence[Scored]) -> Iterator[Scored]:
    """One case of each thread."""
    threads: set[str] = set()
    for score, row in found:
        if row[1] not in threads:
            threads.add(row[1])
            yield score, row


def add(talk: Talk, tickets: Iterable[Ticket]) -> None:
    """Keep tickets within a transaction. Rows go many at a time: a server is a round trip away."""
    tickets = list(tickets)
    texts = {
        text_id(words): words for t in tickets for words in (words_of(t.record.mark), words_of(t.question)) if words
    }
    unknown = texts.keys() - words_by_id(talk, texts.keys()).keys()
    insert(talk, "diagnoses", KEPT, [row_of(ticket) for ticket in tickets])
    insert(talk, "texts", "id, words", [(one, " ".join(sorted(texts[one]))) for one in sorted(unknown)])
    insert(talk, "text_bands", "band, text", [(band, one) for one in sorted(unknown) for band in bands(texts[one])])


def insert(talk: Talk, table: str, columns: str, rows: Sequence[tuple[Any, ...]], at_once: int = 200) -> None:
    """Rows that are there already stay as they are."""
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        places = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        values = [value for row in some for value in row]
        talk.execute(f"INSERT INTO {table} ({columns}) VALUES {places} ON CONFLICT DO NOTHING", values)


def row_of(ticket: Ticket) -> tuple[Any, ...]:
    record = ticket.record
    at = record.ended if record.ended is not None else time.time()
    said, asked = text_id(words_of(record.mark)), text_id(words_of(ticket.question))
    return (
        ticket.key, ticket.thread, at, ticket.kind, record.user, ticket.place, int(ticket.private), said, asked,
        record.cause, record.signature, json.dumps(asdict(record)), ticket.says, json.dumps(ticket.fix),
    )  # fmt: skip


def record_from(text: str) -> JobRecord:
    """A record from its JSON; a key of a newer version is left out."""
    told: dict[str, Any] = json.loads(text)
    known: dict[str, Any] = {name: value for name, value in told.items() if name in JobRecord.__slots__}
    return JobRecord(**{name: as_stored(value) for name, value in known.items()})


def as_stored(value: Any) -> Any:
    """JSON knows no tuples."""
    return tuple(value) if isinstance(value, list) else value


def count(talk: Talk, said: int, thread: str) -> tuple[int, float]:
    """How often the same line was seen on other threads, and when last. Answered by the index, but for one's own."""
    own = talk.execute("SELECT at FROM diagnoses WHERE thread = ? AND said = ?", (thread, said)).fetchall()
    newest = f"SELECT at FROM diagnoses WHERE said = ? ORDER BY at DESC LIMIT {COUNTED + len(own)}"
    others = Counter(at for (at,) in talk.execute(newest, (said,)).fetchall()) - Counter(at for (at,) in own)
    return min(COUNTED, others.total()), float(max(others, default=0.0))


Near = Sequence[tuple[str, Sequence[int]]]
"""Column (said or asked), and the ids of texts that are like the ticket's, the most alike first."""


def rated(talk: Talk, near_to: Near, signature: str) -> list[tuple[Any, ...]]:
    """Of each text, and of the signature, the newest rows of which somebody said how good the answer was."""
    wanted = [(column, text) for column, texts in near_to for text in texts]
    return newest_of(talk, [*wanted, *([("signature", signature)] if signature else [])], " AND rating <> ''")


def unrated(talk: Talk, near_to: Near) -> list[tuple[Any, ...]]:
    return newest_of(
        talk, [(column, text) for column, texts in near_to for text in texts[:NEAREST]], " AND rating = ''"
    )


def newest_of(talk: Talk, wanted: Sequence[tuple[str, int | str]], which: str) -> list[tuple[Any, ...]]:
    """The newest rows that have a value in a column, of each pair, at one question: a server is a round trip away."""
    if not wanted:
        return []
    each = (
        f"SELECT {JUDGED} FROM (SELECT {JUDGED} FROM diagnoses WHERE {column} = ?{which} "
        f"ORDER BY at DESC LIMIT {OF_TEXT}) AS r{n}"
        for n, (column, _) in enumerate(wanted)
    )
    rows = talk.execute(" UNION ALL ".join(each), [value for _, value in wanted]).fetchall()
    return list({row[0]: row for row in rows}.values())


def scored(
    talk: Talk,
    rows: Sequence[tuple[Any, ...]],
    line: frozenset[str],
    question: frozenset[str],
    ticket: Ticket,
    sees: Sees,
) -> list[Scored]:
    """Of other threads the rows that the asker may see and that tell enough, with how much."""
    rows = [row for row in rows if row[1] != ticket.thread and may_see(row, ticket, sees)]
    words = words_by_id(talk, {row[6] for row in rows} | {row[7] for row in rows})
    said = [(row, likeness(line, words.get(row[6], ())), likeness(question, words.get(row[7], ()))) for row in rows]
    found = [(score_of(row, ticket, like_line, like_question), row) for row, like_line, like_question in said]
    return [one for one in found if one[0] > LEAST]


def whole_of(talk: Talk, keys: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Key -> record, answer and steps, as they are stored."""
    if not keys:
        return {}
    query = f"SELECT key, record, says, fix FROM diagnoses WHERE key IN ({', '.join('?' * len(keys))})"
    return {key: (record, says, fix) for key, record, says, fix in talk.execute(query, keys).fetchall()}


def near(talk: Talk, words: frozenset[str], least: float) -> list[int]:
    """The ids of kept texts like this one, the most alike first."""
    numbers = bands(words)
    if not numbers:
        return []
    each = (
        f"SELECT text FROM (SELECT text FROM text_bands WHERE band = ? LIMIT {OF_BAND}) AS b{n}"
        for n in range(len(numbers))
    )
    query = f"SELECT text FROM ({' UNION ALL '.join(each)}) AS met GROUP BY text ORDER BY count(*) DESC LIMIT {OF_BAND}"
    met = [text for (text,) in talk.execute(query, numbers).fetchall()]
    known = words_by_id(talk, [*met, text_id(words)])
    alike = {text: likeness(words, other) for text, other in known.items()}
    return sorted((text for text in alike if alike[text] >= least), key=lambda text: -alike[text])[:NEAR_TEXTS]


def words_by_id(talk: Talk, ids: Iterable[int]) -> dict[int, frozenset[str]]:
    """The words of texts, of those that are kept."""
    wanted, found = sorted(set(ids) - {0}), dict[int, frozenset[str]]()
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        rows = talk.execute(f"SELECT id, words FROM texts WHERE id IN ({', '.join('?' * len(some))})", some).fetchall()
        found |= {number: frozenset(words.split()) for number, words in rows}
    return found


def may_see(row: tuple[Any, ...], ticket: Ticket, sees: Sees) -> bool:
    """One's own always; of others never what is private."""
    who, place, private = row[3:6]
    if who == ticket.record.user:
        return True
    return not private and (sees == "all" or (sees == "place" and place == ticket.place))


def score_of(row: tuple[Any, ...], ticket: Ticket, line: float, question: float) -> float:
    """How much a past ticket tells of this one."""
    score = SAME_LINE if line == 1.0 else NEAR_LINE * line if line >= LIKE_LINE else 0.0
    score = max(score, NEAR_QUESTION * question if question >= LIKE_QUESTION else 0.0)
    # A signature may be as wide as `any Python exception`: without words in common it tells nothing.
    score += SAME_SIGNATURE if row[9] and row[9] == ticket.record.signature and line >= AKIN else 0.0
    if not score:
        return 0.0
    score += OTHER_CAUSE if row[8] != ticket.record.cause and ticket.record.cause != "unknown" else 0.0
    rating, cure = row[10], row[11]
    return score + RATED * {"helpful": 1, "wrong": -1}.get(rating, 0) + (CURED if cure else 0.0)


def past_of(row: tuple[Any, ...], whole: tuple[str, str, str], ticket: Ticket, score: float) -> Past:
    thread, at, who, cause, rating, cure = row[1], row[2], row[3], row[8], row[10], row[11]
    record, says, fix = whole
    link = record_from(record).source
    return Past(thread, at, cause, says, tuple(json.loads(fix)), link, rating, cure, score, who == ticket.record.user)


def named(ticket: Ticket, asker: Asker, who: str) -> Ticket:
    """The ticket with its asker's pseudonym and place."""
    record = replace(ticket.record, user=who, source=asker.link)
    return replace(ticket, record=record, place=asker.place, private=asker.private)
