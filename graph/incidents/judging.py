"""New tickets against what is usual and what is known: which incidents begin, and which grow. Values in, values out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from graph.incidents.incident import (
    AGAIN_S,
    LONGEST_S,
    Crowd,
    Incident,
    Rules,
    Sighting,
    Unusual,
    grown,
    is_same,
    people,
    preferred,
    unusual,
    with_seen,
)
from graph.incidents.subjects import SharedSubject
from graph.incidents.usual import HOUR_S, Counts, Weeks

EVERYTHING = SharedSubject("cause", "")
"""Stands for anything at all where sightings are kept."""


@dataclass(frozen=True, slots=True)
class New:
    """A diagnosis that was not looked at yet. source: where it comes from, tickets or jobs."""

    sighting: Sighting
    source: str
    subjects: tuple[SharedSubject, ...]


class KnownSource(Protocol):
    """What is known of one source, the new tickets included."""

    def seen(self, subject: SharedSubject, since: float) -> list[Sighting]:
        """In order of time."""

    def hours(self, subject: SharedSubject, at: float) -> Counts:
        """Of the weeks before."""


def judge(
    fresh: Sequence[New], memory: KnownSource, known: Sequence[Incident], rules: Rules, now: float
) -> list[Incident]:
    """The incidents that began or grew. known: those of this source that are open or were in the last weeks."""
    late = {one.id: one for one in known if one.closed is None or belongs(one, now)}
    before = dict(late)
    for one in before.values():
        if one.closed is None:
            late[one.id] = with_seen(one, [new.sighting for new in fresh if one.subject in new.subjects])
    look = Look(fresh, memory, known, rules)
    for found in preferred([found for subject in look.last if (found := look.at(subject))]):
        same = next((one for one in sorted(late.values(), key=lambda one: -one.last) if is_same(found, one)), None)
        # What a known incident explains is not told a second time, or as something wider, with some usual trouble.
        alone = look.at(found.subject, {one.key for incident in late.values() for one in incident.seen})
        if same:
            late[same.id] = grown(same, found, wider=alone is not None)
        elif alone:
            # A ticket's key names its channel, and the incident's name stands in the team's message.
            mark = blake2b(alone.seen[-1].key.encode(), digest_size=8).hexdigest()
            source = fresh[0].source
            name = f"{source}-{found.subject.kind}-{int(alone.seen[0].at)}-{mark}"
            late[name] = Incident(name, source, alone.subject, alone.seen, alone.usual)
    return [one for name, one in late.items() if before.get(name) != one]


def belongs(incident: Incident, now: float) -> bool:
    """Whether what comes now belongs to it, though it is over."""
    return not incident.dismissed and incident.last > now - AGAIN_S


class Look:
    """One look at new sightings. last: when each subject of them was seen last."""

    def __init__(self, fresh: Sequence[New], memory: KnownSource, known: Sequence[Incident], rules: Rules) -> None:
        self.memory, self.rules = memory, rules
        self.last = {subject: one.sighting.at for one in fresh for subject in one.subjects}
        oldest = min(self.last.values(), default=0.0) - LONGEST_S
        self.past = [one for one in known if one.closed is not None]
        self.over = {one.key for incident in self.past if incident.last > oldest for one in incident.seen}
        everything, hours = memory.seen(EVERYTHING, oldest), memory.hours(EVERYTHING, oldest)
        self.around = {at: (Crowd(everything, at), Weeks(hours, at)) for at in set(self.last.values())}

    def at(self, subject: SharedSubject, explained: Collection[str] = ()) -> Unusual | None:
        """Whether a subject shows more often than usual, without the sightings that something else explains."""
        at = self.last[subject]
        seen = [one for one in self.memory.seen(subject, at - LONGEST_S) if one.at <= at and one.key not in self.over]
        seen = [one for one in seen if one.key not in explained]
        if people(seen) < self.rules.people:
            return None
        crowd, totals = self.around[at]
        mine = Weeks(without(self.memory.hours(subject, at), self.past, subject), at)
        return unusual(subject, seen, crowd, mine, totals, self.rules.doubting(subject, self.past, at))


def without(counts: Counts, past: Iterable[Incident], subject: SharedSubject) -> Counts:
    """The counts without the hours of past incidents: what was unusual then is no part of what is usual.

    What the team called no incident is.
    """
    ours = (one for one in past if subject in (one.subject, *one.also) and not one.dismissed)
    spans = [(int(one.since // HOUR_S), int(one.last // HOUR_S)) for one in ours]
    return {hour: n for hour, n in counts.items() if not any(first <= hour <= last for first, last in spans)}
