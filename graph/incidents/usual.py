"""How often a thing usually shows, and how likely chance alone shows it so often now.

Of N tickets a subject is in a share of them. Its share is learnt from the weeks before, where the last weeks count more
(exponential weights) and the same hours of the week on their own where enough is known of them. Given the share and how
many tickets come now, the number that show the subject is negative binomial: a Poisson number whose rate is itself only
known so well. Counting against the tickets of now, not of the clock, a busy day raises the bar for everything alike.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from graph.incidents.subjects import Kind

HOUR_S, WEEK_H = 3600.0, 168
WEEKS = 8
# A ticket of so many hours ago counts half.
HALF_LIFE_H = 14 * 24.0
# A kind's share before anything is known: so many in so many tickets. A site has few queues and causes, many nodes:
# one queue may well have half of all tickets.
BEFORE: dict[Kind, tuple[float, float]] = {
    "node": (0.5, 100.0),
    "filesystem": (0.5, 10.0),
    "module": (0.5, 100.0),
    "on_filesystem": (0.5, 50.0),
    "in_queue": (0.5, 50.0),
    "queue": (0.5, 1.0),
    "mark": (0.5, 100.0),
    "news": (0.5, 20.0),
    "signature": (0.5, 20.0),
    "cause": (0.5, 5.0),
}
# Rates change from day to day by a half or so, whatever the past says of their mean: no shape is larger.
STEADIEST = 5.0
# So many weighted sightings, of so many tickets, in an hour of the week (and the hours beside it) tell of that hour;
# one or two are chance.
SEEN_IN_HOUR, ENOUGH_IN_HOUR, ENOUGH_WEEKS = 2.5, 20.0, 2
LONGEST_TAIL = 400

Counts = Mapping[int, float]
"""Hour since 1970 (UTC) -> how many people."""


@dataclass(frozen=True, slots=True)
class Usual:
    """A share of tickets as far as it is known: mean seen/exposure. seen: weighted sightings; exposure: of tickets."""

    seen: float
    exposure: float

    @property
    def share(self) -> float:
        return self.seen / self.exposure

    def chance(self, people: int, tickets: float) -> float:
        """How likely so many people or more show it among so many tickets, if nothing is unusual. 0 to 1."""
        mean, shape = self.share * tickets, min(self.seen, STEADIEST)
        if people <= 0 or mean <= 0:
            return 1.0 if people <= 0 else 0.0
        grows = mean / (shape + mean)
        log = math.lgamma(shape + people) - math.lgamma(shape) - math.lgamma(people + 1)
        term = math.exp(log + shape * math.log1p(-grows) + people * math.log(grows))
        total = 0.0
        for count in range(people, people + LONGEST_TAIL):
            total += term
            term *= grows * (shape + count) / (count + 1)
            if term < total * 1e-9:
                break
        return min(1.0, total)


class Weeks:
    """People an hour in the weeks before a time `at`, the newer the more. Their sums are asked often, so made once."""

    def __init__(self, counts: Counts, at: float) -> None:
        self.counts, self.now = counts, int(at // HOUR_S)
        self.hours = sorted(counts)
        weighted = [float(counts[hour] * 2.0 ** ((hour - self.now) / HALF_LIFE_H)) for hour in self.hours]
        self._sums = [0.0, *accumulate(weighted)]
        self._here = [(hour, n) for hour, n in zip(self.hours, weighted, strict=True) if beside(hour, self.now)]

    def before(self, last: int) -> tuple[float, float]:
        """Of all hours before the hour `last`, and of those that are this hour of the week."""
        return self._sums[bisect_left(self.hours, last)], sum(n for hour, n in self._here if hour < last)

    def expected(self, since: float, until: float) -> float:
        """How many such hours of the week bring; 0 where fewer than two weeks are known."""
        if not self.hours or (until // HOUR_S - self.hours[0]) < ENOUGH_WEEKS * WEEK_H:
            return 0.0
        hours = range(int(since // HOUR_S), int(until // HOUR_S) + 1)
        return sum(self._mean(hour) * _part(hour, since, until) for hour in hours)

    def _mean(self, hour: int) -> float:
        """The mean of the same hour in the weeks before."""
        weeks = [hour - WEEK_H * n for n in range(1, WEEKS + 1) if hour - WEEK_H * n >= self.hours[0]]
        return sum(self.counts.get(week, 0.0) for week in weeks) / len(weeks) if weeks else 0.0


def usual(kind: Kind, subject: Weeks, totals: Weeks, before: float) -> Usual:
    """What is usual at the time that the weeks were before, from the hours before `before` (seconds since 1970).

    The larger of the share at all hours and that at this hour of the week: what always comes on Monday is no news.
    """
    last, (prior, of) = int(before // HOUR_S), BEFORE[kind]
    (seen, here_seen), (exposure, here_exposure) = subject.before(last), totals.before(last)
    always = Usual(prior + seen, of + exposure)
    if here_seen < SEEN_IN_HOUR or here_exposure < ENOUGH_IN_HOUR:
        return always
    here = Usual(here_seen + always.share * ENOUGH_IN_HOUR, here_exposure + ENOUGH_IN_HOUR)
    return here if here.share > always.share else always


def beside(hour: int, other: int) -> bool:
    """Whether two hours are the same of the week, or next to it."""
    return (hour - other + 1) % WEEK_H <= 2


def _part(hour: int, since: float, until: float) -> float:
    """The part of an hour that lies within."""
    begins = hour * HOUR_S
    return max(0.0, min(until, begins + HOUR_S) - max(since, begins)) / HOUR_S
