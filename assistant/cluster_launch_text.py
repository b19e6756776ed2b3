"""How a job gets its software and starts its ranks on a machine, as text for a person."""

from __future__ import annotations

from collections.abc import Mapping

from assistant.footnotes import Footnotes
from knowledge.cluster import Cluster, LaunchForm, Software

WORKERS: Mapping[str, str] = {
    "ranks": "each task is one rank",
    "torchrun": "one torchrun a node starts the ranks",
    "accelerate": "one accelerate launch a node starts the ranks",
}


def launch_forms(cluster: Cluster, notes: Footnotes) -> list[str]:
    items = []
    for framework, forms in cluster.launch.items():
        items.append(f"{framework}:")
        for number, form in enumerate(forms, start=1):
            items.append(f"  {number}. {form_in_words(form)}{notes.mark(form.source)}")
            if form.note:
                items.append(f"    {form.note}")
    return items


def form_in_words(form: LaunchForm) -> str:
    """Launcher, what its tasks are, its options, and whether the site documents it."""
    launcher = "no launcher" if form.launcher == "none" else form.launcher
    parts = [f"{launcher}, {WORKERS[form.workers]}"]
    if form.node_types:
        parts.append(f"on {' or '.join(form.node_types)}")
    if form.options:
        parts.append(" ".join(form.options))
    if form.whole_node_options:
        parts.append(f"{' '.join(form.whole_node_options)} with all GPUs of the node")
    if form.rank_variables and form.workers == "ranks":
        parts.append(f"RANK={form.rank_variables.rank}, LOCAL_RANK={form.rank_variables.local_rank}")
    if form.visible_devices == "one":
        parts.append("a task sees its own device only")
    if not form.documented:
        parts.append("our reading, no page of the site shows it")
    return "; ".join(parts)


def software(cluster: Cluster, notes: Footnotes) -> list[str]:
    named: dict[str, Software] = {str(name): facts for name, facts in cluster.software.items()}
    named |= {f"on {node.id} nodes": node.software for node in cluster.node_types if node.software}
    return [item for name, facts in named.items() for item in one_software(name, facts, notes)]


def one_software(name: str, facts: Software, notes: Footnotes) -> list[str]:
    items = [f"{name}:{notes.mark(facts.source)}"]
    items += [f"  {setting.name}={setting.value}   ({setting.why})" for setting in facts.settings]
    items += [f"  {line}" for line in facts.lines]
    if facts.wrapper:
        items.append(f"  each task runs inside: {facts.wrapper}")
    if facts.create:
        items.append(f"  made once by: {facts.create}")
    if facts.note:
        items.append(f"  {facts.note}")
    return items


def rendezvous(cluster: Cluster, notes: Footnotes) -> list[str]:
    facts = cluster.rendezvous
    return [
        *facts.lines,
        f"MASTER_ADDR={facts.host}  MASTER_PORT={facts.port}{notes.mark(facts.source)}",
        *((facts.note,) if facts.note else ()),
    ]
