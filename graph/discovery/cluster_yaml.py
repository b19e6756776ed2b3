"""A cluster file from what the scheduler told; what no command tells stands under `unknown`, never guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from graph.discovery.partitions import NodeKind, PartitionFound
from graph.extraction.walltime import clock

# The vendor and the software backend of a GPU, by how its name in Slurm begins.
VENDORS = (
    (re.compile(r"mi\d|instinct|gfx|amd"), "amd", "rocm"),
    (re.compile(r"max|pvc|ponte|arc|intel"), "intel", "xpu"),
    (re.compile(r"[ahbvptl]\d|gh|gb|rtx|tesla|gtx|quadro|titan|nvidia|k\d|a\d"), "nvidia", "cuda"),
)
UNKNOWN = (
    "account: the form of project names (your PI, or `sacctmgr show assoc where user=$USER`)",
    "internet: whether compute nodes reach the internet",
    "interconnect: network interfaces and NCCL variables (`ip -br addr` on a node)",
    "memory of a GPU (`nvidia-smi` on a node)",
    "modules: which one brings PyTorch (`module avail`)",
    "file systems: scratch and its purge",
)


@dataclass(frozen=True, slots=True)
class Discovered:
    """The name of the file's machine, its text, what a person has to add, and partitions that were left out."""

    id: str
    text: str
    unknown: tuple[str, ...]
    left_out: tuple[str, ...]


def cluster_yaml(name: str, found: Sequence[PartitionFound], needs_account: bool, day: str) -> Discovered | None:
    """The file of a machine with GPUs; None where no partition has any.

    `day` is the ISO date on which it was read; it stands beside each fact with the command that told it.
    """
    with_gpus = [part for part in found if any(kind.gpus for kind, _ in part.kinds)]
    if not with_gpus:
        return None
    ids = kind_ids(with_gpus)
    default = next((part for part in with_gpus if part.default), with_gpus[0])
    guessed = tuple(f"vendor of the GPU that Slurm calls '{k.gpu}'" for k in ids if not known_vendor(k.gpu))
    unknown = (*UNKNOWN, *dict.fromkeys(guessed))
    value = {
        "id": re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "this-machine",
        "title": name,
        "names": [name.lower()],
        "site": "read on its login node",
        "as_of": day,
        "status": (
            f"Written by `maple-chat clusters discover` on {day}; what stands under unknown has to be added by hand."
        ),
        "scheduler": "slurm",
        "submit": "sbatch",
        "node_types": [node_value(kind, ids[kind], with_gpus, day) for kind in ids],
        "queues": [queue_value(part, ids, part is default, day) for part in with_gpus],
        "whole_nodes": False,
        "directives": directives(needs_account),
        "required": [{"key": key} for key in (*(("account",) if needs_account else ()), "queue", "gpus", "walltime")],
        "account": {"needed": needs_account},
        **LAUNCH,
        "unknown": list(unknown),
        "sources": [f"sinfo and scontrol show partition, read here {day}"],
    }
    rest = tuple(part.name for part in found if part not in with_gpus)
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110)
    return Discovered(str(value["id"]), text, unknown, rest)


def kind_ids(found: Sequence[PartitionFound]) -> dict[NodeKind, str]:
    """A name for each kind of node with GPUs: the GPU's name and number, told apart where two would be alike."""
    ids: dict[NodeKind, str] = {}
    for kind in dict.fromkeys(kind for part in found for kind, _ in part.kinds if kind.gpus):
        name = f"{kind.gpu or 'gpu'}x{kind.gpus}"
        ids[kind] = name if name not in ids.values() else f"{name}-{len(ids) + 1}"
    return ids


def known_vendor(gpu: str) -> tuple[str, str] | None:
    return next(((vendor, backend) for begin, vendor, backend in VENDORS if begin.match(gpu)), None)


def node_value(kind: NodeKind, name: str, found: Sequence[PartitionFound], day: str) -> dict[str, object]:
    """A node type, its number the largest that a partition shows."""
    vendor, backend = known_vendor(kind.gpu) or ("nvidia", "cuda")
    most = max(many for part in found for other, many in part.kinds if other == kind)
    gpus = {"vendor": vendor, "model": kind.gpu.upper() or "unknown", "per_node": kind.gpus, "backend": backend}
    return {
        "id": name,
        "count": most or None,
        "gpus": gpus,
        "cpu": {
            "cores": kind.cpus // max(1, kind.threads) or None,
            "threads_per_core": kind.threads,
            "schedulable": kind.cpus,
        },
        "memory_gb": round(kind.memory_mb / 1024),
        "gpu_type": kind.gpu or None,
        "notes": [f"features: {', '.join(kind.features)}"] if kind.features else [],
        "source": f"sinfo, read here {day}",
    }


def queue_value(part: PartitionFound, ids: dict[NodeKind, str], default: bool, day: str) -> dict[str, object]:
    return {
        "id": part.name,
        "node_types": [ids[kind] for kind, _ in part.kinds if kind in ids],
        "max_walltime": clock(part.seconds) if part.seconds else None,
        "min_nodes": part.fewest_nodes,
        "max_nodes": part.most_nodes,
        "whole_nodes": part.exclusive,
        "purpose": "debug" if re.search(r"debug|dev|test", part.name) else "production",
        "default": default,
        "source": f"scontrol show partition, read here {day}",
    }


def directives(needs_account: bool) -> list[dict[str, str]]:
    texts = ["--partition={queue}", "--nodes={nodes}", "--ntasks-per-node={tasks_per_node}"]
    texts += ["--cpus-per-task={cpus_per_task}", "--gpus-per-node={gpus_per_node}", "--time={walltime}"]
    return [{"text": text} for text in ([*(["--account={account}"] if needs_account else []), *texts])]


FORM = {"launcher": "srun", "options": ["--cpus-per-task={cpus_per_task}"], "documented": False}
# What holds on any Slurm: the rendezvous by scontrol, one launcher a node by srun.
LAUNCH: dict[str, object] = {
    "software": {
        "default": {
            "settings": [
                {"name": "VENV", "value": "$HOME/venv", "why": "your Python environment", "environment": True}
            ],
            "lines": ['source "$VENV/bin/activate"'],
            "python": "python",
        }
    },
    "internet": {"access": "unknown"},
    "rendezvous": {
        "host": '$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)',
        "port": "$((10000 + SLURM_JOB_ID % 50000))",
    },
    "launch": {
        "pytorch": [{**FORM, "workers": "torchrun"}],
        "deepspeed": [{**FORM, "workers": "torchrun"}],
        "accelerate": [{**FORM, "workers": "accelerate"}],
    },
}
