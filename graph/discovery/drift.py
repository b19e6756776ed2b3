"""A known machine's facts beside what its scheduler says today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.discovery.partitions import PartitionFound
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.schedulers.times import spoken_time


@dataclass(frozen=True, slots=True)
class Drift:
    """One fact that the scheduler tells otherwise."""

    queue: str
    says: str


def drift_of(cluster: Cluster, found: Sequence[PartitionFound]) -> tuple[Drift, ...]:
    """What differs: partitions that are gone or closed, limits that changed, and partitions that the facts lack.

    Queues that are no partitions (a QOS) cannot be compared here, and are left out.
    """
    known = {part.name: part for part in found}
    drifts = [
        drift for queue in cluster.queues if (part := known.get(queue.id)) for drift in compared(queue.id, queue, part)
    ]
    names = {name for queue in cluster.queues for name in (queue.id, *queue.names)}
    new = [p.name for p in found if p.name not in names and any(kind.gpus for kind, _ in p.kinds)]
    return (*drifts, *(Drift(name, "a partition with GPUs that the facts do not have") for name in new))


def compared(name: str, queue: Queue, part: PartitionFound) -> list[Drift]:
    """One queue's limits against its partition."""
    drifts = [] if part.up else [Drift(name, "is not open for starting jobs now")]
    wanted = walltime_seconds(queue.max_walltime) if queue.max_walltime else None
    if wanted != (int(part.seconds) if part.seconds else None):
        facts, here = (spoken_time(s) if s else "no limit" for s in (wanted, part.seconds))
        drifts.append(Drift(name, f"time limit: the facts say {facts}, the scheduler {here}"))
    if part.most_nodes is not None and queue.max_nodes != part.most_nodes:
        drifts.append(
            Drift(name, f"most nodes: the facts say {queue.max_nodes or 'no limit'}, the scheduler {part.most_nodes}")
        )
    return drifts
