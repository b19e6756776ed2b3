"""The part of a machine's facts that holds for jobs without GPUs, in the form of a machine's facts.

A core stands where a GPU does, so that counts, shares of a node, queues and limits are worked out in the one way there
is. What the facts say of GPUs alone (options, variables, refusals) is not in that part.
"""

from __future__ import annotations

import string
from dataclasses import replace

from knowledge.cluster import Cluster, CpuNodeType, DirectiveFact, Gpus, NodeType, Queue

OF_GPUS = frozenset({"gpus_per_node", "total_gpus", "gpu_type"})


def cores_of(node: CpuNodeType) -> int:
    """The cores of a node, as people count."""
    return node.cpu.cores or node.cpu.schedulable or 1


def cpus_of(node: CpuNodeType) -> int:
    """What a job may take of a node, as the scheduler counts: cores, or hardware threads."""
    return node.cpu.schedulable or node.cpu.cores or 1


def part_without_gpus(cluster: Cluster, usual: Queue) -> Cluster:
    """The machine as a job without GPUs finds it; usual is a queue that has nodes for it."""
    account = replace(
        cluster.account,
        suffix=cluster.account.cpu_suffix,
        suffix_by_node_type={},
        suffix_required=bool(cluster.account.cpu_suffix),
    )
    queues = tuple(
        replace(queue, node_types=queue.cpu_nodes, cpu_nodes=(), default=queue is usual, max_gpus=queue.max_cores)
        for queue in cluster.queues
        if queue.cpu_nodes
    )
    kinds = tuple(map(in_cores, cluster.cpu_nodes))
    return replace(
        cluster,
        node_types=kinds,
        cpu_nodes=(),
        queues=queues,
        whole_nodes=False,
        directives=tuple(bare(fact) for fact in cluster.directives if for_processors(fact, kinds)),
        required=tuple(fact for fact in cluster.required if fact.key not in ("gpus", "constraint")),
        account=account,
        environment=(),
        refusals=(),
    )


def in_cores(node: CpuNodeType) -> NodeType:
    """The nodes with each core in a GPU's place; the GPU's model stays empty."""
    cpus = cpus_of(node)
    return NodeType(
        id=node.id,
        count=node.count,
        gpus=Gpus(vendor="nvidia", model="", per_node=cpus, backend="cuda"),
        cpu=replace(node.cpu, schedulable=cpus),
        memory_gb=node.memory_gb,
        job_memory_gb=node.job_memory_gb,
        advice=node.advice,
        source=node.source,
    )


def bare(fact: DirectiveFact) -> DirectiveFact:
    """Without its comment, which speaks of GPU nodes unless the line is for others."""
    return fact if fact.node_types else replace(fact, comment="")


def for_processors(fact: DirectiveFact, kinds: tuple[NodeType, ...]) -> bool:
    """Whether a line names no GPUs and holds for nodes without any."""
    named = {name for _, name, _, _ in string.Formatter().parse(fact.text) if name}
    ids = {node.id for node in kinds}
    return not named & OF_GPUS and (not fact.node_types or bool(ids & set(fact.node_types)))


def part_of_queue(cluster: Cluster, names: tuple[str, ...], asks_gpus: bool) -> Cluster:
    """The part that a job in one of these queues finds: that without GPUs where the queue has none, or where it has
    both and the job asks for none."""
    found = next((queue for name in names if (queue := cluster.queue(name)) and queue.cpu_nodes), None)
    if found is None or asks_gpus:
        return cluster
    return part_without_gpus(cluster, found)
