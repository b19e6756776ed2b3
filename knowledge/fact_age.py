"""How old a machine's facts are: those with a date of their own, and the rest by the date of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from knowledge.cluster import Cluster

STALE_DAYS = 120


@dataclass(frozen=True, slots=True)
class OldFact:
    """One fact that is older than STALE_DAYS: what it is about, its date (ISO, maybe only a month) and its page."""

    machine: str
    what: str
    as_of: str
    source: str | None


def stale(cluster: Cluster, today: date) -> list[OldFact]:
    """The machine's facts older than STALE_DAYS; of the file's own date only one line."""
    return [fact for fact in dated(cluster) if (today - latest(fact.as_of)).days > STALE_DAYS]


def dated(cluster: Cluster) -> Iterator[OldFact]:
    yield OldFact(cluster.id, "all facts without a date of their own", cluster.as_of, cluster.docs)
    for queue in cluster.queues:
        if queue.as_of:
            yield OldFact(cluster.id, f"limits of queue {queue.id}", queue.as_of, queue.source)
    for name, software in cluster.software.items():
        if software.as_of:
            yield OldFact(cluster.id, f"software ({name})", software.as_of, software.source)


def latest(as_of: str) -> date:
    """The last day that a year, a month or a day means."""
    year, month, day, *_ = (*(int(part) for part in as_of.split("-")), 0, 0)
    if not month:
        return date(year, 12, 31)
    return date(year, month, day or 28)
