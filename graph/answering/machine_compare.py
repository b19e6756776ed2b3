"""Machines side by side: compute, memory, fabric, limits, the way out; as rows, and as an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.answering.situation import cite, write_document
from graph.planning.resources.communication import tokens_for_ratio
from graph.planning.resources.device import Device, devices
from graph.planning.resources.limits import longest_hours
from knowledge.cluster import VENDORS, Cluster, NodeType
from knowledge.document import Code, Document
from knowledge.general_facts import framework_builds

STACKS = {"nvidia": "CUDA", "amd": "ROCm", "intel": "XPU"}
INTERNET = {"yes": "yes", "no": "no", "proxy": "by proxy", "unknown": "?"}


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One kind of GPU node of a machine. gb: of a device; tflops: dense peak of a device in 16 bit; network: GB/s that
    a node reaches to others (0: not known); longest_h: of a production job of one node (None: not known)."""

    machine: str
    node_type: str
    gpu: str
    devices: int | None
    gb: float
    tflops: float
    node_tflops: float
    host_gb: float | None
    network: float
    batch_tokens: int | None
    nodes: int | None
    longest_h: float | None
    scheduler: str
    internet: str
    as_of: str


def machine_rows(clusters: Iterable[Cluster]) -> list[MachineRow]:
    """A row for each kind of GPU node whose memory and peak are known."""
    return [_row(cluster, device) for cluster in clusters for device in devices(cluster)]


def _row(cluster: Cluster, device: Device) -> MachineRow:
    limits = [
        limit
        for queue in cluster.queues
        if device.node_type in queue.node_types and queue.purpose == "production"
        if (limit := longest_hours(queue, max(1, queue.min_nodes)))
    ]
    return MachineRow(
        machine=cluster.id,
        node_type=device.node_type,
        gpu=device.facts.model,
        devices=device.per_node,
        gb=device.gb,
        tflops=device.facts.tflops,
        node_tflops=device.facts.tflops * device.each,
        host_gb=device.host_gb,
        network=device.network,
        batch_tokens=tokens_for_ratio(3, device) if device.network else None,
        nodes=device.node_count,
        longest_h=max(limits) if limits else None,
        scheduler=cluster.scheduler,
        internet=INTERNET[cluster.internet.access],
        as_of=cluster.as_of,
    )


def _number(value: float | int | None) -> str:
    return "?" if not value else f"{value:,.4g}" if value < 10_000 else f"{value:,.0f}"


Cell = Callable[[MachineRow], str]
COLUMNS: tuple[tuple[str, Cell], ...] = (
    ("machine", lambda r: r.machine),
    ("nodes of", lambda r: r.node_type),
    ("GPUs", lambda r: f"{r.devices or '?'} x {r.gpu}"),
    ("GB each", lambda r: _number(r.gb)),
    ("TFLOP/s each", lambda r: _number(r.tflops)),
    ("a node", lambda r: _number(r.node_tflops)),
    ("host GB", lambda r: _number(r.host_gb)),
    ("network GB/s", lambda r: _number(r.network)),
    ("nodes", lambda r: _number(r.nodes)),
    ("longest h", lambda r: _number(r.longest_h)),
    ("scheduler", lambda r: r.scheduler),
    ("internet", lambda r: r.internet),
    ("facts of", lambda r: r.as_of),
)


def table_text(rows: Sequence[MachineRow]) -> str:
    """The rows as aligned text; `?` is what the facts do not say."""
    cells = [[name for name, _ in COLUMNS], *([cell(row) for _, cell in COLUMNS] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(COLUMNS))]
    return "\n".join("  ".join(f"{text:<{w}}" for text, w in zip(line, widths, strict=True)).rstrip() for line in cells)


def stack_lines(kinds: Mapping[str, NodeType], text: str) -> list[str]:
    """Whose GPUs and processors the machines' nodes have, where that differs, and what it means for the packages that
    are named."""
    makers = {title: kind.gpus.vendor for title, kind in kinds.items()}
    arm = [title for title, kind in kinds.items() if "grace" in (kind.cpu.model or "").lower()]
    told = []
    if len(set(makers.values())) > 1:
        stacks = ", ".join(f"{title} {VENDORS[maker]} ({STACKS[maker]})" for title, maker in makers.items())
        told.append(
            f"**The software differs**: {stacks}. "
            "PyTorch has builds for all; what was only tried with CUDA, or builds its own kernels, needs another "
            "build elsewhere: try it before you choose by hours."
        )
        named = [one for one in framework_builds() if re.search(rf"(?i)\b(?:{one.names})\b", text)]
        other = [(title, maker) for title, maker in makers.items() if maker != "nvidia"]
        told += [f"{one.title} on {title}: {getattr(one, maker)}" for one in named for title, maker in other]
    if arm and len(arm) < len(kinds):
        told.append(
            f"**{' and '.join(arm)}: Arm processors**, so packages and containers must be built for aarch64; the "
            "others are x86, where the usual wheels run."
        )
    return told


def compare_machines(clusters: Sequence[Cluster]) -> Document:
    """The table, and what stands out in it."""
    rows = machine_rows(clusters)
    if not rows:
        return write_document("The facts that I have name neither memory nor GPUs of these machines.")
    largest, fastest = max(rows, key=lambda r: r.gb), max(rows, key=lambda r: r.node_tflops)
    widest = max(rows, key=lambda r: r.network)
    most = dict.fromkeys(row.machine for row in rows if row.gb == largest.gb)
    told = (
        f"Largest GPU memory: {' and '.join(most)} ({largest.gb:g} GB, {largest.gpu}). Most compute a node: "
        f"{fastest.machine} ({fastest.node_tflops:,.0f} TFLOP/s dense in 16 bit). Widest network a node: "
        f"{widest.machine} ({widest.network:.0f} GB/s reached)."
    )
    pages = [node.source for cluster in clusters for node in cluster.node_types if node.source]
    return write_document(told, Code(table_text(rows), "text"), cite(pages[:6], min(c.as_of for c in clusters)))
