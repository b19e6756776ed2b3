"""Flux: queues and nodes, from `flux queue list` and `flux resource list` in columns of our choice.

Fields: https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man1/flux-queue.html and flux-resource.html
(read 2026-11-22). Flux knows the number of a node's GPUs and cores, not the GPU's name or the memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.discovery.found import MachineFound, NodeKind, QueueFound, counted
from knowledge.schedulers.asking import CouldNotAsk
from knowledge.schedulers.live import Ask

QUEUES = ["flux", "queue", "list", "-n", "-o"]
QUEUE_COLUMNS = "{queuem}|{submission}|{scheduling}|{limits.timelimit}|{limits.min.nnodes}|{limits.max.nnodes}"
NODES = ["flux", "resource", "list", "-n", "-s", "all", "-o"]
NODE_COLUMNS = "{queue}|{propertiesx}|{nnodes}|{ncores}|{ngpus}|{nodelist}"
POLICY = ["flux", "config", "get", "sched-fluxion-resource.match-policy"]


def flux_machine(ask: Ask) -> MachineFound | CouldNotAsk:
    """This machine's queues; why not, where the queues or the nodes could not be asked."""
    queues, nodes = ask([*QUEUES, QUEUE_COLUMNS]), ask([*NODES, NODE_COLUMNS])
    if isinstance(queues, CouldNotAsk):
        return queues
    if isinstance(nodes, CouldNotAsk):
        return nodes
    policy = ask(POLICY)
    # Policies such as lonodex hand out whole nodes.
    exclusive = not isinstance(policy, CouldNotAsk) and "nodex" in policy.text
    rows = [line.split("|") for line in nodes.text.splitlines() if line.count("|") == 5]
    found = [
        queue_of(cells, rows, exclusive)
        for line in queues.text.splitlines()
        if len(cells := [cell.strip() for cell in line.split("|")]) == 6
    ]
    prefix = re.match(r"[a-z-]+", rows[0][5].strip().lower()) if rows else None
    return MachineFound(
        "flux", prefix[0].strip("-") if prefix else "", tuple(found), ("flux resource list", "flux queue list")
    )


def queue_of(cells: Sequence[str], rows: Sequence[Sequence[str]], exclusive: bool) -> QueueFound:
    name = cells[0].rstrip("*")
    kinds = [kind for row in rows if not name or name in row[0].strip().split(",") for kind in kinds_of(row)]
    seconds, fewest, most = (float(n) if re.fullmatch(r"\d+(?:\.\d+)?", n) else None for n in cells[3:])
    return QueueFound(
        name or "default",
        counted(kinds),
        seconds or None,
        int(most) if most else None,
        max(1, int(fewest or 1)),
        cells[0].endswith("*") or not name,
        exclusive,
        (cells[1], cells[2]) == ("enabled", "started"),
    )


def kinds_of(row: Sequence[str]) -> list[NodeKind]:
    """The nodes of a row, all alike; the property that looks like a GPU's name is taken for it."""
    nodes, cores, gpus = (int(n) if n.strip().isdigit() else 0 for n in row[2:5])
    properties = tuple(name for name in row[1].strip().split(",") if name)
    named = next((p.lower() for p in properties if re.match(r"(?i)(?:mi|[abhlv]|gh|gb)\d{2,3}", p)), "")
    kind = NodeKind(cores // nodes if nodes else 0, 0, named, gpus // nodes if nodes else 0, properties)
    return [kind] * nodes
