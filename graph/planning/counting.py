"""Nodes and GPUs: from what a person counted to ranks per node.

A card may be several devices (Aurora: 6 cards, 12 tiles). Both ways of counting are understood, and said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowledge.cluster import NEVER, Cluster, NodeType
from knowledge.types import Alternative, Assumption, JobRequest, Refusal


@dataclass(frozen=True, slots=True)
class Count:
    """Nodes, ranks on each, how the GPUs were counted in words, and what was assumed."""

    nodes: int
    ranks_per_node: int
    says: str
    assumptions: tuple[Assumption, ...] = ()


def count(request: JobRequest, cluster: Cluster, node: NodeType) -> Count | Refusal | None:
    """The count for one node type; None where the number of nodes cannot be known yet."""
    devices = node.gpus.devices_per_node
    if devices is None:
        says = f"How many GPUs a node of {cluster.title} ({node.id}) has is not known here."
        return Refusal(says, "The site's pages do not say.", node.source)
    given = request.gpus_per_node
    if given is None and request.total_gpus and (request.nodes or request.total_gpus <= devices):
        given = per_node(request.total_gpus, request.nodes or 1)
        if given is None:
            return uneven(request, node)
    cards = given is not None and in_cards(request, node) and given <= (node.gpus.per_node or 0)
    named = given * node.gpus.tiles_per_gpu if given is not None and cards else given
    ranks = devices if named is None else ranks_for(named, node, cards or in_tiles(request, node))
    if ranks is None:
        return too_many(given or 0, request, cluster, node)
    nodes = request.nodes or nodes_for(request, ranks, node)
    if nodes is None:
        return uneven(request, node) if request.total_gpus else None
    if (most := size_of(cluster)) and nodes > most:
        return larger_than_the_machine(nodes, most, cluster, node)
    return Count(
        nodes, ranks, counted_in_words(ranks, node, cluster), tuple(assumed(request, given, ranks, nodes, node))
    )


def size_of(cluster: Cluster) -> int | None:
    """How many nodes the machine has, where every kind is counted."""
    counts = [node.count for node in cluster.node_types]
    return sum(count for count in counts if count) if all(counts) else None


def larger_than_the_machine(nodes: int, most: int, cluster: Cluster, node: NodeType) -> Refusal:
    return Refusal(
        f"{cluster.title} has {most} GPU nodes, not {nodes}.",
        "No queue takes more nodes than there are.",
        node.source,
        (Alternative("1 node, to try it out", (("nodes", 1), ("total_gpus", None))),),
    )


def per_node(total: int, nodes: int) -> int | None:
    return total // nodes if total % nodes == 0 else None


def in_tiles(request: JobRequest, node: NodeType) -> bool:
    """Whether the person counted tiles by their name: `4 GCDs per node`."""
    tile = re.escape(node.gpus.tile_name or "tile")
    words = [one.words for one in request.heard if one.field == "gpus_per_node"]
    return any(re.search(rf"\b(?:{tile}|tile|device|rank)s?\b", one, re.I) for one in words)


def in_cards(request: JobRequest, node: NodeType) -> bool:
    """Whether the person counted cards by their name: `2 MI250X per node`, `2 full cards`."""
    model = re.escape((node.gpus.model or "card").split()[-1])
    words = [one.words for one in request.heard if one.field == "gpus_per_node"]
    return any(re.search(rf"\b(?:{model}|card|module|package)s?\b", one, re.I) for one in words)


def ranks_for(gpus: int, node: NodeType, tiles: bool) -> int | None:
    """Ranks for so many GPUs as a person counts them: all cards mean all tiles; other numbers are devices."""
    devices = node.gpus.devices_per_node
    if devices is None or gpus > devices:
        return None
    return devices if gpus == node.gpus.per_node and not tiles else gpus


def nodes_for(request: JobRequest, ranks: int, node: NodeType) -> int | None:
    """Nodes for a total, in devices or (tiled GPUs) in cards. A total that fits one node takes one."""
    if not request.total_gpus:
        return None
    if request.total_gpus <= ranks:
        return 1
    if request.total_gpus % ranks == 0:
        return request.total_gpus // ranks
    cards = node.gpus.per_node or 1
    return request.total_gpus // cards if node.gpus.tiles_per_gpu > 1 and request.total_gpus % cards == 0 else None


def counted_in_words(ranks: int, node: NodeType, cluster: Cluster) -> str:
    """Of how many a node has: of a machine that nobody described, no more is known than what was asked for."""
    gpus = node.gpus
    if cluster.as_of == NEVER:
        return f"{ranks} {gpus.model} GPUs a node, one rank each"
    if gpus.tiles_per_gpu == 1:
        return f"{ranks} of {gpus.per_node} {gpus.model} GPUs a node, one rank each"
    tile = gpus.tile_name or "tile"
    return f"{ranks} ranks a node, one a {tile} ({gpus.per_node} cards x {gpus.tiles_per_gpu} {tile}s)"


def assumed(request: JobRequest, given: int | None, ranks: int, nodes: int, node: NodeType) -> list[Assumption]:
    """What was decided beyond what was said."""
    taken = []
    if given is None:
        taken.append(Assumption("gpus_per_node", str(ranks), f"all GPUs of a node ({node.id})", node.source))
    if given is not None and given != ranks and not in_cards(request, node):
        tile = node.gpus.tile_name or "tile"
        why = (
            f"{given} GPUs were read as cards, and each card is {node.gpus.tiles_per_gpu} {tile}s of its own to the "
            f"scheduler; say *{given} {tile}s* for that many of them"
        )
        taken.append(Assumption("gpus_per_node", str(ranks), why, node.source))
    if request.nodes is None:
        taken.append(Assumption("nodes", str(nodes), f"{request.total_gpus} GPUs in all, {ranks} a node", None))
    return taken


def too_many(given: int, request: JobRequest, cluster: Cluster, node: NodeType) -> Refusal:
    """A node has fewer GPUs than asked for: fewer a node, the same total on more nodes, or another node type."""
    devices = node.gpus.devices_per_node or 1
    nodes = request.nodes or 1
    ways = [Alternative(f"{nodes} x {devices} GPUs", (("gpus_per_node", devices), ("total_gpus", None)))]
    total = given * nodes
    if total % devices == 0:
        spread = total // devices
        ways.append(
            Alternative(
                f"{spread} x {devices} GPUs, the same {total} in all",
                (("nodes", spread), ("gpus_per_node", devices), ("total_gpus", None)),
            )
        )
    for other in cluster.node_types:
        if other.id != node.id and (other.gpus.devices_per_node or 0) >= given:
            queue = next((q for q in cluster.queues if other.id in q.node_types and q.purpose == "production"), None)
            if queue:
                says = f"{other.gpus.devices_per_node} {other.gpus.model} GPUs a node in queue {queue.id}"
                ways.append(Alternative(says, (("queue", queue.id),)))
    cards = f"{node.gpus.per_node} cards x {node.gpus.tiles_per_gpu} {node.gpus.tile_name or 'tile'}s"
    what = "devices" if node.gpus.tiles_per_gpu > 1 else f"{node.gpus.model} GPUs"
    return Refusal(
        f"A node of {cluster.title} ({node.id}) has {devices} {what}, not {given}.",
        f"{cards}; one rank a device."
        if node.gpus.tiles_per_gpu > 1
        else "One rank a GPU; more ranks would share one.",
        node.source,
        tuple(ways),
    )


def uneven(request: JobRequest, node: NodeType) -> Refusal:
    """A total that does not spread evenly over the nodes."""
    devices = node.gpus.devices_per_node or 1
    total = request.total_gpus or 0
    low, high = max(1, total // devices), -(-total // devices)
    ways = tuple(
        Alternative(
            f"{n} x {devices} = {n * devices} GPUs", (("nodes", n), ("gpus_per_node", devices), ("total_gpus", None))
        )
        for n in dict.fromkeys((low, high))
    )
    over = f" over {request.nodes} nodes" if request.nodes else ""
    says = f"{total} GPUs{over} do not come out even: a node has {devices}."
    return Refusal(says, "Every node of a job runs the same number of ranks.", node.source, ways)
