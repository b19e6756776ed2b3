"""What cures what: the one table from a cause to an edit of the person's script, a change of the request, and advice.

Remedies stand in the order of their price. One that costs (node hours, another queue, a program that has to be written
for it) is offered with its price; one that costs nothing is done. Where a person's own script is there, its text is
edited; else the request is changed and the script written anew. The rules of `check` carry their own edits and changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace

from graph.debugging import script_edits as text
from graph.debugging.script_edits import Edit, FailedScript
from graph.extraction.batch_numbers import batch_numbers, named, samples_of, shrink_batch
from graph.extraction.script import read_script
from graph.extraction.script_record import ScriptRecord, record_of
from graph.extraction.walltime import clock
from graph.planning.charging import (
    all_hours,
    amount,
    charge_of,
    further_price,
    gpus_shared,
    hours_in_words,
    in_site_unit,
    node_hours,
)
from graph.planning.queues import longest as longest_in
from knowledge.cluster import Cluster, Queue, walltime_seconds
from knowledge.types import SERVERS, Diagnosis, Finding, JobRequest, Offer

Change = tuple[tuple[str, str | int | None], ...]
Changing = Callable[[Cluster, JobRequest], Change]
# What each strategy gives way to when a GPU's memory does not suffice.
SHARD_MORE = {"none": "fsdp", "ddp": "fsdp", "zero1": "zero2", "zero2": "zero3"}
FIELDS = frozenset(one.name for one in fields(JobRequest)) - {"heard", "machine", "source_machine"}
# GPUs a node follow from any of these: a mere warning does not overrule what was counted so.
COUNTS = frozenset(("nodes", "gpus_per_node", "total_gpus"))


@dataclass(frozen=True, slots=True)
class Remedy:
    """One cure. edit: of a script's text; change: of the request. One of them is given, or both."""

    edit: Callable[[FailedScript], Edit] | None = None
    change: Changing | None = None


def case_of(script: str, diagnosis: Diagnosis, cluster: Cluster | None) -> FailedScript:
    """A script as the edits want it. Raises InputError."""
    read = read_script(script)
    return FailedScript(script, read, record_of(read), diagnosis, cluster)


def request_of(record: ScriptRecord) -> JobRequest:
    """What a script asks for, as a request."""
    known = {"pytorch", "deepspeed", "accelerate"}
    return JobRequest(
        machine=record.machine,
        framework=record.framework if record.framework in known else None,  # type: ignore[arg-type]
        strategy=record.strategy,  # type: ignore[arg-type]
        nodes=record.nodes,
        gpus_per_node=record.gpus_per_node,
        walltime=record.walltime,
        queue=record.queue,
        account=record.account,
        args=record.args,
    )


def remedies_for(diagnosis: Diagnosis) -> tuple[Remedy, ...]:
    """The cures of a cause. None changes the training where it was the evaluation that did not fit."""
    return () if dict(diagnosis.facts).get("stage") else REMEDIES.get(diagnosis.cause, ())


def revise(diagnosis: Diagnosis, cluster: Cluster, request: JobRequest) -> Diagnosis:
    """The diagnosis with the first change of the request that its cause has for this job; empty where none is known."""
    changes = (one.change(cluster, request) for one in remedies_for(diagnosis) if one.change)
    return replace(diagnosis, change=next(filter(None, changes), ()))


def offers(diagnosis: Diagnosis, cluster: Cluster | None, request: JobRequest) -> tuple[Offer, ...]:
    """Every change of the request that would cure it, cheapest first, with its price (empty: it costs nothing)."""
    found = []
    for remedy in remedies_for(diagnosis):
        change = remedy.change(cluster, request) if remedy.change and cluster else ()
        if change and all(value is not None for _, value in change):
            wanted = changed_request(request, dict(change))
            found.append(Offer(says(request, change), price(request, wanted, cluster), change))
    return tuple(found)


def says(request: JobRequest, change: Change) -> str:
    """A change in words: `8 nodes instead of 4`, `requeue`, `no constraint instead of hbm80g`."""
    parts = []
    for name, value in change:
        old = getattr(request, name)
        if value is None or isinstance(value, bool):
            spoken = f"{'' if value else 'no '}{name.replace('_', ' ')}"
            parts.append(f"{spoken} instead of {old}" if old and not isinstance(old, bool) else spoken)
            continue
        word = f"{value} node{'s' * (value != 1)}" if name == "nodes" else f"{name.replace('_', ' ')} {value}"
        parts.append(f"{word} instead of {old}" if old is not None and name != "args" else word)
    return ", ".join(parts)


