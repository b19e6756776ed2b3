"""What the directives ask for: nodes, and GPUs a node, in each batch system's own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.extraction.amounts import LOOP

# GPUs of the node types that two Grid Engine sites hand out: https://docs.abci.ai/2.0/en/job-execution/ and
# https://www.t4.cii.isct.ac.jp/docs/handbook.en/jobs/ (TSUBAME 3: f_node, h_node, q_node).
NODE_TYPES = {
    "rt_F": 4, "rt_AF": 8, "rt_G.large": 4, "rt_G.small": 1, "rt_AG.small": 1, "node_f": 4, "node_h": 2, "node_q": 1,
    "gpu_1": 1, "f_node": 4, "h_node": 2, "q_node": 1, "s_gpu": 1,
}  # fmt: skip
GPU_COUNT = re.compile(r"gpus?(?:[:=][\w.-]*[A-Za-z][\w.-]*)?[:=](\d+)", re.I)


@dataclass(slots=True)
class Counts:
    """nodes and gpus_per_node of the job, None where the text does not tell; total_gpus where only a total is said."""

    nodes: int | None = None
    gpus_per_node: int | None = None
    total_gpus: int | None = None
    facts: dict[str, int] = field(default_factory=lambda: {LOOP: 0})


def whole(text: str | None) -> int | None:
    """The first whole number of a value such as `4`, `2-4` or `16(x2)`."""
    found = re.match(r"\s*(\d+)", text or "")
    return int(found[1]) if found else None


def gpu_number(text: str | None) -> int | None:
    """The GPUs of `gpu:a100:4`, `a100:4`, `gpu=2`, `4`; bare `gpu` is one."""
    if not text:
        return None
    found = GPU_COUNT.search(text) or re.fullmatch(r"(?:[\w.-]+:)?(\d+)", text)
    if found:
        return int(found[1])
    return 1 if re.fullmatch(r"gpu(:[A-Za-z][\w.-]*)?", text) else None


def nothing_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    return None


def slurm_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    """GPUs a node by the directives; the node count too where tasks tell it."""
    tasks, per_node = whole(options.get("ntasks")), whole(options.get("ntasks-per-node"))
    per_gpu_node = gpu_number(options.get("gpus-per-node")) or gpu_number(gres(options.get("gres")))
    counts.total_gpus = gpu_number(options.get("gpus"))
    counts.nodes = whole(options.get("nodes"))
    if not counts.nodes and tasks and per_node:
        counts.nodes = -(-tasks // per_node)
    if not counts.nodes and (tasks == 1 or counts.total_gpus == 1):
        counts.nodes = 1
    if not counts.nodes and counts.total_gpus and per_gpu_node:
        counts.nodes = -(-counts.total_gpus // per_gpu_node)
    if per_gpu_node:
        return per_gpu_node
    if counts.total_gpus and counts.nodes:
        return max(1, counts.total_gpus // counts.nodes)
    per_task = gpu_number(options.get("gpus-per-task")) or gpu_number(gres(options.get("tres-per-task")))
    here = per_node or (-(-tasks // counts.nodes) if tasks and counts.nodes else 1)
    return per_task * here if per_task else None


def gres(text: str | None) -> str | None:
    """The GPU part of a list of generic resources (`nvme:1,gres/gpu:h100:8`)."""
    return next(
        (part.removeprefix("gres/").removeprefix("gres:") for part in (text or "").split(",") if "gpu" in part), None
    )


def pbs_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    """`select=N:ngpus=4`, Torque's `nodes=N:gpus=2`, or `ngpus` for the whole job."""
    request = options.get("select") or options.get("nodes") or ""
    chunks = [chunk for chunk in request.split("+") if chunk]
    sizes = [whole(chunk) or 1 for chunk in chunks]
    counts.nodes = sum(sizes) or None
    per_chunk = max((int(n) for chunk in chunks for n in re.findall(r":n?gpus=(\d+)", chunk)), default=0)
    if per_chunk:
        return per_chunk
    total = whole(options.get("ngpus")) or whole(options.get("gpus"))
    if total and counts.nodes:
        return max(1, total // counts.nodes)
    counts.total_gpus = total
    return None


def lsf_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    slots = whole(options.get("slots"))
    spread = re.search(r"span\[(ptile|hosts)=(\d+)\]", " ".join(options.values()))
    counts.nodes = whole(options.get("nodes"))
    if not counts.nodes and spread:
        counts.nodes = int(spread[2]) if spread[1] == "hosts" else -(-(slots or 1) // int(spread[2]))
    if not counts.nodes and slots == 1:
        counts.nodes = 1
    found = re.search(r"num=(\d+)(/task)?", options.get("gpu", ""))
    return int(found[1]) if found else None


def flux_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    counts.nodes = whole(options.get("nodes"))
    per_node, per_slot = whole(options.get("gpus-per-node")), whole(options.get("gpus-per-slot"))
    slots = whole(options.get("nslots"))
    if per_node or not per_slot:
        return per_node
    return per_slot * max(1, slots // counts.nodes) if slots and counts.nodes else per_slot


def sge_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    """GPUs by `-l gpu=2` or `-pe gpu-a100 4`, or whole nodes by their type (`-l rt_F=4`)."""
    for name, gpus in NODE_TYPES.items():
        if name in options:
            counts.nodes = whole(options[name])
            return gpus
    slots = re.fullmatch(r"\S*gpu\S* (\d+)", options.get("parallel", ""))
    return int(slots[1]) if slots else whole(options.get("gpu") or options.get("gpus"))


def simple_asked(options: Mapping[str, str], counts: Counts) -> int | None:
    counts.nodes = whole(options.get("nodes"))
    return None


ASKED = {
    "slurm": slurm_asked,
    "pbs": pbs_asked,
    "lsf": lsf_asked,
    "flux": flux_asked,
    "cobalt": simple_asked,
    "sge": sge_asked,
}
