"""Looks for incidents in the kept diagnoses, and keeps what was found. Several workers may look; one does at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from assistant.storage.database import Database, Talk
from assistant.storage.diagnoses import insert, record_from
from graph.incidents.incident import (
    AGAIN_S,
    Incident,
    Rules,
    Sighting,
    Unusual,
    grown,
    is_over,
    is_same,
    preferred,
    unusual,
    with_seen,
)
from graph.incidents.subjects import Subject, news_of, subjects_of
from graph.incidents.usual import HOUR_S, WEEK_H, WEEKS, Counts
from graph.usecases.seen_before import Ongoing

DAY_S = 24 * HOUR_S
# Rows taken at one look; more wait for the next.
AT_ONCE = 500
# What is older when it comes in, as of a report over last week, is counted and starts no incident.
# Words that so few people an hour had in all the weeks before are new.
HARDLY = 2
FRESH_S, KEPT_S = DAY_S, 2 * DAY_S
EVERYTHING = Subject("cause", "")
"""Stands for anything at all in the tables of sightings."""


@dataclass(frozen=True, slots=True)
class Told:
    """An incident and how far the team's channel knows of it: version as it is, shown there, at the message ts."""

    incident: Incident
    version: int
    shown: int
    ts: str


@dataclass(frozen=True, slots=True)
class New:
    """A kept diagnosis that was not looked at yet."""

    sighting: Sighting
    source: str
    subjects: tuple[Subject, ...]


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

    def _judge(self, talk: Talk, source: str, new: Sequence[New], now: float) -> None:
        """Count what is new, then ask of each subject whether it shows more often than usual."""
        note(talk, source, new)
        fresh = [one for one in new if one.sighting.at > now - FRESH_S]
        for one in stored(talk, "state = 'open'"):
            mine = [n.sighting for n in fresh if one.incident.source == source and one.incident.subject in n.subjects]
            if mine:
                store(talk, with_seen(one.incident, mine))
        for found in preferred(list(self._unusual(talk, source, fresh))):
            late = [t.incident for t in stored(talk, "state = 'open' OR last > ?", now - AGAIN_S)]
            ours = sorted((incident for incident in late if incident.source == source), key=lambda its: -its.last)
            known = next((incident for incident in ours if is_same(found, incident)), None)
            if known:
                store(talk, grown(known, found))
            else:
                name = f"{source}-{found.subject.kind}-{int(found.seen[0].at)}-{found.seen[-1].key}"
                store(talk, Incident(name, source, found.subject, found.seen, found.usual))

    def _unusual(self, talk: Talk, source: str, fresh: Sequence[New]) -> Iterable[Unusual]:
        """The subjects of new sightings that show more often than usual."""
        last = {subject: one.sighting.at for one in fresh for subject in one.subjects}
        if not last:
            return
        oldest = min(last.values()) - DAY_S
        past = stored(talk, "state = 'closed' AND last > ?", oldest - WEEKS * WEEK_H * HOUR_S)
        over = {one.key for t in past for one in t.incident.seen if t.incident.last > oldest}
        everything, totals = seen_of(talk, source, EVERYTHING, oldest), hours_of(talk, source, EVERYTHING, oldest)
        for subject, at in last.items():
            seen = [one for one in seen_of(talk, source, subject, at - DAY_S) if one.at <= at and one.key not in over]
            if len(seen) < self.rules.people:
                continue
            counts = without(hours_of(talk, source, subject, at), [t.incident for t in past], subject)
            if found := unusual(subject, seen, everything, counts, totals, self.rules):
                yield found

    def open(self) -> list[Incident]:
        with self.database.reading() as talk:
            return [told.incident for told in stored(talk, "state = 'open'")]

    def untold(self) -> list[Told]:
        """Those whose newest state the team's channel does not show."""
        with self.database.reading() as talk:
            return stored(talk, "version > shown")

    def find(self, name: str) -> Told | None:
        with self.database.reading() as talk:
            return next(iter(stored(talk, "id = ?", name)), None)

    def shown(self, name: str, version: int, ts: str) -> None:
        """The team's channel shows a version of it, in the message at ts."""
        with self.database.transaction() as talk:
            query = "UPDATE incidents SET shown = ?, ts = ? WHERE id = ? AND shown < ?"
            talk.execute(query, (version, ts, name, version))

    def ongoing(self, subjects: Sequence[Subject], who: str) -> Ongoing | None:
        """The open incident that somebody's failure belongs to, where others see it too."""
        with self.database.reading() as talk:
            now = stored(talk, "state = 'open'")
        for told in now:
            others = {one.who for one in told.incident.seen} - {who}
            if told.incident.subject in subjects and others:
                return Ongoing(len(others), told.incident.since, told.incident.subject, told.shown > 0)
        return None

    def records(self, incident: Incident, most: int) -> list[tuple[Sighting, bool, Any]]:
        """The newest sightings of an incident: each with whether it is private, and its record."""
        keys = [one.key for one in incident.seen[-most:]]
        marks = ", ".join("?" * len(keys))
        with self.database.reading() as talk:
            rows = talk.execute(f"SELECT key, private, record FROM diagnoses WHERE key IN ({marks})", keys).fetchall()
        found = {key: (bool(private), record_from(record)) for key, private, record in rows}
        return [(one, *found[one.key]) for one in incident.seen[-most:] if one.key in found]


