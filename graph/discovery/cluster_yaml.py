"""A cluster file from what the scheduler told; what no command tells stands under `unknown`, never guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from graph.discovery.found import MachineFound, NodeKind, QueueFound
from graph.discovery.node_job import NodeFacts
from graph.extraction.walltime import clock
from knowledge.schedulers.anywhere import SchedulerForm, scheduler_form

# The vendor and the software backend of a GPU, by how its scheduler's name for it begins.
VENDORS = (
    (re.compile(r"mi\d|instinct|gfx|amd"), "amd", "rocm"),
    (re.compile(r"max|pvc|ponte|arc|intel"), "intel", "xpu"),
    (re.compile(r"[ahbvptl]\d|gh|gb|rtx|tesla|gtx|quadro|titan|nvidia|k\d|a\d"), "nvidia", "cuda"),
)
UNKNOWN = (
    "account: the form of project names (your PI)",
    "internet: whether compute nodes reach the internet",
    "interconnect: network interfaces and NCCL variables (`ip -br addr` on a node)",
    "memory of a GPU (`nvidia-smi` on a node)",
    "modules: which one brings PyTorch (`module avail`)",
    "file systems: scratch and its purge",
)


@dataclass(frozen=True, slots=True)
class Discovered:
    """The name of the file's machine, its text, what a person has to add, and queues that were left out."""

    id: str
    text: str
    unknown: tuple[str, ...]
    left_out: tuple[str, ...]


Probed = tuple[NodeFacts, NodeKind]


def cluster_yaml(machine: MachineFound, day: str, probed: Probed | None = None) -> Discovered | None:
    """The file of a machine with GPUs; None where no queue has any.

    `probed`: what a job on a node of that kind told.
    `day` is the ISO date on which it was read; it stands beside each fact with the command that told it.
    """
    with_gpus = [queue for queue in machine.queues if queue.has_gpus]
    if not with_gpus:
        return None
    name, form = machine.name or "this-machine", scheduler_form(machine.scheduler, "discovered")
    nodes, queues = (f"{command}, read here {day}" for command in machine.told_by)
    ids = kind_ids(with_gpus)
    default = next((queue for queue in with_gpus if queue.default), with_gpus[0])
    guessed = tuple(
        f"vendor of the GPU that the scheduler {f'calls {k.gpu!r}' if k.gpu else 'only counts'}: NVIDIA is written"
        for k in ids
        if not known_vendor(k.gpu)
    )
    accounts = () if machine.needs_account is not None else ("account: whether a job is refused without one",)
    node = probed[0] if probed else NodeFacts()
    unknown = tuple(dict.fromkeys((*still_unknown(node), *accounts, *form.unknown, *guessed)))
    needed = bool(machine.needs_account)
    value = {
        "id": re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "this-machine",
        "title": name,
        "names": [name.lower()],
        "site": "read on its login node",
        "as_of": day,
        "status": (
            f"Written by `maple-chat clusters discover` on {day}; what stands under unknown has to be added by hand."
        ),
        "scheduler": machine.scheduler,
        "submit": form.submit,
        "node_types": [
            with_node(node_value(kind, ids[kind], with_gpus, nodes), node, f"a job on a node, read here {day}")
            if probed and same_node(kind, probed[1])
            else node_value(kind, ids[kind], with_gpus, nodes)
            for kind in ids
        ],
        "queues": [queue_value(queue, ids, queue is default, queues) for queue in with_gpus],
        "whole_nodes": form.whole_nodes or all(queue.exclusive for queue in with_gpus),
        "directives": [{"text": text} for text in form.directives],
        "required": [{"key": key} for key in (*(("account",) if needed else ()), "queue", "gpus", "walltime")],
        "account": {"needed": needed},
        **({"preamble": list(form.preamble)} if form.preamble else {}),
        **launch(form),
        **internet_value(node, f"a job on a node, read here {day}"),
        "unknown": list(unknown),
        "sources": [f"{' and '.join(machine.told_by)}, read here {day}"],
    }
    rest = tuple(queue.name for queue in machine.queues if queue not in with_gpus)
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110)
    return Discovered(str(value["id"]), text, unknown, rest)


def still_unknown(node: NodeFacts) -> list[str]:
    """What a person has to add yet, after what a node told."""
    found = []
    for line in UNKNOWN:
        told = {
            "internet": node.internet is not None,
            "memory of a GPU (`nvidia-smi` on a node)": node.gpu_gb is not None,
            "modules": bool(node.modules),
        }.get(line if line.startswith("memory") else line.partition(":")[0], False)
        if line.startswith("interconnect") and node.fabric:
            line = "interconnect: NCCL variables (the network cards are known)"
        if line.startswith("file systems") and node.folders:
            line = "file systems: their purge"
        found += [] if told else [line]
    return found


def same_node(kind: NodeKind, other: NodeKind) -> bool:
    return (kind.gpu, kind.gpus) == (other.gpu, other.gpus)


