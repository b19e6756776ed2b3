"""Hours against a machine's queues: which queue takes so many nodes, how long at once, and how many jobs in a chain."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from knowledge.cluster import Cluster, Queue, walltime_seconds

USUAL = ("production", "preempt", "special", "shared")
# What the facts note of a queue that its site opens to those who ask it, or to some projects.
ON_REQUEST = re.compile(r"(?i)\brequest|\bonly for\b|\bprojects? of class\b|\ballocations\b|\binternal\b")


@dataclass(frozen=True, slots=True)
class JobChain:
    """jobs of at most limit_h hours each in that queue; limit_h None: the facts name none."""

    queue: Queue
    limit_h: float | None
    jobs: int


def longest_hours(queue: Queue, nodes: int) -> float | None:
    """The longest job of that many nodes in hours; None: not known, or the queue does not take so many."""
    limit = queue.max_walltime
    for step in queue.limits:
        if step.min_nodes <= nodes and (step.max_nodes is None or nodes <= step.max_nodes):
            limit = step.max_walltime
    return walltime_seconds(limit) / 3600 if limit else None


def job_nodes(queue: Queue, each: int) -> int:
    """The most nodes of one job there, by its limits of nodes and of GPUs (each of them has so many); 0: not known."""
    of_gpus = queue.max_gpus // each if queue.max_gpus else 0
    return min(filter(None, (queue.max_nodes, of_gpus)), default=0)


def takes(queue: Queue, nodes: int, gpus: int | None = None) -> bool:
    """Whether a job of that size may go there."""
    inside = queue.min_nodes <= nodes <= (queue.max_nodes or nodes)
    return inside and (not queue.max_gpus or gpus is None or gpus <= queue.max_gpus)


def holds(queue: Queue, node_type: str, nodes: int, gpus: int | None) -> bool:
    """Whether a job of that size on that kind of node (empty: of any) may go there."""
    return (not node_type or node_type in queue.node_types) and takes(queue, nodes, gpus)


def chains(
    cluster: Cluster,
    node_type: str,
    nodes: int,
    hours: float,
    gpus: int | None = None,
    *,
    part: bool = False,
    named: str | None = None,
) -> list[JobChain]:
    """The queues for those nodes with the number of jobs each needs, the usual queue first. part: the job wants some
    GPUs of a node, for which a queue of shared nodes comes first; named: the queue that was, which may be one that is
    opened on request.
    """
    found = []
    for queue in cluster.queues:
        closed = queue.purpose == "special" and ON_REQUEST.search(queue.note or "") and queue.id != named
        if node_type in queue.node_types and takes(queue, nodes, gpus) and queue.purpose in USUAL and not closed:
            limit = longest_hours(queue, nodes)
            found.append(JobChain(queue, limit, max(1, math.ceil(hours / limit)) if limit else 1))
    order = {purpose: at for at, purpose in enumerate(USUAL)}
    shared = {chain.queue.id for chain in found if part and chain.queue.purpose == "shared"}
    return sorted(
        found,
        key=lambda chain: (
            chain.queue.id not in shared,
            not chain.queue.default,
            order[chain.queue.purpose],
            chain.jobs,
        ),
    )
