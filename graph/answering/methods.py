"""`Can I use FSDP on Lassen?`: whether a strategy or framework runs there, on which GPUs, and what it takes."""

from __future__ import annotations

import re

from graph.answering.asking import Inquiry
from graph.answering.fact_answer import FactAnswer, say
from graph.answering.hardware import gpus_of, processor_kind
from graph.answering.launching import OUR_READING, in_words
from graph.planning.counting import Count
from graph.planning.gpus import mixed_precision
from graph.planning.launching import choose_launch
from graph.planning.strategies import choose_style
from knowledge.cluster import Cluster, NodeType, Software
from knowledge.types import Framework, JobRequest, Refusal, Strategy

# How people name it -> its name, and the strategy and framework that planning knows.
NAMES: dict[str, tuple[str, Strategy, Framework | None]] = {
    r"fsdp\d?|fully[ -]sharded": ("FSDP", "fsdp", None),
    r"ddp|data[ -]parallel\w*": ("DDP", "ddp", None),
    r"zero[- ]?1": ("ZeRO-1", "zero1", None),
    r"zero[- ]?2": ("ZeRO-2", "zero2", None),
    r"zero[- ]?3": ("ZeRO-3", "zero3", None),
    r"tensor[ -]parallel\w*": ("Tensor parallelism", "tp", None),
    r"pipeline[ -]parallel\w*": ("Pipeline parallelism", "pp", None),
    r"deepspeed": ("DeepSpeed", "zero3", "deepspeed"),
    r"accelerate(?! launch)": ("Accelerate", "ddp", "accelerate"),
    r"(?:pytorch )?lightning": ("Lightning", "ddp", "lightning"),
    r"megatron(?:-lm)?": ("Megatron", "tp", "megatron"),
}
HALF = r"bf16|bfloat16"
ALIKE = "{} starts as plain PyTorch does; no page of {} on it is known here"
# What other topics answer better.
ELSEWHERE = re.compile(
    r"\b(?:how|torchrun|srun|mpiexec|mpirun|ibrun|jsrun|flux|install\w*|modules?|available|versions?)\b"
)


def method(ask: Inquiry) -> FactAnswer | None:
    """Yes or no, the GPUs, how it is started, and how its software comes there."""
    if ELSEWHERE.search(ask.text):
        return None
    node = usual(ask)
    if re.search(rf"\b(?:{HALF})\b", ask.text):
        opening = "Yes" if mixed_precision(node) == "bf16" else "No"
        return say(ask.cluster, [f"{opening}: {half(node, ask.cluster)}", gpus_of(node, ask)], [node.source])
    meant = next((meant for word, meant in NAMES.items() if re.search(rf"\b(?:{word})\b", ask.text)), None)
    if meant is None:
        return None
    name, strategy, framework = meant
    style = choose_style(JobRequest(strategy=strategy, framework=framework))
    if style is None or isinstance(style, Refusal):
        return None
    launch = choose_launch(ask.cluster, style, node, Count(2, node.gpus.devices_per_node or 1, ""))
    if isinstance(launch, Refusal):
        ways = " or ".join(way.says for way in launch.instead)
        return say(ask.cluster, [f"No: {launch.says}", launch.why, f"Instead: {ways}" if ways else ""], [launch.source])
    as_pytorch = "" if style.framework in ask.cluster.launch else ALIKE.format(name, ask.cluster.site)
    sentences = [
        f"Yes: {name} is started on {ask.cluster.title} with {in_words(launch.form)}",
        as_pytorch or ("" if launch.form.documented else OUR_READING),
        gpus_of(node, ask),
        half(node, ask.cluster) if mixed_precision(node) == "fp16" else "",
        *software(launch.software, node),
        *(f"Not known: {text}" for text in ask.cluster.unknown if "torch" in text.lower() or name in text),
        ask.cluster.status or "",
    ]
    return say(ask.cluster, sentences, [launch.form.source, node.source])


def usual(ask: Inquiry) -> NodeType:
    """The kind of node that is named, or the machine's usual one."""
    return ask.node_types[0] if ask.node_types else ask.cluster.node_type(ask.cluster.default_queue.node_types[0])


def half(node: NodeType, cluster: Cluster) -> str:
    """Whether its GPUs compute in bfloat16."""
    model = node.gpus.model
    if mixed_precision(node) == "bf16":
        return f"the {model} of {cluster.title} computes in bf16"
    return f"the {model} of {cluster.title} has no bf16: use fp16 with a gradient scaler"


def software(found: Software, node: NodeType) -> list[str]:
    """What is not as everywhere: the processor, and how the environment is made."""
    kind = processor_kind(node)
    wheels = f"Its processors are {kind}: packages built for x86 do not run" if kind else ""
    return [wheels, f"To make the environment: {found.create.strip()}" if found.create else ""]
