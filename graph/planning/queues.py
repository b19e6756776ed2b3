"""Which queue takes the job; and when none does, the nearest things that one would take."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.types import Alternative, Assumption, JobRequest, Refusal

USUAL_WALLTIME = "01:00:00"
OPEN = "YOUR_"
# Queues that are taken without being named. The others cost more, can be preempted, or need a permission.
UNNAMED = ("production", "debug")
# Queues that are a way round a limit, and what they cost beside the hours.
TOLD_OF = {
    "preempt": "may be stopped for others, needs checkpoints",
    "special": "with rules of its own, perhaps a permission: see its page",
}
# What people call a kind of queue, where the machine's own has another name.
CALLED = {
    "preempt": r"pre-?empt\w*|scaveng\w*|spot|low-?prio\w*|standby",
    "debug": r"debug\w*|dev\w*|test\w*|quick",
    "interactive": r"interactive",
    "shared": r"shared?",
    "production": r"regular|normal|production|prod|batch|standard|default|main|usual",
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A queue, the walltime, and what was assumed."""

    queue: Queue
    walltime: str
    assumptions: tuple[Assumption, ...] = ()


def choose_queue(request: JobRequest, cluster: Cluster, node_type: str, nodes: int, ranks: int) -> Slot | Refusal:
    """The queue that was named, or the usual one that takes this job. ranks: devices a node."""
    taken: list[Assumption] = []
    named = cluster.queue(request.queue) if request.queue else None
    candidates = [named] if named else in_order(cluster, node_type, nodes, ranks)
    walltime = request.walltime
    if walltime is None:
        walltime = usual_walltime(candidates, nodes)
        enough = "an hour is enough for a first run" if walltime == USUAL_WALLTIME else "the longest that queue allows"
        taken.append(Assumption("walltime", walltime, f"not said; {enough}", None))
    for queue in candidates:
        if takes(queue, nodes, walltime, ranks):
            if named is None and is_named(queue, cluster):
                taken.append(Assumption("queue", queue.id, why_this(queue, cluster), queue.source))
            return Slot(queue, walltime, tuple(taken))
    others = in_order(cluster, node_type, nodes, ranks) if named else []
    others += [one for one in cluster.queues if one.purpose in TOLD_OF and node_type in one.node_types and one != named]
    return no_queue(candidates, cluster, nodes, walltime, ranks, others)


def is_named(queue: Queue, cluster: Cluster) -> bool:
    """Whether a job names its queue there at all; some sites choose it by what is asked for."""
    return any("{queue}" in one.text for one in cluster.directives) or bool(queue.directives)


def of_purpose(name: str, cluster: Cluster, node_type: str) -> Queue | None:
    """The queue that `preemptible` or `regular` means there, best for that kind of node; None where none does."""
    purpose = next((one for one, words in CALLED.items() if re.fullmatch(words, name.lower())), None)
    found = [queue for queue in cluster.queues if queue.purpose == purpose and queue.node_types]
    found.sort(key=lambda queue: (node_type not in queue.node_types, not queue.default))
    return found[0] if found else None


def in_order(cluster: Cluster, node_type: str, nodes: int, ranks: int) -> list[Queue]:
    """The queues of a node type, best first: a shared one for part of a node, the default, then production, debug."""
    fitting = [queue for queue in cluster.queues if node_type in queue.node_types]
    devices = cluster.node_type(node_type).gpus.devices_per_node
    part = nodes == 1 and devices is not None and ranks < devices
    shared = [queue for queue in fitting if queue.purpose == "shared" and part]
    rest = [queue for queue in fitting if queue.default or queue.purpose in UNNAMED]
    rest.sort(key=lambda queue: (not queue.default, queue.purpose != "production"))
    return [*shared, *rest] or fitting


def takes(queue: Queue, nodes: int, walltime: str, ranks: int) -> bool:
    """Whether a job of so many nodes, so long, with so many GPUs a node is inside the queue's limits."""
    if nodes < queue.min_nodes or (queue.max_nodes is not None and nodes > queue.max_nodes):
        return False
    if queue.max_gpus is not None and nodes * ranks > queue.max_gpus:
        return False
    if queue.min_walltime is not None and walltime_seconds(walltime) < walltime_seconds(queue.min_walltime):
        return False
    limit = longest(queue, nodes)
    return limit is None or walltime_seconds(walltime) <= walltime_seconds(limit)


def longest(queue: Queue, nodes: int) -> str | None:
    """The longest walltime at that node count; None: no limit is known."""
    for limit in queue.limits:
        if limit.min_nodes <= nodes and (limit.max_nodes is None or nodes <= limit.max_nodes):
            return limit.max_walltime
    return queue.max_walltime


def usual_walltime(candidates: list[Queue], nodes: int) -> str:
    """An hour, or less where the first queue that takes the nodes allows less."""
    for queue in candidates:
        if queue.min_nodes <= nodes and (queue.max_nodes is None or nodes <= queue.max_nodes):
            limit = longest(queue, nodes)
            if limit is not None and walltime_seconds(limit) < walltime_seconds(USUAL_WALLTIME):
                return limit
            break
    return USUAL_WALLTIME


