"""A known machine's facts beside what its scheduler says today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.discovery.found import QueueFound
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.schedulers.times import spoken_time


@dataclass(frozen=True, slots=True)
class Drift:
    """One fact that the scheduler tells otherwise."""

    queue: str
    says: str


def drift_of(cluster: Cluster, found: Sequence[QueueFound]) -> tuple[Drift, ...]:
    """What differs: queues that are closed, limits that changed, GPUs of a node, and queues that the facts lack.

    Queues of the facts that the scheduler does not list (a QOS of Slurm's) cannot be compared here, and are left out.
    """
    known = {queue.name: queue for queue in found}
    drifts = [
        drift
        for queue in cluster.queues
        if (here := known.get(queue.id))
        for drift in (*compared(queue, here), *compared_gpus(cluster, queue, here))
    ]
    names = {name for queue in cluster.queues for name in (queue.id, *queue.names)}
    new = [queue.name for queue in found if queue.name not in names and queue.has_gpus]
    return (*drifts, *(Drift(name, "a queue with GPUs that the facts do not have") for name in new))


def compared(queue: Queue, here: QueueFound) -> list[Drift]:
    """One queue's limits against those of the scheduler."""
    drifts = [] if here.up else [Drift(queue.id, "is not open for starting jobs now")]
    wanted = walltime_seconds(queue.max_walltime) if queue.max_walltime else None
    if wanted != (int(here.seconds) if here.seconds else None):
        facts, today = (spoken_time(s) if s else "no limit" for s in (wanted, here.seconds))
        drifts.append(Drift(queue.id, f"time limit: the facts say {facts}, the scheduler {today}"))
    if here.most_nodes is not None and queue.max_nodes != here.most_nodes:
        drifts.append(
            Drift(
                queue.id, f"most nodes: the facts say {queue.max_nodes or 'no limit'}, the scheduler {here.most_nodes}"
            )
        )
    return drifts


def compared_gpus(cluster: Cluster, queue: Queue, here: QueueFound) -> list[Drift]:
    """The GPUs of the queue's nodes, where no number of them is the one in the facts."""
    facts = {
        count
        for name in queue.node_types
        if (gpus := cluster.node_type(name).gpus).per_node
        for count in (gpus.per_node, gpus.devices_per_node)
    }
    today = sorted({kind.gpus for kind, _ in here.kinds if kind.gpus})
    if not facts or not today or facts & set(today):
        return []
    told = " or ".join(map(str, today))
    return [Drift(queue.id, f"GPUs of a node: the facts say {max(n for n in facts if n)}, the scheduler {told}")]
