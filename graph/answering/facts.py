"""The typed facts of a machine that answer a topic: which side of it is asked, by the first pattern that fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from graph.answering import directives, hardware, launching, limits, surroundings
from graph.answering.ask import Ask
from graph.answering.asking import Inquiry, inquiry_of
from graph.answering.fact_answer import FactAnswer, say
from graph.answering.hardware import gpus_of, processor_kind
from graph.answering.launching import OUR_READING, in_words
from graph.planning.counting import Count
from graph.planning.gpus import mixed_precision
from graph.planning.launching import choose_launch
from graph.planning.strategies import choose_style
from knowledge.cluster import Cluster, NodeType, Software
from knowledge.types import Framework, JobRequest, Refusal, Strategy

# `Can I use FSDP on Lassen?`: whether a strategy or framework runs there, on which GPUs, and what it takes.


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


Tell = Callable[[Inquiry], FactAnswer | None]


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a topic: asked where the pattern is found in the lower-case words; tell may know no answer.

    Without tell the topic's own function answers.
    """

    pattern: str
    tell: Tell | None


SIDES: dict[str, tuple[Side, ...]] = {
    "site.limits": (
        Side(r"\bdiffer\w*|\bcompare|\bversus\b|\bvs\b|\bor\b|\bbetter\b|\bo\b|\bou\b|\boder\b", limits.compare),
        Side(r".", limits.fits),
        Side(r"\bjobs\b|at once|at the same time|simultan|\barrays?\b|\bruns\b|\bseeds\b|gleichzeitig|동시", None),
        Side(
            r"how long|longest|wall[ -]?time|wall ?clock|time limit|laufzeit|wie lange|temps|dur[eé]e|tiempo|시간",
            limits.how_long,
        ),
        Side(
            r"how many nodes|nodes? .{0,20}at (?:most|least)|(?:max\w*|min\w*|most|fewest|largest|biggest|smallest)\b"
            r".{0,20}\b(?:nodes|job|size)|node (?:limit|cap)|limit (?:on|of) nodes|how (?:big|large)|wie viele knoten"
            r"|combien de n(?:oe|œ)uds|cu[aá]ntos nodos|노드",
            limits.how_many_nodes,
        ),
        Side(
            r"wall[ -]?time|wall ?clock|\btime\b|longest|how long|hours?|days?|duration|run|laufzeit|wie lange|temps"
            r"|dur[eé]e|tiempo|durar|시간",
            limits.how_long,
        ),
        Side(r".", limits.which_queues),
    ),
    "site.hardware": (
        Side(r"network|interconnect|infiniband|slingshot|\bnics?\b|interface|ethernet|fabric|omni", hardware.network),
        Side(r"local (?:disk|ssd|storage|scratch)|node-?local|nvme|/tmp\b|\bssds?\b", hardware.local_disk),
        Side(r"x86|\barm\b|aarch64|ppc64|architecture|\bcpus?\b|\bcores?\b|threads|processor", hardware.cpus),
        Side(
            r"how many (?:\w+ ){0,2}nodes (?:does|are|has|is)\b|number of (?:\w+ )?nodes|how (?:big|large) is",
            hardware.node_count,
        ),
        Side(
            r"gpu (?:memory|ram)|vram|hbm|(?:memory|mem|ram)\b.{0,25}\b(?:gpus?(?! nodes?)|cards?|gcds?)|gcd",
            hardware.gpus,
        ),
        Side(r"memory|\bram\b|\bmem\b|speicher|m[eé]moire|memoria|메모리", hardware.memory),
        Side(r".", hardware.gpus),
    ),
    "site.directives": (
        Side(r"\d|[a-z]\d", lambda ask: hardware.gpus(ask) if ask.node_types else None),
        Side(
            r"(?:part|half|share|fraction) (?:of )?(?:a |the )?nodes?|(?:only|just) (?:one|1|a single|two|2) gpus?"
            r"|(?:single|one|1)[ -]gpu|nodes? (?:be )?shar\w+|whole nodes?|fewer gpus",
            directives.whole_nodes,
        ),
        Side(r"\baccount|suffix|\bbank\b", directives.account),
        Side(r".", directives.directives),
    ),
    "site.account": (Side(r"suffix|must|mandatory|need|end on|have to", directives.account),),
    "site.about": (
        Side(r"\bdocs?\b|documentation|user guide|manual|web ?page|website|link", surroundings.documentation),
        Side(
            r"scheduler|batch system|slurm|\bpbs\b|\blsf\b|\bflux\b|ordonnanceur|planificador", surroundings.scheduler
        ),
        Side(r".", surroundings.site),
    ),
    "machine.runs": (Side(r".", method),),
    "method.precision": (Side(r"\b(?:bf16|bfloat16)\b", method),),
    "script.launch": (
        Side(r"\bbind(?:ing)?\b|\bmasks?\b|affinity|pinning", launching.binding),
        Side(r".", launching.launcher),
    ),
    "option": (
        Side(r"[a-z]+_[a-z0-9_]+", surroundings.variable),
        Side(r"\bbind(?:ing)?\b|\bmasks?\b", launching.binding),
        Side(r"(?<![\w-])--?[a-z]|\bfilesystems\b|\b(?:gres|mem|constraint)\b", directives.option),
        Side(r"master|rendez-?vous|rdzv|head node", lambda ask: surroundings.rendezvous(ask.cluster)),
        Side(r"env(?:ironment)? ?var|variables|nccl|settings", surroundings.variables),
    ),
}


# A plan without a model asks for limits.
LIMITS_OF = {"plan": "site.limits"}


def compare_queues(ask: Ask) -> FactAnswer | None:
    """Two queues of the machine that the words set against each other; None where fewer are named."""
    inquiry = inquiry_of(ask)
    return limits.compare(inquiry) if inquiry else None


def answer_from_facts(ask: Ask) -> FactAnswer | None:
    """What the machine's typed facts say to the question's topic; None: nothing, or no machine is spoken of."""
    sides, inquiry = SIDES.get(ask.topic or LIMITS_OF.get(ask.clause.act, ""), ()), inquiry_of(ask)
    if inquiry is None:
        return None
    for side in sides:
        if not re.search(side.pattern, inquiry.text):
            continue
        if side.tell is None:
            return None
        told = side.tell(inquiry)
        if told and told.text:
            return told
    return None