def price(before: JobRequest, after: JobRequest, cluster: Cluster | None = None) -> str:
    """What a change costs: node hours, another queue or account, a program written for it. Empty: nothing.

    cluster: the machine, whose own unit the hours are told in as well, and whose queues are compared.
    """
    parts, was, now = [], node_hours(before), node_hours(after)
    shared = gpus_shared(after, cluster) if gpus_shared(before, cluster) == gpus_shared(after, cluster) else 0
    if was is not None and now is not None:
        larger = (after.nodes or 0) > (before.nodes or 0)
        if now > was and amount(now) != amount(was):
            told = f"up to {hours_in_words(now, shared)} instead of {amount(was * (shared or 1))}"
            parts.append(f"{told}{in_unit(before, after, cluster)}")
        elif larger or longer(before, after):
            of_it = f"{after.nodes} nodes at once" if larger else "a longer job"
            same = f"up to {hours_in_words(now, shared)}, before {amount(was * (shared or 1))}"
            parts.append(f"{of_it}, which may wait longer ({same})")
    elif (after.nodes or 0) > (before.nodes or 0) > 0:
        parts.append(f"{(after.nodes or 0) / (before.nodes or 1):g} times the node hours")
    elif longer(before, after):
        parts.append(f"up to {longer(before, after):.3g} times the node hours, and longer jobs wait longer")
    if not any(parts):
        parts.append(gpus_price(before, after, cluster))
    dearer, in_hours = queue_price(before, after, cluster), any(one.endswith(" there)") for one in parts)
    parts.append(dearer.partition(", up to ")[0] if in_hours else dearer)  # its figures stand with the hours
    if cluster and all_hours(after, cluster) > all_hours(before, cluster):
        parts.append(further_price(after, cluster))
    if given(before.account) and given(after.account) and after.account != before.account:
        parts.append("another account is charged")
    if after.strategy not in (before.strategy, None, "none") and after.framework not in SERVERS:  # served, not written
        parts.append(f"your program has to be written for {after.strategy}")
    parts.append(batch_price(before.args, after.args))
    return "; ".join(filter(None, parts))


def in_unit(before: JobRequest, after: JobRequest, cluster: Cluster | None) -> str:
    """The hours before and after as the site charges them; empty where that is not known, or says the same."""
    was, now = (in_site_unit(one, cluster) for one in (before, after))
    return f" ({now} instead of {was.partition(' ')[0]} there)" if was and now else f" ({now} there)" if now else ""


def queue_price(before: JobRequest, after: JobRequest, cluster: Cluster | None) -> str:
    """What another queue costs, or a dearer kind of GPU in the same one; empty where it is known to be cheaper, or the
    usual one and no dearer."""
    was, now = (charge_of(one, cluster) for one in (before, after))
    if after.queue == before.queue and cluster and cluster.charge and after.node_type != before.node_type:
        if was is None or now is None or now <= was:
            return ""
        return f"other GPUs, up to {amount(now)} {cluster.charge.unit} instead of {amount(was)}"
    if not given(before.queue) or after.queue == before.queue:
        return ""
    if was is not None and now is not None and now < was:
        return ""
    usual = cluster is not None and (cluster.queue(after.queue) if after.queue else None) == cluster.default_queue
    if usual and (was is None or now is None or now <= was):
        return ""
    if cluster and cluster.charge and was is not None and now is not None and now > was:
        unit = cluster.charge.unit
        return f"another queue, up to {amount(now)} {unit} instead of {amount(was)}"
    return "another queue, charged and ordered by its own rules"


def gpus_price(before: JobRequest, after: JobRequest, cluster: Cluster | None) -> str:
    """What more GPUs of the same nodes cost; empty where the nodes are charged whole."""
    old, new = before.gpus_per_node or 0, after.gpus_per_node or 0
    if not old or new <= old or after.queue != before.queue:
        return ""
    was, now = (charge_of(one, cluster) for one in (before, after))
    if cluster and cluster.charge and was is not None and now is not None:
        return f"more GPUs, up to {amount(now)} {cluster.charge.unit} instead of {amount(was)}" if now > was else ""
    return "" if cluster and cluster.whole_nodes else f"{new / old:g} times the GPU hours"


def batch_price(before: str | None, after: str | None) -> str:
    """What fewer samples a GPU cost, in two states of a script's text or of a program's arguments. Empty: nothing."""
    if not 0 < samples_of(after) < samples_of(before):
        return ""
    was, now = (named(batch_numbers(one or ""), "steps") for one in (before, after))
    if now and (was is None or now.value > was.value):
        return "each update takes more and smaller passes, so it takes longer"
    return "smaller steps, so more of them for the same data"


def given(name: str | None) -> bool:
    """Whether a queue or an account was named: a placeholder in its place costs nothing to fill in."""
    return bool(name) and not str(name).startswith("YOUR_")


def longer(before: JobRequest, after: JobRequest) -> float:
    """How many times as long it may run; 0 where that is not longer, or not known."""
    was, now = (walltime_seconds(one.walltime) if one.walltime else 0 for one in (before, after))
    return now / was if was and now > was else 0.0


def changed_request(request: JobRequest, change: Mapping[str, str | int | None]) -> JobRequest:
    return replace(request, **change)  # type: ignore[arg-type]


