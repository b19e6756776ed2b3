"""A machine's facts as text for a person. A fact is followed by the number of its source; sources stand at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

from assistant.cluster_launch_text import launch_forms, rendezvous, software
from assistant.footnotes import Footnotes
from knowledge.cluster import Cluster, DirectiveFact, EnvironmentFact, NodeType, Queue
from knowledge.processors import cores_of
from knowledge.types import DIRECTIVE_MARKS

WIDTH = 110
OLD_AFTER_MONTHS = 12
WHEN: Mapping[str, str] = {
    "always": "",
    "multi_node": "on several nodes",
    "one_node": "on one node",
    "whole_node": "with all GPUs of the node",
    "part_node": "with some GPUs of the node",
    "ranks": "with one task a rank",
    "one_task": "with one task a node",
}


def describe(cluster: Cluster, file: Path, today: date) -> str:
    """Everything that is known of one machine."""
    notes = Footnotes()
    sections = {title: make(cluster, notes) for title, make in SECTIONS.items()}
    sections["Sources"] = notes.listed(cluster.sources)
    parts = ["\n".join(head(cluster, file, today))]
    parts += [title + "\n" + "\n".join(folded(items)) for title, items in sections.items() if items]
    return "\n\n".join(parts)


def folded(items: Iterable[str]) -> list[str]:
    """Items as indented lines; two blanks at the start of an item put it one level deeper. Addresses stay whole."""
    lines = []
    for item in items:
        indent = " " * (2 + len(item) - len(item.lstrip(" ")))
        lines += textwrap.wrap(
            item.strip(),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def is_old(as_of: str, today: date) -> bool:
    """Whether facts of that year, month or day are more than twelve months old; counted from the period's first day."""
    year, month, *_ = (*(int(part) for part in as_of.split("-")), 1)
    return (today.year - year) * 12 + today.month - month > OLD_AFTER_MONTHS


def dated(cluster: Cluster, today: date) -> str:
    return cluster.as_of + (" (old)" if is_old(cluster.as_of, today) else "")


def head(cluster: Cluster, file: Path, today: date) -> list[str]:
    lines = [f"{cluster.title} ({cluster.id}), {cluster.site}"]
    if cluster.programmes:
        lines.append(f"  programmes: {', '.join(cluster.programmes)}")
    lines.append(f"  also called: {', '.join(cluster.names)}")
    if cluster.docs:
        lines.append(f"  docs: {cluster.docs}")
    lines.append(f"  facts of {cluster.as_of}, from {file}")
    if is_old(cluster.as_of, today):
        lines.append(f"  OLD: more than {OLD_AFTER_MONTHS} months; check limits and module names with the site")
    if cluster.status:
        lines += folded([f"status: {cluster.status}"])
    return lines


def gpus(node: NodeType) -> str:
    """The GPUs of a node in words: cards, and the tiles a framework sees."""
    facts = node.gpus
    memory = f" {facts.memory_gb:g} GB" if facts.memory_gb else ""
    text = f"{facts.per_node or '?'} {facts.model}{memory}"
    if facts.tiles_per_gpu > 1:
        text += f" = {facts.devices_per_node} {facts.tile_name or 'tile'}s"
    return text


def all_gpus(cluster: Cluster) -> str:
    """The GPU nodes in one line, those of the usual queue first."""
    first = cluster.default_queue.node_types
    nodes = sorted(cluster.node_types, key=lambda node: first.index(node.id) if node.id in first else len(first))
    return ", ".join(dict.fromkeys(gpus(node) for node in nodes))


def node_types(cluster: Cluster, notes: Footnotes) -> list[str]:
    items = []
    for node in cluster.node_types:
        count = f"{node.count} nodes with " if node.count else ""
        items.append(f"{node.id}: {count}{gpus(node)}{notes.mark(node.source)}")
        details = [
            f"{node.gpus.vendor}, {node.gpus.backend}" + (f", {node.gpus.arch}" if node.gpus.arch else ""),
            ", ".join(str(part) for part in (node.cpu.model, node.cpu.cores and f"{node.cpu.cores} cores") if part),
            f"{node.memory_gb:g} GB memory" if node.memory_gb else "",
            f"network {node.nics.kind}" if node.nics.kind else "",
            f"local disk {node.local_disk}" if node.local_disk else "",
        ]
        items.append("  " + "; ".join(part for part in details if part))
        items += [f"  - {note}" for note in node.notes]
    for plain in cluster.cpu_nodes:
        count = f"{plain.count} nodes" if plain.count else "nodes"
        parts = (plain.cpu.model, f"{cores_of(plain)} cores", plain.memory_gb and f"{plain.memory_gb:g} GB memory")
        items.append(f"{plain.id}: {count} without GPUs{notes.mark(plain.source)}")
        items.append("  " + ", ".join(str(part) for part in parts if part))
    return items


def queues(cluster: Cluster, notes: Footnotes) -> list[str]:
    items = []
    for queue in cluster.queues:
        kind = f"{queue.purpose}, the usual one" if queue.default else queue.purpose
        items.append(f"{queue.id} ({kind}): {limits(queue)}{notes.mark(queue.source)}")
        items += [f"  {prefix(cluster)} {text}" for text in queue.directives]
        if queue.note:
            items.append(f"  {queue.note}")
    return items


