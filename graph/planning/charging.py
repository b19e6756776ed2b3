"""What a request costs at most, in node hours and in its site's own unit."""

from __future__ import annotations

import re

from graph.planning.gpus import kinds_named
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.job_parts import MOST_STARTS
from knowledge.types import JobRequest

WORD = re.compile(r"[A-Za-z0-9][\w.-]*")

STARTS = re.compile(r"MOST_STARTS=(\d{1,4})")


def node_hours(request: JobRequest) -> float | None:
    """At most, unrounded; None where the nodes or the time are not known."""
    if not request.nodes or not request.walltime:
        return None
    return request.nodes * walltime_seconds(request.walltime) / 3600


def amount(number: float) -> str:
    """`1,536`, `0.3`, `0.02`: as a price is said; what is too small for one digit keeps its first."""
    text = f"{number:,.1f}" if number >= 0.05 or not number else f"{number:.1g}"
    return text.removesuffix(".0")


def charge_of(request: JobRequest, cluster: Cluster | None) -> float | None:
    """At most and unrounded, in the unit of the cluster's `charge`; None where the facts or the request do not tell,
    as where the kinds of nodes of a queue are charged differently and none is named."""
    if cluster is None or cluster.charge is None or not request.nodes or not request.walltime:
        return None
    queue = cluster.queue(request.queue) if request.queue else cluster.default_queue
    if queue is None or not queue.node_types or request.cpu_only or request.gpus_per_node == 0:
        return None
    kinds = kinds_of(request, queue, cluster)
    charges = {charge_on(kind, queue, request, cluster) for kind in kinds}
    return charges.pop() if len(charges) == 1 else None


def charge_on(kind: str, queue: Queue, request: JobRequest, cluster: Cluster) -> float | None:
    """What the request is charged on that kind of node."""
    if cluster.charge is None:
        return None
    devices = cluster.node_type(kind).gpus.devices_per_node or 0
    each = devices if is_whole(queue, cluster) else request.gpus_per_node or devices
    hours = walltime_seconds(request.walltime or "0") / 3600
    return cluster.charge.amount(hours, request.nodes or 0, each, queue.id, kind)


def kinds_of(request: JobRequest, queue: Queue, cluster: Cluster) -> tuple[str, ...]:
    """The queue's kinds of node that may be meant: one by its id, the scheduler's word for it or its GPU; else all."""
    asked = set(WORD.findall(request.node_type or ""))
    there = [cluster.node_type(name) for name in queue.node_types]
    facts = [(fact.node_types, set(WORD.findall(fact.text))) for fact in cluster.directives if fact.node_types]
    lines = {one.id: set[str]().union(*(words for ids, words in facts if one.id in ids)) for one in there}
    exact = [one.id for one in there if {one.id, one.gpu_type} & asked]
    # Of `gpu&hbm80g` the kind whose line has most of the words.
    chosen = sorted((one.id for one in there if lines[one.id] & asked), key=lambda name: -len(lines[name] & asked))
    named = [one.id for word in asked for one in kinds_named(word, there)]
    return tuple((exact or chosen or named)[:1]) or tuple(queue.node_types)


def is_whole(queue: Queue, cluster: Cluster) -> bool:
    """Whether a job there is charged all GPUs of its nodes."""
    told = cluster.charge.whole_nodes if cluster.charge else ()
    return cluster.whole_nodes or queue.whole_nodes or queue.id in told


def in_site_unit(request: JobRequest, cluster: Cluster | None) -> str:
    """`1,536 SU`: the price as the site counts; empty where that is not known, or is the node hours themselves."""
    charge, hours = charge_of(request, cluster), node_hours(request)
    if charge is None or hours is None or cluster is None or cluster.charge is None:
        return ""
    same = cluster.charge.unit == "node hours" and amount(charge) == amount(hours)
    return "" if same else f"{amount(charge)} {cluster.charge.unit}"


def gpus_shared(request: JobRequest, cluster: Cluster | None) -> int:
    """The GPUs of a node that a job takes where others share it; 0 where it takes or is charged the whole."""
    queue = (cluster.queue(request.queue) if request.queue else cluster.default_queue) if cluster else None
    if cluster is None or queue is None or not queue.node_types or is_whole(queue, cluster) or request.exclusive:
        return 0
    gpus = request.gpus_per_node or 0
    whole = min(cluster.node_type(kind).gpus.per_node or 0 for kind in kinds_of(request, queue, cluster))
    return gpus if gpus < whole else 0


def hours_in_words(hours: float, gpus: int) -> str:
    """`16 node hours`, or where so many GPUs of each node are taken `8 GPU hours`."""
    return f"{amount(hours * gpus)} GPU hours" if gpus else f"{amount(hours)} node hours"


def runs(request: JobRequest, scheduler: str) -> int:
    """How many jobs a request makes at most: links of a chain, tasks of an array, starts of one put back by itself."""
    starts = starts_told(request) if puts_itself_back(request, scheduler) else 1
    tasks = request.array.tasks if request.array and not request.array.files else 1
    return (request.chain or 1) * tasks * starts


def starts_told(request: JobRequest) -> int:
    """How often a job may start: as a change of its own line says, else as the template does."""
    rows = (row for patch in reversed(request.patches) for row in patch.new)
    told = next((found for row in rows if (found := STARTS.fullmatch(row.strip()))), None)
    return int(told[1]) if told else MOST_STARTS


def puts_itself_back(request: JobRequest, scheduler: str) -> bool:
    """Whether the job asks for another start before its limit; what a failed node loses is started again at no price
    that could be told."""
    return bool(request.requeue and request.signal) and scheduler == "slurm"


def all_hours(request: JobRequest, cluster: Cluster) -> float:
    """Node hours of all jobs that a request makes, at most; 0 where its size is not known."""
    return (node_hours(request) or 0) * runs(request, cluster.scheduler)


def further_price(request: JobRequest, cluster: Cluster | None) -> str:
    """`20 starts, up to 960 node hours in all`: the price of all jobs where a request makes several; else empty."""
    if cluster is None or (count := runs(request, cluster.scheduler)) == 1 or not node_hours(request):
        return ""
    only = [puts_itself_back(request, cluster.scheduler), (request.chain or 1) > 1, request.array is not None]
    word = ("starts", "jobs", "tasks")[only.index(True)] if only.count(True) == 1 else "runs"
    own, unit = charge_of(request, cluster), cluster.charge.unit if cluster.charge else ""
    if own is not None and unit.replace("-", " ") == "node hours":  # of a shared node a part
        return f"{count:,} {word}, up to {amount(own * count)} node hours in all"
    as_charged = f" ({amount(own * count)} {unit})" if own is not None and in_site_unit(request, cluster) else ""
    told = hours_in_words(all_hours(request, cluster), gpus_shared(request, cluster))
    return f"{count:,} {word}, up to {told} in all{as_charged}"
