"""Causes that came up in the last week: not seen in the time before, or far more often than before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.reporting.rates import binomial_tail, holm
from knowledge.job_record import JobRecord

WEEK = 7 * 86_400
LEVEL = 0.01
# Fewer are no pattern; and so many times the usual rate are needed to call it a rise.
FEWEST, TIMES = 3, 2.0


@dataclass(frozen=True, slots=True)
class Rise:
    """What is new or risen. mark: empty for a whole cause, else the line that is new among those of a known cause."""

    cause: str
    mark: str
    jobs: tuple[JobRecord, ...]
    """Those of the last week."""
    before: int
    """Jobs in the time before."""
    chance: float
    """Of such a week at the rate of before, corrected for all causes that were compared."""
    users: int

    @property
    def new(self) -> bool:
        return self.before == 0

    @property
    def first(self) -> float:
        return min(one.ended or 0.0 for one in self.jobs)


def risen(records: Sequence[JobRecord], now: float) -> list[Rise]:
    """What rose in the week before `now`, the surest first. records: all that are known, of healthy jobs too."""
    dated = [one for one in records if one.ended is not None]
    late = sum(1 for one in dated if _late(one, now))
    if not late or late == len(dated):
        return []
    share = late / len(dated)
    failed = [one for one in dated if one.failed]
    causes = _tested(failed, share, now, lambda one: (one.cause, ""))
    known = {rise.cause for rise in causes}
    marks = _tested((one for one in failed if one.cause not in known), share, now, lambda one: (one.cause, one.mark))
    return sorted([*causes, *(rise for rise in marks if rise.new)], key=lambda rise: rise.chance)


def _late(record: JobRecord, now: float) -> bool:
    return (record.ended or 0.0) > now - WEEK


def _tested(records: Iterable[JobRecord], share: float, now: float, key: object) -> list[Rise]:
    """Counts of users and days, not of jobs: one user's storm of failures is no trend."""
    assert callable(key)
    groups: dict[tuple[str, str], list[JobRecord]] = defaultdict(list)
    for one in records:
        groups[key(one)].append(one)
    kept = {name: same for name, same in groups.items() if len(same) >= FEWEST}
    counted = {name: (_episodes(same, now, True), _episodes(same, now, False)) for name, same in kept.items()}
    chances = holm([binomial_tail(late, late + before, share) for late, before in counted.values()])
    found = []
    for (name, same), chance in zip(kept.items(), chances, strict=True):
        late, before = counted[name]
        recent = tuple(one for one in same if _late(one, now))
        users = len({one.user for one in recent})
        rate = late / share > TIMES * before / (1 - share)
        if chance <= LEVEL and len(recent) >= FEWEST and rate and (users > 1 or not recent[0].user):
            found.append(Rise(*name, recent, len(same) - len(recent), chance, users))
    return found


def _episodes(records: Iterable[JobRecord], now: float, late: bool) -> int:
    chosen = (one for one in records if _late(one, now) is late)
    return len({(one.user or one.job, int((one.ended or 0) // 86_400)) for one in chosen})
