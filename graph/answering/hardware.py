"""Questions about what a node is: GPUs, CPUs, memory, network, local disk; and how many nodes there are."""

from __future__ import annotations

from graph.answering.asking import Inquiry, plain
from graph.answering.fact_answer import FactAnswer, listed, say
from graph.planning.queues import plural
from knowledge.cluster import VENDORS, NodeType

ARM_AND_POWER = {"aarch64": "aarch64 (Arm)", "ppc64le": "ppc64le (POWER)"}


def node_types(ask: Inquiry) -> tuple[NodeType, ...]:
    """Those whose GPU was named, those of the queue named, or all."""
    if ask.node_types:
        return ask.node_types
    if ask.queue and ask.queue.node_types:
        return tuple(node for node in ask.cluster.node_types if node.id in ask.queue.node_types)
    return ask.cluster.node_types


def name(node: NodeType, ask: Inquiry) -> str:
    several = len(ask.cluster.node_types) > 1
    return f"A node of {ask.cluster.title} ({node.id})" if several else f"A node of {ask.cluster.title}"


def gpus(ask: Inquiry) -> FactAnswer:
    sentences = [gpus_of(node, ask) for node in node_types(ask)]
    notes = [
        note for node in node_types(ask)[:1] for note in node.notes if "gpu" in note.lower() or "gcd" in note.lower()
    ]
    sentences += [way_there(node_types(ask)[0], ask)] if ask.node_types and len(node_types(ask)) == 1 else []
    return say(ask.cluster, sentences + notes[:1], [node.source for node in node_types(ask)])


def way_there(node: NodeType, ask: Inquiry) -> str:
    """The queues and directives that lead to these nodes rather than to others."""
    queues = [queue.id for queue in ask.cluster.queues if node.id in queue.node_types]
    lines = [plain(fact.text) for fact in ask.cluster.directives if node.id in fact.node_types]
    parts = [f"queue {listed(queues, 'or')}" if queues else "", *lines]
    return f"To get them: {', '.join(part for part in parts if part)}" if any(parts) else ""


def gpus_of(node: NodeType, ask: Inquiry) -> str:
    part = node.gpus
    memory = f" with {part.memory_gb:g} GB" if part.memory_gb else ""
    model = f"{VENDORS[part.vendor]} {part.model}{memory}"
    if part.per_node is None:
        return f"{name(node, ask)} has {model}; how many is not known"
    text = f"{name(node, ask)} has {part.per_node} {model}" + (" each" if memory and part.per_node > 1 else "")
    if part.tiles_per_gpu > 1:
        tile, seen = part.tile_name or "tile", part.devices_per_node
        return f"{text}; each is {part.tiles_per_gpu} {tile}s, so a framework sees {seen} devices: {seen} ranks a node"
    return f"{text}: {plural(part.per_node, 'rank')} a node"


def node_count(ask: Inquiry) -> FactAnswer | None:
    counted = [node for node in node_types(ask) if node.count]
    if not counted:
        return None
    rows = "; ".join(f"{node.count} {node.id} ({node.gpus.model})" for node in counted)
    return say(ask.cluster, [f"GPU nodes of {ask.cluster.title}: {rows}"], [node.source for node in counted])


def cpus(ask: Inquiry) -> FactAnswer | None:
    """Model, kind of processor, cores, and what --cpus-per-task may divide."""
    known = [node for node in node_types(ask) if node.cpu.model or node.cpu.cores]
    if not known:
        return None
    return say(ask.cluster, [cpus_of(node, ask) for node in known], [node.source for node in known])


def processor_kind(node: NodeType) -> str:
    """What is not x86; empty where it is."""
    model = (node.cpu.model or "").lower()
    grace = ARM_AND_POWER["aarch64"] if "grace" in model else ""
    return next((text for key, text in ARM_AND_POWER.items() if key in model), grace)


def cpus_of(node: NodeType, ask: Inquiry) -> str:
    cpu = node.cpu
    parts = [
        cpu.model or "",
        f"{cpu.cores} cores" if cpu.cores else "",
        processor_kind(node) or "x86_64 (Intel or AMD)",
    ]
    if cpu.threads_per_core and cpu.threads_per_core > 1:
        parts.append(f"{cpu.threads_per_core} threads a core")
    text = f"{name(node, ask)} has {', '.join(part for part in parts if part)}"
    if not cpu.schedulable:
        return text
    devices = node.gpus.devices_per_node
    share = f", {cpu.schedulable // devices} a rank with {plural(devices, 'rank')} a node" if devices else ""
    return f"{text}. {cpu.schedulable} CPUs are for the tasks of a job{share}"


def memory(ask: Inquiry) -> FactAnswer | None:
    known = [node for node in node_types(ask) if node.memory_gb]
    if not known:
        return None
    rows = [memory_of(node, ask) for node in known]
    notes = [note for node in known for note in node.notes if "memory" in note.lower()]
    return say(ask.cluster, rows + notes[:1], [node.source for node in known])


def memory_of(node: NodeType, ask: Inquiry) -> str:
    job = f", of which a job may ask for {node.job_memory_gb:g}" if node.job_memory_gb else ""
    gpu = f"; each GPU has {node.gpus.memory_gb:g} GB" if node.gpus.memory_gb else ""
    return f"{name(node, ask)} has {node.memory_gb:g} GB of memory{job}{gpu}"


def network(ask: Inquiry) -> FactAnswer | None:
    known = [node for node in node_types(ask) if node.nics.kind or node.nics.interface]
    if not known:
        return None
    variables = [fact for fact in ask.cluster.environment if fact.name == "NCCL_SOCKET_IFNAME"]
    rows = [f"NCCL_SOCKET_IFNAME={fact.value}: {fact.why}" for fact in variables]
    return say(ask.cluster, [*(network_of(node, ask) for node in known), *rows], [node.source for node in known])


def network_of(node: NodeType, ask: Inquiry) -> str:
    nics = node.nics
    speed = f", {nics.gbps_each:g} Gb/s each" if nics.gbps_each else ""
    count = f"{nics.count} x " if nics.count else ""
    face = f"; interface {nics.interface}" if nics.interface else "; the interface's name is not known"
    return f"{name(node, ask)} is on {count}{nics.kind}{speed}{face}"


def local_disk(ask: Inquiry) -> FactAnswer | None:
    known = [node for node in node_types(ask) if node.local_disk]
    areas = [f"{key}: {text}" for key, text in ask.cluster.filesystems.items() if "local" in key.lower()]
    if not known and not areas:
        return None
    return say(
        ask.cluster,
        [*(f"{name(node, ask)} has {node.local_disk}" for node in known), *areas],
        [n.source for n in known],
    )