def cured_request(request: JobRequest, findings: Iterable[Finding], *, carried: bool = False) -> JobRequest | None:
    """The request with what the worst finding that has a change says; one a round, because cures may meet.

    A warning changes nothing that was said. carried: the counts come from a person's own script.
    """
    counted = carried or request.gpus_per_node is not None or request.total_gpus is not None
    said = {name for name in FIELDS if getattr(request, name) is not None} | (COUNTS if counted else set())
    for finding in findings:
        change = {name: value for name, value in finding.change if name in FIELDS}
        mere = finding.severity == "info" or (finding.severity == "warning" and said & change.keys())
        if change and not mere:
            return changed_request(request, change)
    return None


def more_time(cluster: Cluster, request: JobRequest) -> Change:
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


def less(cluster: Cluster, request: JobRequest) -> Change:
    """Time and GPUs a node cut to what the machine allows."""
    change: list[tuple[str, str | int | None]] = []
    most = longest(cluster, request)
    if request.walltime and most and walltime_seconds(request.walltime) > most:
        change.append(("walltime", clock(most)))
    devices = max((node.gpus.devices_per_node or 0 for node in cluster.node_types), default=0)
    if request.gpus_per_node and devices and request.gpus_per_node > devices:
        change.append(("gpus_per_node", devices))
    return tuple(change)


def another_queue(cluster: Cluster, request: JobRequest) -> Change:
    """A usual queue of the same nodes that takes the job as it was asked for."""
    now = cluster.queue(request.queue) if request.queue else None
    if now is None or not request.walltime:
        return ()
    for queue in cluster.queues:
        most = longest_in(queue, request.nodes or 1)
        takes = most and walltime_seconds(most) >= walltime_seconds(request.walltime)
        holds = queue.max_nodes is None or queue.max_nodes >= (request.nodes or 1) >= queue.min_nodes
        if queue.id != now.id and queue.purpose == "production" and takes and holds and alike(queue, now):
            return (("queue", queue.id),)
    return ()


def alike(one: Queue, other: Queue) -> bool:
    return bool(set(one.node_types) & set(other.node_types))


def smaller_batch(cluster: Cluster, request: JobRequest) -> Change:
    found = shrink_batch(request.args) if request.args else None
    return (("args", found[0]),) if found else ()


def shard_more(cluster: Cluster, request: JobRequest) -> Change:
    """More of the model's state spread over the ranks."""
    strategy = request.strategy or "ddp"
    if request.framework == "deepspeed" and strategy in ("ddp", "none"):
        return (("strategy", "zero3"),)
    return (("strategy", SHARD_MORE[strategy]),) if strategy in SHARD_MORE else ()


def more_nodes(cluster: Cluster, request: JobRequest) -> Change:
    """Twice the nodes: it helps only where the state is spread over them."""
    queue = (cluster.queue(request.queue) if request.queue else None) or cluster.default_queue
    wanted = 2 * (request.nodes or 0)
    spread = (request.strategy or "ddp") not in SHARD_MORE
    return (("nodes", wanted),) if spread and wanted and wanted <= (queue.max_nodes or wanted) else ()


def devices(cluster: Cluster, request: JobRequest) -> Change:
    counts = {node.gpus.devices_per_node for node in cluster.node_types} - {None}
    fits = counts and request.gpus_per_node not in counts
    return (("gpus_per_node", max(c for c in counts if c)),) if fits and request.gpus_per_node else ()


def asked(name: str) -> Remedy:
    """Only the person knows the right value."""
    return Remedy(change=lambda cluster, request: ((name, None),))


REMEDIES: dict[str, tuple[Remedy, ...]] = {
    "user-shell": (Remedy(text.line_ends), Remedy(text.continuations)),
    "user-arguments": (asked("args"),),
    "sched-time-limit": (Remedy(change=more_time),),
    "sched-over-limit": (Remedy(change=less), Remedy(change=another_queue)),
    "sched-bad-directive": (Remedy(text.option), Remedy(text.required)),
    "sched-bad-account": (asked("account"),),
    "sched-bad-queue": (asked("queue"),),
    "sched-preempted": (asked("queue"),),
    "sched-host-oom": (Remedy(text.memory),),
    "env-not-propagated": (Remedy(text.export),),
    "env-module": (Remedy(text.module),),
    "env-no-internet": (Remedy(text.offline),),
    "env-file-missing": (Remedy(text.folder),),
    "env-disk": (Remedy(text.cache_elsewhere),),
    "gpu-not-visible": (Remedy(text.shared_devices), Remedy(change=devices)),
    "gpu-oom": (
        Remedy(text.grown_segments),
        Remedy(text.smaller_batch, smaller_batch),
        Remedy(change=shard_more),
        Remedy(change=more_nodes),
    ),
    "comm-port-in-use": (Remedy(text.port),),
    "comm-rendezvous": (Remedy(text.address),),
    "comm-interface": (Remedy(text.interface),),
    "fw-backend": (Remedy(text.backend),),
}
