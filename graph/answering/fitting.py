"""`FSDP or DDP for a 7B model?`, `does 13B fit on an A100?`, `how many nodes for 70B?`: by the size of its state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.answering.asking import named_node_types, spaced
from graph.answering.fact_answer import FactAnswer, as_sentence
from graph.planning.gpus import SHARE, SOURCE, STATE_BYTES, device_gb, fewest_ranks, fits, parameters, state_gb
from graph.planning.queues import plural
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType
from knowledge.types import JobRequest, Strategy

MODEL = r"[a-z]{1,2}\d{2,3}[a-z]?s?"
ASKS = re.compile(
    r"\b(?:fits?|enough|better|best|too (?:big|large|small)|which (?:parallel |sharding )?(?:strategy|parallelism|one)"
    rf"|how many [^?]{{0,20}}\b(?:gpus?|nodes?|cards?|{MODEL})|how much (?:gpu )?memory|shard\w*|fsdp\d?|ddp"
    r"|zero[- ]?\d?)\b",
    re.I,
)
# Where only the request names the model, the question must be about what it needs.
MEANS_IT = re.compile(r"\b(?:f?fits?|enough|too (?:big|large|small)|needs?|which (?:strategy|one)|or|vs)\b", re.I)
OTHER_WORK = re.compile(
    r"\b(?:infer\w*|serv(?:e|ing)|q?lora|adapters?|peft|quanti\w*|int8|fp8|[48][- ]?bit|how (?:long|fast)|throughput"
    r"|tokens|offload\w*|checkpoints?|batch|learning rate|launch\w*|start|torchrun|srun)\b",
    re.I,
)
COUNTED = re.compile(rf"(?<![\w.-])(\d{{1,5}})\s*(?:x\s*)?(nodes?|gpus?|cards?|gcds?|tiles|{MODEL})\b", re.I)
# From this share of a GPU on, the state leaves nothing to train with.
FULL = 0.9
MOST_KINDS = 2
# Stages that spread a part only: told where they are asked about.
LOWER: tuple[Strategy, ...] = ("zero1", "zero2")
# What GPUs of today's machines have, where none is named.
COMMON_GB = (40, 80)
GPU_NAMED = re.compile(rf"\b{MODEL}\b", re.I)


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as a framework counts it. per_node None: no machine is spoken of."""

    name: str
    gb: float
    per_node: int | None


def fitting(question: str, cluster: Cluster | None, request: JobRequest) -> FactAnswer | None:
    """What of the model fits where; None where no size is known, or the question is about something else."""
    billions = parameters(question) or (parameters(request.model or "") if MEANS_IT.search(question) else None)
    split = request.strategy in ("tp", "pp", "3d") and not parameters(question)
    if billions is None or split or not ASKS.search(question) or OTHER_WORK.search(question):
        return None
    nodes = named(question, cluster, request)
    kinds = {gb: device(node, gb, cluster) for node in reversed(nodes) if (gb := device_gb(node))}
    if not kinds and (cluster or GPU_NAMED.search(question)):
        return None
    kinds = kinds or {gb: Device(f"GPU with {gb} GB", gb, None) for gb in COMMON_GB}
    stages = [stage for stage in LOWER if re.search(rf"zero[- ]?{stage[-1]}\b", question, re.I)]
    found = sorted(kinds.values(), key=lambda kind: kind.gb)[:MOST_KINDS]
    told = [
        f"A model of {billions:g} billion parameters keeps about {billions * STATE_BYTES:.0f} GB while it trains with "
        f"Adam in mixed precision ({STATE_BYTES} bytes each: weights, gradients, optimizer state); activations come on "
        "top",
        *(verdict(billions, one, ranks_of(question, request, one), stages) for one in found),
    ]
    pages = [node.source for node in nodes if cluster and node.source][:1]
    return FactAnswer(" ".join(map(as_sentence, told)), (SOURCE, *pages), cluster.as_of if cluster else "")


def named(question: str, cluster: Cluster | None, request: JobRequest) -> tuple[NodeType, ...]:
    """The kinds of node that are spoken of: those named, that of the request, or the machine's usual one."""
    text = " ".join(question.lower().split())
    if cluster is None:
        words = {word.removesuffix("s") for word in re.findall(rf"\b{MODEL}\b", text)}
        every = (node for one in catalogue().clusters.values() for node in one.node_types)
        found = tuple(node for node in every if node.gpus.model.lower() in words)
    else:
        own = tuple(node for node in cluster.node_types if node.id == request.node_type)
        usual = (cluster.node_type(cluster.default_queue.node_types[0]),)
        found = named_node_types(text, cluster) or own or usual
    return tuple(n for n in found if n.gpus.memory_gb and f"{n.gpus.memory_gb:g} gb" in spaced(text)) or found


def device(node: NodeType, gb: float, cluster: Cluster | None) -> Device:
    gpus = node.gpus
    kind = (gpus.tile_name or "tile") if gpus.tiles_per_gpu > 1 else "GPU"
    where = f" of {cluster.title}" if cluster else ""
    return Device(f"{kind} with {gb:g} GB ({gpus.model}{where})", gb, gpus.devices_per_node if cluster else None)


def verdict(billions: float, kind: Device, ranks: int | None, stages: Sequence[Strategy]) -> str:
    """Which strategies fit on one kind of GPU."""
    if fits(billions, kind.gb):
        return f"A {kind.name} holds that, so DDP will do: it is the simplest"
    whole = "too little for DDP" if state_gb(billions) > FULL * kind.gb else "tight for DDP"
    told = f"A {kind.name} is {whole}, which keeps all of it on each GPU"
    least = fewest_ranks(billions, kind.gb)
    if ranks is None or ranks < 2:
        return f"{told}; FSDP or ZeRO-3 spread it and fit from about {at_least(least, kind)} on"
    for stage in stages:
        told += f"; ZeRO-{stage[-1]} over {ranks} keeps {state_gb(billions, stage, ranks):.0f} GB on each"
    share = state_gb(billions, "fsdp", ranks)
    spread = f"{told}; FSDP or ZeRO-3 over {ranks} keep {share:.0f} GB on each"
    if share <= SHARE * kind.gb:
        return f"{spread}, which fits: take one of them"
    tight = "tight (activation checkpointing, a small batch)" if share < FULL * kind.gb else "too much"
    return f"{spread}, which is {tight}: better {at_least(least, kind)} or more"


def at_least(ranks: int, kind: Device) -> str:
    if kind.per_node is None or ranks <= kind.per_node:
        return plural(ranks, "GPU")
    return f"{ranks} GPUs ({plural(-(-ranks // kind.per_node), 'node')})"


def ranks_of(question: str, request: JobRequest, kind: Device) -> int | None:
    """How many GPUs the question, or else the request, is about."""
    counts: Iterable[tuple[int, str]] = ((int(number), what.lower()) for number, what in COUNTED.findall(question))
    for number, what in counts:
        if not what.startswith("node"):
            return number
        if kind.per_node:
            return number * kind.per_node
    each = request.gpus_per_node or kind.per_node
    return request.total_gpus or (request.nodes * each if request.nodes and each else None)
