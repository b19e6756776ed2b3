"""Which machines are known, and two or more of them side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.answering.ask import Ask
from graph.answering.fact_answer import spell
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, walltime_seconds
from knowledge.document import Document

NAMES = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "flux": "Flux"}
MOST = 4


def list_machines(ask: Ask) -> Document:
    """Those with the GPU, the vendor or the scheduler that is named, else all; by scheduler, and how to see more."""
    words = {one.text.lower().rstrip("s") for one in ask.utterance.of_kind("Gpu")} - {"gpu", "card"}
    words |= set(re.findall(r"\b(?:nvidia|amd|intel|slurm|pbs|lsf|flux)\b", ask.text.lower()))
    known = [one for one in catalogue().clusters.values() if all(has(one, word) for word in words)]
    if not known:
        return write_document(f"None of the machines here has {' and '.join(sorted(words))}.")
    rows = [
        f"**{title}:** {', '.join(one.title for one in known if one.scheduler == scheduler)}"
        for scheduler, title in NAMES.items()
    ]
    how = "`maple-chat clusters NAME` prints all that is known of one; of another, tell me its scheduler and GPUs."
    rows = [row for row in rows if not row.endswith(":** ")]
    which = f" with {' and '.join(word.upper() for word in sorted(words))}" if words else ""
    return write_document(f"{plural(len(known), 'machine')}{which}:", *rows, how)


def has(machine: Cluster, word: str) -> bool:
    """Whether a GPU's model or vendor, or the scheduler, is called so."""
    gpus = (f"{kind.gpus.model} {kind.id} {kind.gpus.vendor}".lower() for kind in machine.node_types)
    return word == machine.scheduler or any(word in one for one in gpus)


def compare_machines(ask: Ask) -> Document | None:
    """GPUs, nodes, longest runs and internet of those named, one a paragraph; what no fact decides is said."""
    named = [catalogue().clusters[name] for name in ask.utterance.machines() if name in catalogue().clusters]
    named += [ask.machine] if ask.machine and ask.machine not in named else []
    if len(named) < 2:
        return None
    waits = re.search(r"\b(?:faster to start|wait\w*|queue\w*|sooner|busy|start)\b", ask.text, re.I)
    unseen = (
        "How long either queue is now I cannot see from here: `sinfo` or `qstat -Q` there, `squeue --start` after."
        if waits
        else ""
    )
    return write_document(unseen, *(in_a_line(one) for one in named[:MOST]), pick(named), cite(pages(named), ""))


def in_a_line(machine: Cluster) -> str:
    kinds = [kind for kind in machine.node_types if kind.gpus.per_node]
    gpus = "; ".join(
        f"{kind.gpus.per_node} x {kind.gpus.model}{f' {kind.gpus.memory_gb:g} GB' if kind.gpus.memory_gb else ''} a "
        f"node" + (f", {kind.count} nodes" if kind.count else "")
        for kind in kinds[:3]
    )
    usual = machine.default_queue
    longest = max((q.max_walltime for q in machine.gpu_queues if q.max_walltime), key=walltime_seconds, default=None)
    time = f"{usual.id} {spell(usual.max_walltime)}" if usual.max_walltime else f"{usual.id}, time limit not known"
    most = f", at most {plural(usual.max_nodes, 'node')}" if usual.max_nodes else ""
    else_longest = f"; longest of any queue {spell(longest)}" if longest and longest != usual.max_walltime else ""
    internet = {"yes": "internet", "no": "no internet", "proxy": "internet by proxy"}.get(machine.internet.access)
    there = f" On compute nodes {internet}." if internet else ""
    return f"**{machine.title}** ({NAMES[machine.scheduler]}): {gpus}. {time}{most}{else_longest}.{there}"


def pick(named: Sequence[Cluster]) -> str:
    """The one with the most memory a node, and what speaks for the others."""
    best = max(named, key=memory_of)
    vendors = {one.node_types[0].gpus.vendor for one in named}
    port = (
        " CUDA-only packages (Megatron's kernels, apex, flash-attn) are least work on NVIDIA."
        if len(vendors) > 1
        else ""
    )
    return (
        f"By GPU memory of a node {best.title} holds the largest model ({memory_of(best):g} GB).{port} For what fits "
        f"on all of "
        "them take the one where you have hours and the time limit fits."
    )


def memory_of(machine: Cluster) -> float:
    """GB of GPU memory of the largest usual node."""
    kind = machine.node_type(machine.default_queue.node_types[0])
    return (kind.gpus.memory_gb or 0) * (kind.gpus.per_node or 0)


def pages(named: Sequence[Cluster]) -> list[str]:
    return [one.node_types[0].source or one.docs or "" for one in named[:MOST]]
