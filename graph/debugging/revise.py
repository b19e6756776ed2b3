"""From a diagnosis to what the next plan does differently: request fields with their new values, None: to be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graph.extraction.walltime import clock
from graph.planning.queues import longest as longest_in
from knowledge.cluster import Cluster, walltime_seconds
from knowledge.types import Diagnosis, JobRequest

Change = tuple[tuple[str, str | int | None], ...]
# What each strategy gives way to when a GPU's memory does not suffice.
SHARD_MORE = {"none": "fsdp", "ddp": "fsdp", "zero1": "zero2", "zero2": "zero3"}


def revise(diagnosis: Diagnosis, cluster: Cluster, request: JobRequest) -> Diagnosis:
    """The diagnosis with `change` filled in, for a job that was asked for like this. No change: nothing safe is known.

    `request` is what was asked before (or read from the script that failed).
    """
    rule = RULES.get(diagnosis.cause)
    change = rule(cluster, request) if rule else ()
    return replace(diagnosis, change=change)


def _more_time(cluster: Cluster, request: JobRequest) -> Change:
    """Twice the time, as far as the queue allows; no change where it is at its limit already."""
    if request.walltime is None:
        return ()
    asked = walltime_seconds(request.walltime)
    most = longest(cluster, request)
    wanted = min(2 * asked, most) if most else 2 * asked
    return (("walltime", clock(wanted)),) if wanted > asked else ()


def longest(cluster: Cluster, request: JobRequest) -> int | None:
    """The longest time in seconds that the job's queue allows for its nodes; None where the facts do not tell."""
    queue = (cluster.queue(request.queue) if request.queue else None) or cluster.default_queue
    limit = longest_in(queue, request.nodes or 1)
    return walltime_seconds(limit) if limit else None


def _fit(cluster: Cluster, request: JobRequest) -> Change:
    """Time and GPUs a node cut to what the machine allows."""
    change: list[tuple[str, str | int | None]] = []
    most = longest(cluster, request)
    if request.walltime and most and walltime_seconds(request.walltime) > most:
        change.append(("walltime", clock(most)))
    devices = max((node.gpus.devices_per_node or 0 for node in cluster.node_types), default=0)
    if request.gpus_per_node and devices and request.gpus_per_node > devices:
        change.append(("gpus_per_node", devices))
    return tuple(change)


def _shard_more(cluster: Cluster, request: JobRequest) -> Change:
    """More of the model's state spread over the ranks; more nodes where it is all spread already."""
    strategy = request.strategy or "ddp"
    if request.framework == "deepspeed" and strategy in ("ddp", "none"):
        return (("strategy", "zero3"),)
    if strategy in SHARD_MORE:
        return (("strategy", SHARD_MORE[strategy]),)
    return (("nodes", 2 * request.nodes),) if request.nodes else ()


def _devices(cluster: Cluster, request: JobRequest) -> Change:
    counts = {node.gpus.devices_per_node for node in cluster.node_types} - {None}
    fits = counts and request.gpus_per_node not in counts
    return (("gpus_per_node", max(c for c in counts if c)),) if fits and request.gpus_per_node else ()


def _ask(field: str) -> Callable[[Cluster, JobRequest], Change]:
    return lambda cluster, request: ((field, None),)


RULES: dict[str, Callable[[Cluster, JobRequest], Change]] = {
    "sched-time-limit": _more_time,
    "sched-over-limit": _fit,
    "sched-bad-account": _ask("account"),
    "sched-bad-queue": _ask("queue"),
    "sched-preempted": _ask("queue"),
    "gpu-oom": _shard_more,
    "gpu-not-visible": _devices,
    "user-arguments": _ask("args"),
}
