"""A machine in short, for a model that leads: what most answers about it need, so that it need not look it up first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from knowledge.cluster import Cluster, CpuNodeType, NodeType, Queue, Software
from knowledge.processors import cores_of
from knowledge.site import site_of

# Letters of the whole, and of a row, a note and a gotcha.
MOST, MOST_ROW, MOST_NOTE, MOST_TRAP, MOST_RULES = 3400, 900, 90, 160, 200
TRAPS = 4
LEFT = "- cut for room, cluster_facts has it: {}"
# A page that a note itself names; those of the row stand below it.
NAMED_PAGE = re.compile(r"[;,.]?\s*\(?(?:[Ss]ources?:? )?https?://[^\s)]+\)?")


def machine_in_short(cluster: Cluster, most: int = MOST) -> str:
    """Nodes, queues, account, software, launch, folders and traps of a machine, a row each with its source.

    The rows stand in the order of their worth; the last ones go where all are longer than `most` letters.
    """
    head = f"MACHINE {cluster.id}: {cluster.title}, {cluster.scheduler}, {cluster.submit}, facts of {cluster.as_of}"
    head += f"; {up_to_word(cluster.status, MOST_NOTE)}" if cluster.status else ""
    rows, left = [head, *(row for row in rows_of(cluster) if row)], list[str]()
    while len(rows) > 2 and sum(map(len, rows)) > most:
        left.insert(0, rows.pop()[2:].partition(":")[0])
    return "\n".join([*rows, *([LEFT.format(", ".join(left))] if left else [])])


def rows_of(cluster: Cluster) -> Iterable[str]:
    """The rows."""
    yield write_row("nodes", map(describe_node, cluster.node_types), pages_of(one.source for one in cluster.node_types))
    plain = [describe_cpu_node(one, cluster) for one in cluster.cpu_nodes]
    yield write_row("nodes without GPUs", plain, pages_of(one.source for one in cluster.cpu_nodes))
    yield write_row("queues", map(describe_queue, cluster.queues), pages_of(one.source for one in cluster.queues))
    yield describe_account(cluster)
    needed = [one.key for one in cluster.required if one.key != "account"]
    charged = cluster.charge is not None and cluster.charge.per == "node"
    shared = "a node is charged whole, however few GPUs of it are used" if charged else ""
    whole = "whole nodes only" if cluster.whole_nodes else shared or "nodes can be shared"
    yield write_row("directives", [whole, *([f"needed: {', '.join(needed)}"] if needed else [])], ())
    software = cluster.software.get("pytorch", cluster.software["default"])
    yield write_row("software (pytorch)", lines_of(software), pages_of([software.source]))
    form = cluster.launch["pytorch"][0]
    yield write_row(
        "launch", [f"{form.launcher} {' '.join(form.options)}; starts {form.workers}"], pages_of([form.source])
    )
    always = [one for one in cluster.environment if one.apply == "always"]
    sets = [f"{one.name}={one.value}{f' ({up_to_word(one.why, MOST_NOTE)})' if one.why else ''}" for one in always]
    yield write_row("every launch sets", sets, pages_of(one.source for one in always))
    internet = cluster.internet
    reach = {"no": "none", "yes": "yes", "proxy": "by a proxy", "unknown": "not known"}[internet.access]
    yield write_row("internet of compute nodes", [reach], pages_of([internet.source]))
    site = site_of(cluster.id)
    rules = site.login_node_rules if site else None
    yield write_row("login nodes", [up_to_word(rules.text, MOST_RULES)] if rules else [], ())
    kept = {name: what for name, what in cluster.filesystems.items() if name != "note"}
    yield write_row("folders", [f"{name} {up_to_word(what, MOST_NOTE)}" for name, what in kept.items()], ())
    yield write_row("traps", [up_to_word(one, MOST_TRAP) for one in cluster.gotchas[:TRAPS]], ())


def write_row(name: str, parts: Iterable[str], pages: Sequence[str]) -> str:
    """`- NAME: parts`, all its pages in the line below, as a tool's answer names them."""
    text = up_to_word("; ".join(one for one in parts if one), MOST_ROW)
    behind = f"\nsource: {' | '.join(pages)}" if pages else ""
    return f"- {name}: {text}{behind}" if text else ""


def describe_node(one: NodeType) -> str:
    gpus = one.gpus
    memory = f" {gpus.memory_gb:g} GB" if gpus.memory_gb else ""
    tiles = f" ({gpus.devices_per_node} {gpus.tile_name or 'tile'}s)" if gpus.tiles_per_gpu > 1 else ""
    card = f"{gpus.per_node or '?'} x {gpus.model}{memory}{tiles}"
    cores, kept = one.cpu.cores, (one.cpu.schedulable or 0) < (one.cpu.cores or 0)
    for_jobs = f" ({one.cpu.schedulable} for jobs)" if one.cpu.schedulable and kept else ""
    beside = [f"{cores} cores{for_jobs}" if cores else "", f"{one.memory_gb:g} GB" if one.memory_gb else ""]
    count = f"{one.count} nodes of " if one.count else ""
    return ", ".join([f"{one.id} {count}{card}", *filter(None, beside)])


def describe_cpu_node(one: CpuNodeType, cluster: Cluster) -> str:
    count = f"{one.count} nodes of " if one.count else ""
    memory = f", {one.memory_gb:g} GB" if one.memory_gb else ""
    queues = ", ".join(queue.id for queue in cluster.queues if one.id in queue.cpu_nodes)
    return f"{one.id} {count}{cores_of(one)} cores{memory}, in {queues}"


def describe_queue(one: Queue) -> str:
    usual = " (usual)" if one.default else "" if one.purpose == "production" else f" ({one.purpose})"
    most = "-" if one.max_nodes is None else f"-{one.max_nodes}" if one.max_nodes > one.min_nodes else ""
    steps = [f"{step.min_nodes}-{step.max_nodes or ''} nodes {step.max_walltime}" for step in one.limits]
    sizes = ", ".join(steps) or f"{one.min_nodes}{most} nodes {one.max_walltime or 'no limit known'}"
    return f"{one.id}{usual} {sizes}{f', {up_to_word(one.note, MOST_NOTE)}' if one.note else ''}"


def describe_account(cluster: Cluster) -> str:
    own = cluster.account
    ends = own.suffix or "; ".join(f"{kind} {end}" for kind, end in own.suffix_by_node_type.items())
    parts = ["needed" if own.needed else "not needed", f"begins with {own.prefix}" if own.prefix else ""]
    parts += [f"ends on {ends}" if ends else "", own.note or ""]
    return write_row("account", parts, pages_of([own.source]))


def lines_of(software: Software) -> list[str]:
    settings = [f"{one.name}={one.value}" for one in software.settings]
    wrapper = [f"started by {software.wrapper}"] if software.wrapper else []
    return [*settings, *software.lines, *wrapper, *([up_to_word(software.note, MOST_NOTE)] if software.note else [])]


def pages_of(pages: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for one in pages if one))


def up_to_word(text: str, most: int) -> str:
    """The text up to its last whole word before `most` letters."""
    plain = " ".join(NAMED_PAGE.sub("", text).split())
    return plain if len(plain) <= most else f"{plain[:most].rsplit(' ', 1)[0]} ..."