def alone(talk: Talk) -> None:
    """From here to the end of the transaction nobody else looks: both databases let one at a time change a row."""
    talk.execute("INSERT INTO incident_watch (id, looks, salt) VALUES (2, 0, '') ON CONFLICT DO NOTHING")
    talk.execute("UPDATE incident_watch SET looks = looks + 1 WHERE id = 2")


def take(talk: Talk) -> list[New]:
    """The diagnoses that nobody looked at yet, the oldest first."""
    query = f"SELECT key, at, kind, who, cause, record FROM diagnoses WHERE noticed = 0 ORDER BY at LIMIT {AT_ONCE}"
    rows = talk.execute(query).fetchall()
    for start in range(0, len(rows), 200):
        keys = [row[0] for row in rows[start : start + 200]]
        talk.execute(f"UPDATE diagnoses SET noticed = 1 WHERE key IN ({', '.join('?' * len(keys))})", keys)
    found = []
    for key, at, kind, who, cause, body in rows:
        record = record_from(body)
        news = news_of(record) if is_new(talk, kind, record.mark, at) else ()
        found.append(New(Sighting(key, at, who, cause), kind, (*subjects_of(record), *news)))
    return found


def is_new(talk: Talk, source: str, mark: str, at: float) -> bool:
    """Whether hardly anybody said this before the last day."""
    query = "SELECT sum(people) FROM sighting_hours WHERE source = ? AND kind = 'mark' AND name = ? AND hour < ?"
    return (talk.execute(query, (source, mark, int((at - DAY_S) // HOUR_S))).fetchone()[0] or 0) <= HARDLY


def note(talk: Talk, source: str, new: Sequence[New]) -> None:
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


def seen_of(talk: Talk, source: str, subject: Subject, since: float) -> list[Sighting]:
    query = (
        "SELECT key, at, who, cause FROM sightings WHERE source = ? AND kind = ? AND name = ? AND at > ? ORDER BY at"
    )
    return [Sighting(*row) for row in talk.execute(query, (source, subject.kind, subject.name, since)).fetchall()]


def hours_of(talk: Talk, source: str, subject: Subject, at: float) -> Counts:
    first = int(at // HOUR_S) - WEEKS * WEEK_H
    query = "SELECT hour, people FROM sighting_hours WHERE source = ? AND kind = ? AND name = ? AND hour >= ?"
    return dict(talk.execute(query, (source, subject.kind, subject.name, first)).fetchall())


def without(counts: Counts, past: Iterable[Incident], subject: Subject) -> Counts:
    """The counts without the hours of past incidents: what was unusual then is no part of what is usual."""
    spans = [(int(one.since // HOUR_S), int(one.last // HOUR_S)) for one in past if subject in (one.subject, *one.also)]
    return {hour: n for hour, n in counts.items() if not any(first <= hour <= last for first, last in spans)}


def forget(talk: Talk, now: float) -> None:
    """Sightings are looked at for a day, their counts for some weeks."""
    talk.execute("DELETE FROM sightings WHERE at < ?", (now - KEPT_S,))
    talk.execute("DELETE FROM sighting_hours WHERE hour < ?", (int(now // HOUR_S) - (WEEKS + 1) * WEEK_H,))


def stored(talk: Talk, where: str, *values: object) -> list[Told]:
    rows = talk.execute(f"SELECT version, shown, ts, body FROM incidents WHERE {where} ORDER BY id", values).fetchall()
    return [Told(incident_from(body), version, shown, ts) for version, shown, ts, body in rows]


def store(talk: Talk, incident: Incident) -> None:
    """Keep it as it is now; a change raises its version."""
    body, state = json.dumps(asdict(incident)), "open" if incident.closed is None else "closed"
    talk.execute(
        "INSERT INTO incidents (id, state, last, version, body) VALUES (?, ?, ?, 1, ?) ON CONFLICT (id) DO UPDATE SET "
        "state = excluded.state, last = excluded.last, body = excluded.body, version = incidents.version + 1 "
        "WHERE incidents.body <> excluded.body",
        (incident.id, state, incident.last, body),
    )


def incident_from(text: str) -> Incident:
    body = json.loads(text)
    return Incident(
        body["id"],
        body["source"],
        Subject(**body["subject"]),
        tuple(Sighting(**one) for one in body["seen"]),
        body["usual"],
        tuple(Subject(**one) for one in body["also"]),
        body["closed"],
    )
