"""Looks for incidents in the kept diagnoses, and keeps what was found. Several workers may look; one does at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from assistant.storage.database import Database, Transaction
from assistant.storage.diagnoses import insert
from graph.incidents.incident import Incident, Rules, Sighting, dismissed, is_over
from graph.incidents.judging import EVERYTHING, New, judge
from graph.incidents.subjects import SharedSubject, news_of, subjects_of
from graph.incidents.usual import HOUR_S, WEEK_H, WEEKS, Counts
from graph.usecases.seen_before import Ongoing
from knowledge.checked_file import read_stored
from knowledge.job_record import JobRecord

DAY_S = 24 * HOUR_S
# Rows taken at one look; more wait for the next.
AT_ONCE = 500
# Words that so few people an hour had in all the weeks before are new.
HARDLY = 2
# What is older when it comes in, as of a report over last week, is counted and starts no incident.
FRESH_S, KEPT_S = DAY_S, 2 * DAY_S


@dataclass(frozen=True, slots=True)
class ToldIncident:
    """An incident and how far the team's channel knows of it: version as it is, shown there, at the message ts."""

    incident: Incident
    version: int
    shown: int
    ts: str


@dataclass(frozen=True, slots=True)
class SourceMemory:
    """What the tables know of one source, within a transaction."""

    talk: Transaction
    source: str

    def seen(self, subject: SharedSubject, since: float) -> list[Sighting]:
        query = (
            "SELECT key, at, who, cause FROM sightings "
            "WHERE source = ? AND kind = ? AND name = ? AND at > ? ORDER BY at"
        )
        rows = self.talk.execute(query, (self.source, subject.kind, subject.name, since)).fetchall()
        return [Sighting(*row) for row in rows]

    def hours(self, subject: SharedSubject, at: float) -> Counts:
        first = int(at // HOUR_S) - WEEKS * WEEK_H
        query = "SELECT hour, people FROM sighting_hours WHERE source = ? AND kind = ? AND name = ? AND hour >= ?"
        return dict(self.talk.execute(query, (self.source, subject.kind, subject.name, first)).fetchall())


class Incidents:
    """The incidents of one database."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self.database = database
        self.rules = rules

    def look(self, now: float) -> None:
        """Take in what was kept since the last look: open incidents, let them grow, close those that are over."""
        if not self.pending() and not any(is_over(one, now, self.rules) for one in self.open()):
            return
        with self.database.transaction() as talk:
            alone(talk)
            found = take(talk)
            for source in sorted({one.source for one in found}):
                self._judge(talk, source, [one for one in found if one.source == source], now)
            for told in stored(talk, "state = 'open'"):
                if is_over(told.incident, now, self.rules):
                    store(talk, replace(told.incident, closed=now))
            if found:
                forget(talk, now)

    def pending(self) -> bool:
        """Whether there are diagnoses that were not looked at."""
        with self.database.reading() as talk:
            query = "SELECT count(*) FROM (SELECT key FROM diagnoses WHERE noticed = 0 LIMIT 1) AS new"
            return bool(talk.execute(query).fetchone()[0])

    def _judge(self, talk: Transaction, source: str, new: Sequence[New], now: float) -> None:
        """Count what is new, then ask what of it shows more often than usual."""
        note(talk, source, new)
        fresh = [one for one in new if one.sighting.at > now - FRESH_S]
        if fresh:
            weeks_ago = fresh[0].sighting.at - WEEKS * WEEK_H * HOUR_S
            told = stored(talk, "state = 'open' OR last > ?", weeks_ago)
            known = [one.incident for one in told if one.incident.source == source]
            for incident in judge(fresh, SourceMemory(talk, source), known, self.rules, now):
                store(talk, incident)

    def open(self) -> list[Incident]:
        with self.database.reading() as talk:
            return [told.incident for told in stored(talk, "state = 'open'")]

    def dismiss(self, name: str, who: str, now: float) -> bool:
        """Close an open incident as a false message. False: it is over already, or nobody knows of it."""
        with self.database.transaction() as talk:
            alone(talk)
            for told in stored(talk, "id = ? AND state = 'open'", name):
                keys = [one.key for one in told.incident.seen]
                shared = (subject for _, record in records_of(talk, keys).values() for subject in subjects_of(record))
                store(talk, dismissed(told.incident, shared, who, now))
                return True
        return False

    def untold(self) -> list[ToldIncident]:
        """Those whose newest state the team's channel does not show."""
        with self.database.reading() as talk:
            return stored(talk, "version > shown")

    def find(self, name: str) -> ToldIncident | None:
        with self.database.reading() as talk:
            return next(iter(stored(talk, "id = ?", name)), None)

    def shown(self, name: str, version: int, ts: str) -> None:
        """The team's channel shows a version of it, in the message at ts."""
        with self.database.transaction() as talk:
            query = "UPDATE incidents SET shown = ?, ts = ? WHERE id = ? AND shown < ?"
            talk.execute(query, (version, ts, name, version))

    def ongoing(self, subjects: Sequence[SharedSubject], who: str) -> Ongoing | None:
        """The open incident that somebody's failure belongs to, where others see it too."""
        with self.database.reading() as talk:
            now = stored(talk, "state = 'open'")
        for told in now:
            others = {one.who for one in told.incident.seen} - {who}
            if told.incident.subject in subjects and others:
                return Ongoing(len(others), told.incident.since, told.incident.subject, told.shown > 0)
        return None

    def records(self, incident: Incident, most: int) -> list[tuple[Sighting, bool, JobRecord]]:
        """The newest sightings of an incident: each with whether it is private, and its record."""
        with self.database.reading() as talk:
            found = records_of(talk, [one.key for one in incident.seen[-most:]])
        return [(one, *found[one.key]) for one in incident.seen[-most:] if one.key in found]


def alone(talk: Transaction) -> None:
    """From here to the end of the transaction nobody else looks: both databases let one at a time change a row."""
    talk.execute("INSERT INTO incident_watch (id, looks, salt) VALUES (2, 0, '') ON CONFLICT DO NOTHING")
    talk.execute("UPDATE incident_watch SET looks = looks + 1 WHERE id = 2")


def records_of(talk: Transaction, keys: Sequence[str]) -> dict[str, tuple[bool, JobRecord]]:
    """Key -> whether it is private, and the record."""
    found: dict[str, tuple[bool, JobRecord]] = {}
    for start in range(0, len(keys), 200):
        some = keys[start : start + 200]
        query = f"SELECT key, private, record FROM diagnoses WHERE key IN ({', '.join('?' * len(some))})"
        rows = talk.execute(query, some).fetchall()
        read = ((key, bool(private), read_stored(record, JobRecord)) for key, private, record in rows)
        found |= {key: (private, record) for key, private, record in read if record}
    return found


def take(talk: Transaction) -> list[New]:
    """The diagnoses that nobody looked at yet, the oldest first."""
    query = f"SELECT key, at, kind, who, cause, record FROM diagnoses WHERE noticed = 0 ORDER BY at LIMIT {AT_ONCE}"
    rows = talk.execute(query).fetchall()
    for start in range(0, len(rows), 200):
        keys = [row[0] for row in rows[start : start + 200]]
        talk.execute(f"UPDATE diagnoses SET noticed = 1 WHERE key IN ({', '.join('?' * len(keys))})", keys)
    found = []
    for key, at, kind, who, cause, body in rows:
        record = read_stored(body, JobRecord)
        if record is None:
            continue
        news = news_of(record) if is_new(talk, kind, record.mark, at) else ()
        found.append(New(Sighting(key, at, who, cause), kind, (*subjects_of(record), *news)))
    return found


def is_new(talk: Transaction, source: str, mark: str, at: float) -> bool:
    """Whether hardly anybody said this before the last day."""
    query = "SELECT sum(people) FROM sighting_hours WHERE source = ? AND kind = 'mark' AND name = ? AND hour < ?"
    return (talk.execute(query, (source, mark, int((at - DAY_S) // HOUR_S))).fetchone()[0] or 0) <= HARDLY


def note(talk: Transaction, source: str, new: Sequence[New]) -> None:
    """Write down who was seen with what, and count each person once an hour."""
    rows = [
        (source, subject.kind, subject.name, one.sighting.at, one.sighting.key, one.sighting.who, one.sighting.cause)
        for one in new
        for subject in (EVERYTHING, *one.subjects)
    ]
    counted: dict[tuple[str, str, int], int] = {}
    for row in rows:
        _, kind, name, at, key, who, _ = row
        hour = int(at // HOUR_S)
        query = (
            "SELECT count(*) FROM sightings WHERE source = ? AND kind = ? AND name = ? AND at >= ? AND at < ? "
            "AND who = ? AND key <> ?"
        )
        known = talk.execute(query, (source, kind, name, hour * HOUR_S, (hour + 1) * HOUR_S, who, key)).fetchone()[0]
        insert(talk, "sightings", "source, kind, name, at, key, who, cause", [row])
        if not known:
            counted[(kind, name, hour)] = counted.get((kind, name, hour), 0) + 1
    for (of, name, hour), people in counted.items():
        talk.execute(
            "INSERT INTO sighting_hours (source, kind, name, hour, people) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (source, kind, name, hour) DO UPDATE SET people = sighting_hours.people + ?",
            (source, of, name, hour, people, people),
        )


def forget(talk: Transaction, now: float) -> None:
    """Sightings are looked at for a day, their counts for some weeks."""
    talk.execute("DELETE FROM sightings WHERE at < ?", (now - KEPT_S,))
    talk.execute("DELETE FROM sighting_hours WHERE hour < ?", (int(now // HOUR_S) - (WEEKS + 1) * WEEK_H,))


def stored(talk: Transaction, where: str, *values: object) -> list[ToldIncident]:
    rows = talk.execute(f"SELECT version, shown, ts, body FROM incidents WHERE {where} ORDER BY id", values).fetchall()
    read = ((read_stored(body, Incident), version, shown, ts) for version, shown, ts, body in rows)
    return [ToldIncident(incident, *rest) for incident, *rest in read if incident]


def store(talk: Transaction, incident: Incident) -> None:
    """Keep it as it is now; a change raises its version."""
    body, state = json.dumps(asdict(incident)), "open" if incident.closed is None else "closed"
    talk.execute(
        "INSERT INTO incidents (id, state, last, version, body) VALUES (?, ?, ?, 1, ?) ON CONFLICT (id) DO UPDATE SET "
        "state = excluded.state, last = excluded.last, body = excluded.body, version = incidents.version + 1 "
        "WHERE incidents.body <> excluded.body",
        (incident.id, state, incident.last, body),
    )