def limits(queue: Queue) -> str:
    """Node counts and walltimes in words."""
    most = f"{queue.min_nodes} to {queue.max_nodes} nodes" if queue.max_nodes else f"{queue.min_nodes} or more nodes"
    parts = [most, f"up to {queue.max_walltime}" if queue.max_walltime else "no known walltime limit"]
    parts += [f"{lim.min_nodes}-{lim.max_nodes or 'more'} nodes {lim.max_walltime}" for lim in queue.limits]
    parts += [f"at least {queue.min_walltime}"] if queue.min_walltime else []
    parts += [f"at most {queue.max_gpus} GPUs"] if queue.max_gpus else []
    parts += ["whole nodes only"] if queue.whole_nodes else []
    parts += [f"at most {queue.max_cores} CPUs without GPUs"] if queue.max_cores else []
    kinds = (*queue.node_types, *queue.cpu_nodes)
    return ", ".join([*parts, *([f"on {' or '.join(kinds)}"] if kinds else [])])


def prefix(cluster: Cluster) -> str:
    return DIRECTIVE_MARKS[cluster.scheduler]


def directives(cluster: Cluster, notes: Footnotes) -> list[str]:
    items = [f"submit with {cluster.submit}; {'whole nodes only' if cluster.whole_nodes else 'nodes can be shared'}"]
    for fact in cluster.directives:
        said = "; ".join(part for part in (*conditions(fact), fact.comment) if part)
        items.append(f"{prefix(cluster)} {fact.text}" + (f"   ({said})" if said else "") + notes.mark(fact.source))
    for need in cluster.required:
        items.append(f"needed: {need.key}" + (f" ({need.why})" if need.why else "") + notes.mark(need.source))
    for ban in cluster.forbidden:
        items.append(f"not here: {ban.option} is {ban.effect}: {ban.why}{notes.mark(ban.source)}")
    return items


def conditions(fact: DirectiveFact) -> tuple[str, ...]:
    """When a directive is written, in words."""
    nodes = f"on {' or '.join(fact.node_types)}" if fact.node_types else ""
    queue = f"in queue {' or '.join(fact.queues)}" if fact.queues else ""
    return (WHEN[fact.when], nodes, queue)


def account(cluster: Cluster, notes: Footnotes) -> list[str]:
    facts = cluster.account
    items = ["needed" if facts.needed else "not needed"]
    ends = [f"{suffix} on {node}" for node, suffix in facts.suffix_by_node_type.items()]
    if facts.suffix or ends:
        must = "must end" if facts.suffix_required else "usually ends"
        items.append(f"the name {must} on {facts.suffix or ', '.join(ends)}")
    items += [f"that of jobs without GPUs on {facts.cpu_suffix}"] if facts.cpu_suffix else []
    if facts.note:
        items.append(facts.note)
    return ["; ".join(items) + notes.mark(facts.source)]


def internet(cluster: Cluster, notes: Footnotes) -> list[str]:
    facts = cluster.internet
    words = {"yes": "yes", "no": "no", "proxy": "through a proxy", "unknown": "not known"}
    first = f"from compute nodes: {words[facts.access]}" + (f"; {facts.note}" if facts.note else "")
    return [first + notes.mark(facts.source), *(f"  {name}={value}" for name, value in facts.proxy.items())]


def variables(cluster: Cluster, notes: Footnotes) -> list[str]:
    return [variable(fact, notes) for fact in cluster.environment if fact.apply != "advice"]


def advice(cluster: Cluster, notes: Footnotes) -> list[str]:
    return [variable(fact, notes) for fact in cluster.environment if fact.apply == "advice"]


def variable(fact: EnvironmentFact, notes: Footnotes) -> str:
    when = fact.when or ("on several nodes" if fact.apply == "multi_node" else "")
    only = ", ".join((*fact.node_types, *fact.frameworks, *fact.workers))
    said = "; ".join(part for part in (when, fact.why, f"only {only}" if only else "") if part)
    return f"{fact.name}={fact.value}" + (f"   ({said})" if said else "") + notes.mark(fact.source)


def refusals(cluster: Cluster, notes: Footnotes) -> list[str]:
    return [f"{fact.says} {fact.why} Instead: {fact.instead}{notes.mark(fact.source)}" for fact in cluster.refusals]


def listed(*names: str) -> Callable[[Cluster, Footnotes], list[str]]:
    """A section of plain sentences, which name their own sources."""
    return lambda cluster, _: [f"- {text}" for name in names for text in getattr(cluster, name)]


SECTIONS: Mapping[str, Callable[[Cluster, Footnotes], list[str]]] = {
    "Nodes": node_types,
    "Queues": queues,
    "Directives": directives,
    "Account": account,
    "Software": software,
    "Launch, best form first": launch_forms,
    "What does not work": refusals,
    "Rank 0's address": rendezvous,
    "Internet": internet,
    "Variables that scripts set": variables,
    "Variables to know of": advice,
    "Containers": listed("containers"),
    "File systems": lambda cluster, _: [f"{name}: {text}" for name, text in cluster.filesystems.items()],
    "Gotchas": listed("gotchas"),
    "Notes": listed("notes"),
    "Not known": listed("unknown"),
}