def with_node(value: dict[str, object], node: NodeFacts, source: str) -> dict[str, object]:
    """A node type with what one of its nodes told; each with its source."""
    gpus = dict(value["gpus"])  # type: ignore[call-overload]
    gpus |= {"model": node.gpu} if node.gpu else {}
    gpus |= {"memory_gb": node.gpu_gb} if node.gpu_gb else {}
    told = {
        "GPU links (nvidia-smi topo -m)": node.links,
        "interfaces that are up": ", ".join(node.interfaces),
        "NUMA": "; ".join(node.numa),
        "folders": "; ".join(node.folders),
        "modules with torch or conda": ", ".join(node.modules),
    }
    notes = [f"{name}: {says} ({source})" for name, says in told.items() if says]
    nics = {"kind": node.fabric, "count": node.fabric_ports or None, "gbps_each": node.fabric_gbps}
    more = {"nics": {key: one for key, one in nics.items() if one}} if node.fabric else {}
    before: list[str] = value["notes"]  # type: ignore[assignment]
    return {**value, "gpus": gpus, **more, "notes": [*before, *notes], "source": f"{value['source']}; {source}"}


def internet_value(node: NodeFacts, source: str) -> dict[str, object]:
    """Whether a node reached the internet, where one was asked."""
    if node.internet is None:
        return {}
    access = "yes" if node.internet else "proxy" if node.proxies else "no"
    note = f"set there: {', '.join(node.proxies)}" if node.proxies else "a connection to port 443 outside was tried"
    return {"internet": {"access": access, "note": note, "source": source}}


def kind_ids(found: Sequence[QueueFound]) -> dict[NodeKind, str]:
    """A name for each kind of node with GPUs: the GPU's name and number, told apart where two would be alike."""
    ids: dict[NodeKind, str] = {}
    for kind in dict.fromkeys(kind for queue in found for kind, _ in queue.kinds if kind.gpus):
        name = f"{kind.gpu or 'gpu'}x{kind.gpus}"
        ids[kind] = name if name not in ids.values() else f"{name}-{len(ids) + 1}"
    return ids


def known_vendor(gpu: str) -> tuple[str, str] | None:
    return next(((vendor, backend) for begin, vendor, backend in VENDORS if begin.match(gpu)), None)


def node_value(kind: NodeKind, name: str, found: Sequence[QueueFound], source: str) -> dict[str, object]:
    """A node type, its number the largest that a queue shows."""
    vendor, backend = known_vendor(kind.gpu) or ("nvidia", "cuda")
    most = max(many for queue in found for other, many in queue.kinds if other == kind)
    gpus = {"vendor": vendor, "model": kind.gpu.upper() or "unknown", "per_node": kind.gpus, "backend": backend}
    return {
        "id": name,
        "count": most or None,
        "gpus": gpus,
        "cpu": {
            "cores": kind.cpus // max(1, kind.threads) or None,
            "threads_per_core": kind.threads,
            "schedulable": kind.cpus or None,
        },
        "memory_gb": round(kind.memory_mb / 1024) or None,
        "gpu_type": kind.gpu or None,
        "notes": [f"features: {', '.join(kind.features)}"] if kind.features else [],
        "source": source,
    }


def queue_value(queue: QueueFound, ids: dict[NodeKind, str], default: bool, source: str) -> dict[str, object]:
    longest = [
        {
            "min_nodes": stretch.fewest_nodes,
            "max_nodes": stretch.most_nodes,
            "max_walltime": clock(stretch.seconds),
        }
        for stretch in queue.stretches
        if stretch.seconds
    ]
    return {
        "id": queue.name,
        "node_types": [ids[kind] for kind, _ in queue.kinds if kind in ids],
        "max_walltime": clock(queue.seconds) if queue.seconds else None,
        "min_nodes": queue.fewest_nodes,
        "max_nodes": queue.most_nodes,
        **({"limits": longest} if longest and len(longest) == len(queue.stretches) else {}),
        "whole_nodes": queue.exclusive,
        "purpose": "debug" if re.search(r"debug|dev|test", queue.name) else "production",
        "default": default,
        "source": source,
    }


def launch(form: SchedulerForm) -> dict[str, object]:
    """One launcher a node, started by the scheduler's own: what holds on any machine of that scheduler."""
    start = {"launcher": form.launcher, "options": list(form.options), "documented": False}
    environment = {"name": "VENV", "value": "$HOME/venv", "why": "your Python environment", "environment": True}
    software = {"settings": [environment], "lines": ['source "$VENV/bin/activate"'], "python": "python"}
    return {
        "software": {"default": software},
        "internet": {"access": "unknown"},
        "rendezvous": {"host": form.host, "port": form.port},
        "launch": {
            "pytorch": [{**start, "workers": "torchrun"}],
            "deepspeed": [{**start, "workers": "torchrun"}],
            "accelerate": [{**start, "workers": "accelerate"}],
        },
    }
