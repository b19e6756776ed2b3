"""Failures that no cause explains, put together by how alike their telling lines are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from knowledge.job_record import JobRecord

# Two lines above this share most of their words (0 to 100).
ALIKE = 75.0
# More different lines than this are compared with the largest groups only.
MOST_LEADERS = 2_000


@dataclass(frozen=True, slots=True)
class Likes:
    """Jobs whose lines are alike; the first one is the example."""

    jobs: tuple[JobRecord, ...]


def alike(records: Iterable[JobRecord]) -> list[Likes]:
    """The groups, the largest first. The commonest line leads a group; others join the leader most like them."""
    same: dict[str, list[JobRecord]] = defaultdict(list)
    for one in records:
        same[one.mark].append(one)
    leaders: list[str] = []
    groups: dict[str, list[JobRecord]] = {}
    for mark, jobs in sorted(same.items(), key=lambda item: (-len(item[1]), item[0])):
        near = process.extractOne(mark, leaders, scorer=fuzz.token_set_ratio, score_cutoff=ALIKE) if mark else None
        if near:
            groups[near[0]] += jobs
        else:
            groups[mark] = list(jobs)
            leaders = [*leaders, mark][:MOST_LEADERS] if mark else leaders
    return sorted((Likes(tuple(jobs)) for jobs in groups.values()), key=lambda group: -len(group.jobs))
