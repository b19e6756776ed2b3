"""From a script's directives and a cluster's facts to the allocation that the stand-in cluster gives the job."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from graph.extraction.job_shape import JobShape, job_shape
from graph.extraction.script import ReadScript
from graph.extraction.training import ranks
from knowledge.cluster import Cluster, NodeType
from knowledge.errors import InputError
from knowledge.processors import part_of_queue

# How node names look, by machine. The rest take the first letters of the machine's name.
NODE_NAMES = {
    "perlmutter": "nid{:06d}", "alps-clariden": "nid{:06d}", "isambard-ai": "nid{:06d}", "lumi": "nid{:06d}",
    "aurora": "x4102c2s{}b0n0", "polaris": "x3004c0s{}b0n0", "lonestar6": "c301-{:03d}", "stampede3": "c561-{:03d}",
    "vista": "c610-{:03d}", "frontier": "frontier{:05d}", "juwels-booster": "jwb{:04d}", "leonardo": "lrdn{:04d}",
    "marenostrum5": "as04r1b{:02d}", "abci3": "hnode{:03d}", "delta": "gpua{:03d}", "deltaai": "gh{:03d}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Allocation:
    """What the directives ask for. GPU counts are devices (a tile or GCD is one); None: not said."""

    nodes: int
    ntasks: int | None
    tasks_per_node: int | None
    cpus_per_task: int | None
    gpus_per_node: int
    gpus_per_task: int | None
    gpu_option: str
    gpu_bind: str
    job_name: str
    account: str
    queue: str
    node_type: NodeType


def allocation(script: ReadScript, cluster: Cluster) -> Allocation:
    """The job's shape on this cluster; of a range of nodes the most. Raises InputError on a count that is none."""
    shape = job_shape(script, cluster.scheduler)
    if one := shape.unread:
        says = f"the directive {one.option} is '{one.value[:40]}', not a number: fill it in and rehearse again"
        raise InputError(says)
    queue = next((word for word in shape.queues if cluster.queue(word)), cluster.default_queue.id)
    there = cluster.queue(queue) or cluster.default_queue
    cluster = cluster if there.node_types else part_of_queue(cluster, (queue,), False)
    node_type = cluster.node_type((cluster.queue(queue) or cluster.default_queue).node_types[0])
    nodes = max(1, shape.most_nodes or 1)
    ntasks = shape.ntasks if cluster.scheduler != "pbs" else None
    if ntasks is None and shape.tasks_per_node and cluster.scheduler == "slurm":
        ntasks = nodes * shape.tasks_per_node
    if ntasks is None and not script.active and script.training is not None:
        # What asks for the job stands elsewhere (`sbatch -n 4 FILE`): it has the tasks that the launch starts.
        ntasks = ranks(script.training) or None
    return Allocation(
        nodes=nodes, ntasks=ntasks, tasks_per_node=shape.tasks_per_node,
        cpus_per_task=shape.cpus_per_task if cluster.scheduler == "slurm" else None,
        gpus_per_node=devices(replace(shape, least_nodes=nodes), queue, cluster, node_type),
        gpus_per_task=shape.gpus_per_task if cluster.scheduler == "slurm" else None, gpu_option=shape.gpu_option,
        gpu_bind=shape.value("gpu-bind"), job_name=shape.value("job-name") or "job", account=shape.account,
        queue=queue, node_type=node_type,
    )  # fmt: skip


def devices(shape: JobShape, queue: str, cluster: Cluster, node_type: NodeType) -> int:
    """Devices of one node that the job may use, as a framework counts them."""
    gpus = node_type.gpus
    if not gpus.model:
        return 0
    everything = gpus.devices_per_node or 1
    shared_out = max(1, shape.total_gpus // (shape.least_nodes or 1)) if shape.total_gpus else None
    found = shape.gpus_per_node or shared_out or shape.gpus_of_tasks
    if not found:
        return everything if cluster.whole_nodes or "exclusive" in shape.asked or whole_queue(cluster, queue) else 0
    tiles = gpus.tiles_per_gpu if gpus.scheduler_counts == "cards" else 1
    return min(found * tiles, everything)


def whole_queue(cluster: Cluster, name: str) -> bool:
    """Whether this queue hands out whole nodes with all their GPUs."""
    queue = cluster.queue(name) or cluster.default_queue
    return bool(getattr(queue, "whole_nodes", False))


def node_names(cluster: Cluster, nodes: int) -> tuple[str, ...]:
    form = NODE_NAMES.get(cluster.id, re.sub(r"\W", "", cluster.id)[:8] + "{:d}")
    return tuple(form.format(number) for number in range(1, nodes + 1))


def host_suffixes(cluster: Cluster) -> tuple[str, ...]:
    """What a site appends to a node's name to reach it over the fast network: read from its rendezvous."""
    text = " ".join([cluster.rendezvous.host, *cluster.rendezvous.lines])
    found = re.findall(r"\)\"?(\.[a-z0-9.-]+[a-z])", text) + re.findall(r"[)}](i|-hsn\d|-ib)\b", text)
    return tuple(dict.fromkeys([*found, ".hsn.stand-in"][:3]))
