"""How many nodes, and how many ranks on each: the same number of ranks on nodes with another number of GPUs."""

from __future__ import annotations

from dataclasses import replace

from graph.extraction.script_record import ScriptRecord
from graph.planning.plan import plan
from graph.porting.account import PortNote
from knowledge.cluster import Cluster
from knowledge.types import Alternative, JobRequest, LaunchPlan, Refusal


def spread_evenly(request: JobRequest, target: Cluster) -> JobRequest:
    """The same number of ranks on the new nodes: whole nodes where it comes out even, else fewer GPUs each."""
    total = request.total_gpus or 1
    each = per_node(total, target, request.queue)
    return replace(request, nodes=total // each, gpus_per_node=each, total_gpus=None)


def layout_note(request: JobRequest, record: ScriptRecord, target: Cluster) -> tuple[PortNote, ...]:
    """What became of nodes x GPUs where the number of ranks stays, and how many GPUs that leaves idle."""
    each, total = request.gpus_per_node or 1, (request.nodes or 1) * (request.gpus_per_node or 1)
    if (request.nodes, each) == (record.nodes, record.gpus_per_node):
        return ()
    if request.processes_per_node == 1:
        old = f"{record.nodes} nodes x {record.gpus_per_node} GPUs" if record.nodes else f"{total} GPUs"
        says = f"{old} become {request.nodes} x {each}: one process a node, so {request.nodes} start."
        return (PortNote(0, says),)
    before = f"{record.nodes} x {record.gpus_per_node}" if record.nodes else str(total)
    says = f"{before} ranks become {request.nodes} x {each}: the same {total}, so the global batch stays."
    devices = devices_of(target, request.queue)
    if each < min(devices, total):
        full = -(-total // devices)
        stay = "stays" if devices - each == 1 else "stay"
        says += f" {devices - each} of a node's {devices} GPUs {stay} idle; "
        says += f"--nodes {full} --gpus-per-node {devices} uses all ({full * devices} ranks)."
    return (PortNote(0, says),)


def planned(request: JobRequest, target: Cluster, may_cut: bool) -> tuple[LaunchPlan | Refusal, tuple[PortNote, ...]]:
    """The plan; where only the walltime does not fit the machine, the longest that does, said.

    Too many nodes for every queue: with DDP the most ranks that are taken and divide the number before, since a rank
    needs no more memory then. Sharded strategies are refused, with that number as a way round; so is a number that
    a person gave (may_cut is False).
    """
    decided = plan(request, target)
    if not isinstance(decided, Refusal):
        return decided, ()
    for way in decided.instead:
        change = dict(way.change)
        if set(change) <= {"walltime", "queue"} and isinstance(change.get("walltime"), str):
            again = plan(replace(request, **change), target)  # type: ignore[arg-type]
            if not isinstance(again, Refusal):
                return again, (PortNote(0, f"{decided.says} Taken instead: {way.says}."),)
    fewer = fewer_ranks(request, target)
    if fewer is None:
        return decided, ()
    says = f"{fewer.nodes} x {fewer.ranks_per_node} = {fewer.ranks} ranks for {fewer.walltime}"
    if request.strategy == "ddp" and may_cut:
        return fewer, (PortNote(0, f"{decided.says} Taken instead: {says}; the training takes longer."),)
    counts = (("nodes", fewer.nodes), ("gpus_per_node", fewer.ranks_per_node), ("total_gpus", None))
    way = Alternative(says if request.strategy == "ddp" else f"{says}, each holding more of the model", counts)
    return replace(decided, instead=(way, *decided.instead)), ()


def fewer_ranks(request: JobRequest, target: Cluster) -> LaunchPlan | None:
    """The plan with the most ranks that a queue takes and that divide the number asked for."""
    total = (request.nodes or 0) * (request.gpus_per_node or 0)
    for ranks in (total // n for n in range(2, total + 1) if total % n == 0):
        each = per_node(ranks, target, request.queue)
        decided = plan(replace(request, nodes=ranks // each, gpus_per_node=each), target)
        if not isinstance(decided, Refusal):
            return decided
    return None


def devices_of(target: Cluster, queue: str | None) -> int:
    named = target.queue(queue) if queue else None
    chosen = named if named and named.node_types else target.default_queue
    return target.node_type(chosen.node_types[0]).gpus.devices_per_node or 1


def per_node(total: int, target: Cluster, queue: str | None) -> int:
    """The most ranks a node that spread a total evenly."""
    return next(n for n in range(min(devices_of(target, queue), total), 0, -1) if total % n == 0)
