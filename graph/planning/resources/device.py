"""One GPU as a framework counts it, on its machine: room, peak, links, and its node's network."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.cluster import Cluster, NodeType
from knowledge.gpu_facts import GpuFacts, find_gpu

# What published all-reduces reach of the network cards' sum.
NETWORK_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Device:
    """gb: memory as sold; per_node: devices of a node (None: not known); network: GB/s that a node reaches to others,
    0 where not known; host_gb: main memory of a node; node_type: its id in the machine's facts."""

    name: str
    gb: float
    facts: GpuFacts
    per_node: int | None = None
    network: float = 0.0
    host_gb: float | None = None
    node_type: str = ""
    node_count: int | None = None
    kind: str = "GPU"
    source: str = ""

    @property
    def each(self) -> int:
        return self.per_node or 1

    @property
    def cards(self) -> int:
        """Cards of a node: half as many as devices where each is two."""
        return self.each if self.kind == "GPU" else self.each // 2

    def nodes_for(self, gpus: int) -> int:
        """Nodes that hold that many."""
        return -(-gpus // self.each)


def device_gb(node: NodeType) -> float | None:
    """GB of one device as a framework counts them: a tile of a tiled card."""
    return node.gpus.memory_gb / node.gpus.tiles_per_gpu if node.gpus.memory_gb else None


def make_device(node: NodeType, cluster: Cluster | None = None) -> Device | None:
    """The device of that kind of node; None where its memory or its peak is not known."""
    gb, facts = device_gb(node), find_gpu(node.gpus.model, node.gpus.form or "")
    if gb is None or facts is None:
        return None
    cards = (node.nics.count or 1) * (node.nics.gbps_each or 0.0)
    return Device(
        name=f"{facts.model} {gb:g} GB",
        gb=gb - facts.host_gb,
        facts=facts,
        per_node=node.gpus.devices_per_node,
        network=NETWORK_SHARE * cards / 8,
        host_gb=node.job_memory_gb or node.memory_gb,
        node_type=node.id,
        node_count=node.count,
        kind=(node.gpus.tile_name or "tile") if node.gpus.tiles_per_gpu > 1 else "GPU",
        source=node.source or (cluster.docs if cluster else "") or "",
    )


def devices(cluster: Cluster) -> tuple[Device, ...]:
    """The devices of a machine, those of its usual queue first."""
    usual = cluster.default_queue.node_types
    nodes = sorted(cluster.node_types, key=lambda node: node.id not in usual)
    return tuple(device for node in nodes if (device := make_device(node, cluster)))


def bare_device(model: str, gb: float) -> Device | None:
    """A GPU of no machine: `A100` with 80 GB."""
    facts = find_gpu(model)
    return Device(f"{facts.model} {gb:g} GB", gb, facts) if facts else None