def why_this(queue: Queue, cluster: Cluster) -> str:
    if queue.id.startswith(OPEN):
        return "which one is not known here: put yours in its place, or say *queue NAME*"
    if queue.default:
        on_gpus = any(cluster.node_type(name).gpus.model for name in queue.node_types)
        return f"the usual {'GPU queue' if on_gpus else 'queue without GPUs'} of {cluster.title}"
    return f"the usual queue does not take this job; {queue.id} ({queue.purpose}) does"


def no_queue(
    candidates: list[Queue], cluster: Cluster, nodes: int, walltime: str, ranks: int, others: list[Queue]
) -> Refusal:
    """No queue takes it: what each would take instead, nearest first. others: queues beside the one that was named."""
    same = f"{plural(nodes, 'node')} for {walltime}"
    others = [one for one in others if one.purpose != "special" or one.max_walltime or one.limits]
    ways = [
        (1.0, Alternative(f"{same} (queue {other.id}{told_of(other)})", (("queue", other.id),)))
        for other in others
        if takes(other, nodes, walltime, ranks)
    ]
    for queue in candidates:
        ways += near_ways(queue, nodes, walltime, ranks)
    ways.sort(key=lambda way: way[0])
    # What a way below does is not denied in the first sentence.
    which = "no usual queue" if any(takes(other, nodes, walltime, ranks) for other in others) else "no queue"
    says = f"On {cluster.title} {which} takes {plural(nodes, 'node')} for {walltime}."
    if len(candidates) == 1:
        says = f"Queue {candidates[0].id} of {cluster.title} does not take {plural(nodes, 'node')} for {walltime}."
    why = "; ".join(limits_in_words(queue) for queue in candidates[:6])
    unique = {way.says: way for _, way in reversed(ways)}
    nearest = [way for _, way in ways if unique.get(way.says) is way]
    return Refusal(says, why, candidates[0].source if candidates else None, tuple(nearest[:4]))


def told_of(queue: Queue) -> str:
    """What has to be known of a queue that nobody gets unasked."""
    return f": {TOLD_OF[queue.purpose]}" if queue.purpose in TOLD_OF else ""


def near_ways(queue: Queue, nodes: int, walltime: str, ranks: int) -> list[tuple[float, Alternative]]:
    """The same nodes for less time, and the same time on other nodes, with how far off each is (a ratio)."""
    ways = []
    least = queue.min_walltime
    if least is not None and walltime_seconds(walltime) < walltime_seconds(least) and takes(queue, nodes, least, ranks):
        ways.append(
            (0.5, Alternative(f"{plural(nodes, 'node')} for {least} (queue {queue.id})", (("walltime", least),)))
        )
    limit = longest(queue, nodes)
    over = limit is not None and walltime_seconds(walltime) > walltime_seconds(limit)
    if limit is not None and over and takes(queue, nodes, limit, ranks):
        off = walltime_seconds(walltime) / max(1, walltime_seconds(limit))
        says = f"{plural(nodes, 'node')} for {limit} (queue {queue.id})"
        ways.append((off, Alternative(says, (("walltime", limit), ("queue", queue.id)))))
    bounds = {queue.min_nodes, queue.max_nodes, *(n for lim in queue.limits for n in (lim.min_nodes, lim.max_nodes))}
    bounds.add(queue.max_gpus // ranks if queue.max_gpus else None)
    fitting = [other for other in bounds - {None, nodes} if other and takes(queue, other, walltime, ranks)]
    fewer, more = [n for n in fitting if n < nodes], [n for n in fitting if n > nodes]
    for other in (*sorted(fewer)[-1:], *sorted(more)[:1]):
        off = max(other, nodes) / min(other, nodes)
        says = f"{plural(other, 'node')} for {walltime} (queue {queue.id})"
        ways.append((off, Alternative(says, (("nodes", other), ("queue", queue.id), ("total_gpus", None)))))
    return ways


def limits_in_words(queue: Queue) -> str:
    most = (
        f"{queue.min_nodes} to {queue.max_nodes} nodes"
        if queue.max_nodes
        else f"from {plural(queue.min_nodes, 'node')}"
    )
    if queue.min_nodes == queue.max_nodes:
        most = plural(queue.min_nodes, "node")
    if queue.max_gpus:
        most += f" and {queue.max_gpus} GPUs"
    if queue.min_walltime:
        most += f", at least {queue.min_walltime}"
    if queue.limits:
        steps = ", ".join(f"{lim.min_nodes}-{lim.max_nodes or '…'} nodes {lim.max_walltime}" for lim in queue.limits)
        return f"{queue.id}: {steps}"
    return f"{queue.id}: {most}, {queue.max_walltime or 'no known limit'}"


def plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
