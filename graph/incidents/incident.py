"""An incident: one thing that more people see than chance explains. How it opens, takes in more, and ends.

Values in, values out: what was seen and how often that is usual come from the caller (assistant/storage/incidents.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from graph.incidents.subjects import KINDS, Kind, SharedSubject
from graph.incidents.usual import HOUR_S, Weeks, usual

# Looked at is the time in which the last 3, 4, 5, ... people came: of at least half an hour, at most a day.
LONGEST_S, SHORTEST_S, STEP = 86_400.0, 1_800.0, 1.1
# Two sets of tickets are one incident where so much of the smaller one is in both.
SAME = 0.5
# Of subjects that hold nearly as many people as the largest, the one that names a place is told.
NEARLY = 0.7
# A place that has so much of its tickets on any day is told by something rarer, where that holds nearly as many.
PURE = 0.2
# How many of a kind a site has, about: by chance alone one of many stands out so much sooner.
MANY: dict[Kind, int] = {
    "node": 200,
    "filesystem": 10,
    "module": 50,
    "on_filesystem": 50,
    "in_queue": 100,
    "queue": 10,
    "mark": 200,
    "news": 5,
    "signature": 50,
    "cause": 30,
}
# What comes again so soon after an incident was over belongs to it.
AGAIN_S = 4 * HOUR_S
# Ways to say what went wrong, of which one cause has many; the other kinds are places.
OF_WORDS = ("mark", "news", "signature", "cause")
# After a false message a thing is told again only where so many times as many people see it, with so much less chance.
MORE_PEOPLE, LESS_CHANCE = 2, 0.01


@dataclass(frozen=True, slots=True)
class Sighting:
    """A ticket or job that showed something: its key, when (s since 1970, UTC), whose (a pseudonym), its cause."""

    key: str
    at: float
    who: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """What makes an incident. people: at least so many. over_s: ends after.

    chance: how many messages a day chance alone may send, of each kind of subject. doubt_s: how long a false message is
    remembered.
    """

    people: int = 3
    chance: float = 0.003
    over_s: float = 2 * HOUR_S
    doubt_s: float = 14 * 24 * HOUR_S

    def doubting(self, subject: SharedSubject, past: Iterable[Incident], at: float) -> Rules:
        """The rules for a subject: stricter where the team said of late that it was no incident."""
        false = [one for one in past if one.dismissed and (one.closed or 0.0) > at - self.doubt_s]
        people = [MORE_PEOPLE * one.people for one in false if subject in (one.subject, *one.also)]
        return replace(self, people=max(people), chance=self.chance * LESS_CHANCE) if people else self


@dataclass(frozen=True, slots=True)
class Unusual:
    """A subject that shows more often than usual. usual: how many people an hour would be expected to see it.

    mean: how many in the time that is looked at. chance: how many such messages a day chance alone would send.
    """

    subject: SharedSubject
    seen: tuple[Sighting, ...]
    usual: float
    mean: float
    chance: float

    @property
    def people(self) -> int:
        return people(self.seen)

    @property
    def beyond(self) -> float:
        """How many of the people are more than usual, cautiously."""
        return self.people - 2 * self.mean

    @property
    def pure(self) -> bool:
        return self.mean <= PURE * self.people


@dataclass(frozen=True, slots=True)
class Incident:
    """What is going on, or was. usual: people an hour who see it on any day. also: other subjects of the same tickets.

    closed: when it was over, None while open. dismissed: who of the team said that it is none, as Slack knows them.
    """

    id: str
    source: str
    subject: SharedSubject
    seen: tuple[Sighting, ...]
    usual: float
    also: tuple[SharedSubject, ...] = ()
    closed: float | None = None
    dismissed: str = ""

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


def dismissed(incident: Incident, shared: Iterable[SharedSubject], who: str, now: float) -> Incident:
    """The incident as a false message, with all words for its tickets, so that none of them tells it anew.

    shared: the subjects of each of its tickets, one after another.
    """
    often = Counter(subject for subject in shared if subject.kind in OF_WORDS)
    also = [subject for subject, count in often.items() if count >= SAME * len(incident.seen)]
    names = tuple(dict.fromkeys((*incident.also, *also)))
    return replace(incident, closed=now, dismissed=who, also=names)


def people(seen: Iterable[Sighting]) -> int:
    return len({one.who for one in seen})


class Crowd:
    """All people who are seen with anything up to a time `at`."""

    def __init__(self, everything: Iterable[Sighting], at: float) -> None:
        self._last = sorted({one.who: one.at for one in everything if one.at <= at}.values())

    def since(self, since: float) -> int:
        """How many of them from that time on."""
        return len(self._last) - bisect_left(self._last, since)


def unusual(
    subject: SharedSubject, seen: Sequence[Sighting], crowd: Crowd, mine: Weeks, totals: Weeks, rules: Rules
) -> Unusual | None:
    """Whether a subject shows more often than usual up to its last sighting, by the time that says so most plainly.

    seen: of the subject, the newest last, in the last day; crowd: with anything, in that time. mine and totals: people
    an hour with the subject, and with anything, in the weeks before.

    Judged is how many such messages a day chance alone would send: so many people within such a time may come at any
    part of a day, and of any subject of the kind (a scan statistic; the times overlap, hence times their number).
    """
    best: Unusual | None = None
    at = seen[-1].at
    for run in runs(seen, rules.people):
        since, count = run[0].at, people(run)
        known = usual(subject.kind, mine, totals, since)
        others = crowd.since(since) - count
        lasts = max(SHORTEST_S, at - since)
        # Who sees the subject would not be here without it: the others tell how busy it is.
        tickets = max((others + 1) / max(0.05, 1 - known.share), totals.expected(at - lasts, at))
        a_day = known.chance(count, tickets) * count * LONGEST_S / lasts * MANY[subject.kind]
        if best is None or a_day < best.chance:
            mean = known.share * tickets
            best = Unusual(subject, run, mean * HOUR_S / lasts, mean, a_day)
    return best if best and best.chance < rules.chance else None


def runs(seen: Sequence[Sighting], fewest: int) -> Iterator[tuple[Sighting, ...]]:
    """The last sightings, of ever more people up to all: at least so many; by steps, as every run costs a look."""
    whose, wanted = set[str](), float(fewest)
    for start in range(len(seen) - 1, -1, -1):
        whose.add(seen[start].who)
        if len(whose) >= wanted or (start == 0 and len(whose) >= fewest):
            yield tuple(seen[start:])
            wanted = max(len(whose) + 1, len(whose) * STEP)


def preferred(found: Sequence[Unusual]) -> list[Unusual]:
    """The ones to tell first: of those with nearly the most people one that names a place, then the widest words."""
    most = max((one.beyond for one in found), default=0)

    def rank(one: Unusual) -> tuple[bool, bool, bool, float, int, float]:
        words, order = one.subject.kind in OF_WORDS, KINDS.index(one.subject.kind)
        return one.beyond < NEARLY * most, not one.pure, words, -one.beyond * words, order, one.chance

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


def grown(incident: Incident, found: Unusual, wider: bool) -> Incident:
    """The incident with what else was found of it. It is open again. wider: found is unusual without it, too.

    Told is the place, where there is one, and of two places or two words the wider.
    """
    incident = replace(incident, closed=None)
    if found.subject == incident.subject:
        return with_seen(incident, found.seen)
    known = {one.key for one in incident.seen}
    if (cause := one_cause(found, incident)) and not known & {one.key for one in found.seen}:
        also = tuple(dict.fromkeys((*incident.also, incident.subject, found.subject)))
        both = replace(incident, subject=SharedSubject("cause", cause), usual=incident.usual + found.usual, also=also)
        return with_seen(both, found.seen)
    covered = len(known & {one.key for one in found.seen}) >= NEARLY * len(known)
    was_place, is_place = (kind not in OF_WORDS for kind in (incident.subject.kind, found.subject.kind))
    if covered and found.pure and ((wider and is_place == was_place) or (is_place and not was_place)):
        also = tuple(dict.fromkeys((*incident.also, incident.subject)))
        told = replace(incident, subject=found.subject, usual=found.usual, also=also)
        return with_seen(told, found.seen)
    return replace(incident, also=tuple(dict.fromkeys((*incident.also, found.subject))))


def with_seen(incident: Incident, more: Collection[Sighting]) -> Incident:
    """The incident with further sightings, each once, in order of time."""
    known = {one.key: one for one in incident.seen} | {one.key: one for one in more}
    return replace(incident, seen=tuple(sorted(known.values(), key=lambda one: (one.at, one.key))))
