"""An incident: one thing that more people see than chance explains. How it opens, takes in more, and ends.

Values in, values out: what was seen and how often that is usual come from the caller (assistant/storage/incidents.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from graph.incidents.subjects import KINDS, Subject
from graph.incidents.usual import HOUR_S, Counts, expected, usual

# Looked at are the last half hour, two, eight and twenty-four hours.
WINDOWS_S = (1_800.0, 7_200.0, 28_800.0, 86_400.0)
# Two sets of tickets are one incident where so much of the smaller one is in both.
SAME = 0.5
# Of subjects that hold nearly as many people as the largest, the one that names a place is told.
NEARLY = 0.7
# A place that has so much of its tickets on any day is told by something rarer, where that holds nearly as many.
PURE = 0.2
# A site has so many times as many nodes as queues or causes: by chance alone one of them stands out so much sooner.
MANY = {"node": 10, "on_filesystem": 3, "in_queue": 10}
# What comes again so soon after an incident was over belongs to it.
AGAIN_S = 4 * HOUR_S
# Ways to say what went wrong, of which one cause has many; the other kinds are places.
OF_WORDS = ("mark", "news", "signature", "cause")
# A wider subject of the same sort takes the place of the one that is told where it holds so many times as many tickets.
WIDER = 1.25


@dataclass(frozen=True, slots=True)
class Sighting:
    """A ticket or job that showed something: its key, when (s since 1970, UTC), whose (a pseudonym), its cause."""

    key: str
    at: float
    who: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What makes an incident. people: at least so many. chance: that it is none, of each look. over_s: ends after."""

    people: int = 3
    chance: float = 1e-4
    over_s: float = 2 * HOUR_S


@dataclass(frozen=True, slots=True)
class Unusual:
    """A subject that shows more often than usual. usual: how many people an hour would be expected to see it."""

    subject: Subject
    seen: tuple[Sighting, ...]
    usual: float
    chance: float
    pure: bool = True

    @property
    def people(self) -> int:
        return people(self.seen)


@dataclass(frozen=True, slots=True)
class Incident:
    """What is going on, or was. usual: people an hour who see it on any day. also: other subjects of the same tickets.

    closed: when it was over, None while open.
    """

    id: str
    source: str
    subject: Subject
    seen: tuple[Sighting, ...]
    usual: float
    also: tuple[Subject, ...] = ()
    closed: float | None = None

    @property
    def since(self) -> float:
        return self.seen[0].at

    @property
    def last(self) -> float:
        return self.seen[-1].at

    @property
    def people(self) -> int:
        return people(self.seen)


def is_over(incident: Incident, now: float, rules: Rules) -> bool:
    """Whether of late nobody, or no more people than on any day, see it."""
    late = people(one for one in incident.seen if one.at > now - rules.over_s)
    return late <= 2 * incident.usual * rules.over_s / HOUR_S and now - incident.since > rules.over_s


def people(seen: Iterable[Sighting]) -> int:
    return len({one.who for one in seen})


def unusual(
    subject: Subject,
    seen: Sequence[Sighting],
    everything: Sequence[Sighting],
    counts: Counts,
    totals: Counts,
    rules: Rules,
) -> Unusual | None:
    """Whether a subject shows more often than usual up to its last sighting, by the window that says so most plainly.

    seen: of the subject, the newest last, in the last day; everything: all sightings of that time. counts and totals:
    people an hour with the subject, and with anything, in the weeks before.
    """
    if people(seen) < rules.people:
        return None
    at, best = seen[-1].at, None
    for window in WINDOWS_S:
        since = at - window
        mine = tuple(one for one in seen if one.at > since)
        if people(mine) < rules.people:
            continue
        known = usual(subject.kind, counts, totals, at, since)
        whose = {one.who for one in mine}
        others = len({one.who for one in everything if since < one.at <= at} - whose)
        # Who sees the subject would not be here without it: the others tell how busy it is.
        tickets = max((others + 1) / max(0.05, 1 - known.share), expected(totals, since, at))
        chance = known.chance(len(whose), tickets) * MANY.get(subject.kind, 1)
        if best is None or chance < best.chance:
            mean = known.share * tickets
            best = Unusual(subject, mine, mean * HOUR_S / window, chance, mean <= PURE * len(whose))
    return best if best and best.chance < rules.chance else None


def preferred(found: Sequence[Unusual]) -> list[Unusual]:
    """The ones to tell first: of those with nearly the most people one that names a place, then the widest words."""
    most = max((one.people for one in found), default=0)

    def rank(one: Unusual) -> tuple[bool, bool, bool, int, int, float]:
        words, order = one.subject.kind in OF_WORDS, KINDS.index(one.subject.kind)
        return one.people < NEARLY * most, not one.pure, words, -one.people * words, order, one.chance

    return sorted(found, key=rank)


def one_cause(one: Unusual | Incident, other: Incident) -> str:
    """The cause that both are words for; empty where either names a place, or their causes differ."""
    causes = {sighting.cause for sighting in (*one.seen, *other.seen)}
    words = one.subject.kind in OF_WORDS and other.subject.kind in OF_WORDS
    return causes.pop() if words and len(causes) == 1 and causes != {"unknown"} else ""


def is_same(found: Unusual, incident: Incident) -> bool:
    """Whether it is this incident, seen from another side."""
    if found.subject == incident.subject or one_cause(found, incident):
        return True
    known, mine = {one.key for one in incident.seen}, {one.key for one in found.seen}
    return len(known & mine) >= SAME * min(len(known), len(mine))


def grown(incident: Incident, found: Unusual) -> Incident:
    """The incident with what else was found of it. It is open again.

    Told is the place, where there is one, and of two places or two words the wider.
    """
    incident = replace(incident, closed=None)
    if found.subject == incident.subject:
        return with_seen(incident, found.seen)
    known = {one.key for one in incident.seen}
    if (cause := one_cause(found, incident)) and not known & {one.key for one in found.seen}:
        also = tuple(dict.fromkeys((*incident.also, incident.subject, found.subject)))
        both = replace(incident, subject=Subject("cause", cause), usual=incident.usual + found.usual, also=also)
        return with_seen(both, found.seen)
    covered = len(known & {one.key for one in found.seen}) >= NEARLY * len(known)
    was_place, is_place = (kind not in OF_WORDS for kind in (incident.subject.kind, found.subject.kind))
    wider = len(found.seen) >= WIDER * len(known) and is_place == was_place
    if covered and found.pure and (wider or (is_place and not was_place)):
        also = tuple(dict.fromkeys((*incident.also, incident.subject)))
        told = replace(incident, subject=found.subject, usual=found.usual, also=also)
        return with_seen(told, found.seen)
    return replace(incident, also=tuple(dict.fromkeys((*incident.also, found.subject))))


def with_seen(incident: Incident, more: Collection[Sighting]) -> Incident:
    """The incident with further sightings, each once, in order of time."""
    known = {one.key: one for one in incident.seen} | {one.key: one for one in more}
    return replace(incident, seen=tuple(sorted(known.values(), key=lambda one: (one.at, one.key))))
