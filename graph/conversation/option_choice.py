"""Short answers that pick from what was offered, and what to take when a person leaves a choice to us."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from knowledge.cluster import Cluster, Queue
from knowledge.resource_question import ResourceQuestion
from knowledge.types import Alternative, JobRequest, Question

if TYPE_CHECKING:  # the planner is loaded with its first question
    from graph.planning.resources.options import ResourceOption

AGREED = (
    r"(?:y|yes|yep|yeah|yup|ok|okay|sure|please|do (?:it|that|so)|go ahead|go for it|fine|of course|ja|bitte|oui|si|sí)"
)
YES = re.compile(rf"{AGREED}(?:[,.! ]+(?:{AGREED}|then|thanks|thank you))*[.! ]*", re.I)
NO = re.compile(
    r"(?:n|no|nope|nah|nein|non|don'?t|do not|rather not|leave it|never ?mind)"
    r"(?:[,.! ]+(?:no|thanks|thank you|please|don'?t|need|leave it|not now))*[.! ]*",
    re.I,
)
NUMBER = re.compile(
    r"(?:(?:ok(?:ay)?|yes|then|let'?s|i(?:'ll| will|'d)?|take|pick|choose|go with|go for|rather)[, ]+)*"
    r"(?:option |number |no\.? ?|the )*(\d|first|second|third|fourth|last)(?: one| option)?"
    r"(?:[,. )]*(?:please|thanks|then))*[.)! ]*",
    re.I,
)
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
LEFT_TO_US = re.compile(
    r"\b(you (choose|pick|decide)|up to you|your (choice|call)|((do ?n[o']?t|no) (know|idea|care|preference|mind))|"
    r"dunno|idk|not sure|unsure|whatever|whichever|any(thing)? (is fine|will do)|surprise me|"
    r"(what|which)( one)? (do|would) you (recommend|suggest|advise)|(you )?(recommend|suggest))\b|"
    r"^\W*((use|take) )?(the |your )?(default|any|either)s?\W*$",
    re.I,
)
MOST_WORDS = 12
# What to take where a person leaves a field to us, and why.
ADVICE: dict[str, tuple[str | int, str]] = {
    "framework": ("pytorch", "plain PyTorch is the least to install"),
    "strategy": ("ddp", "the simplest; right whenever the model fits on one GPU"),
    "nodes": (1, "one node starts soonest; it is easy to grow afterwards"),
}
OF_FRAMEWORK = {"megatron": ("3d", "what Megatron is for")}
# `7B` is a Llama-7B of 6.74 B.
SAME_SIZE = 0.15
# What spreads a model's state over the GPUs, in the order in which it is proposed.
SPREADING = ("fsdp", "zero3", "tp")


def chosen(text: str, offered: Sequence[Alternative]) -> Alternative | None:
    """Which of the ways round a refusal the message picks: by its number, its words, or a bare yes to the first."""
    words = text.strip()
    if not offered or len(words) > 200:
        return None
    number = NUMBER.fullmatch(words)
    if number:
        name = number[1].lower()
        place = len(offered) if name == "last" else ORDINALS.get(name) or int(name)
        return offered[place - 1] if 1 <= place <= len(offered) else None
    if YES.fullmatch(words):
        return offered[0]
    return next((way for way in offered if way.says.lower() == words.lower()), None)


def apply(request: JobRequest, way: Alternative) -> JobRequest:
    """The request changed that way. A total no longer binds once nodes or GPUs a node were chosen."""
    change = dict(way.change)
    if {"nodes", "gpus_per_node"} & change.keys():
        change.setdefault("total_gpus", None)
    return changed(request, change)


def changed(request: JobRequest, change: Mapping[str, str | int | None]) -> JobRequest:
    return replace(request, **change)  # type: ignore[arg-type]


def recommended(
    text: str, question: Question, request: JobRequest, cluster: Cluster | None
) -> tuple[str | int, str] | None:
    """The value to take, and why, where the answer leaves the choice to us; None where it does not."""
    if question.field not in ADVICE or len(text.split()) > MOST_WORDS or not LEFT_TO_US.search(text):
        return None
    return usual(question, request, cluster)


def usual(question: Question, request: JobRequest, cluster: Cluster | None) -> tuple[str | int, str]:
    """The value that most take, or that the model's size asks for, and why."""
    own = OF_FRAMEWORK.get(request.framework or "") if question.field == "strategy" else None
    value, why = for_its_size(question, request, cluster) or own or ADVICE[question.field]
    if question.options and value not in question.options:
        return question.options[0], "the first that this framework offers"
    return value, why


def by_its_sum(question: Question, request: JobRequest, asked: ResourceQuestion | None) -> tuple[str | int, str] | None:
    """The way, or the number of nodes, by which the sum of this conversation holds the model, with its method, on the
    GPUs of the job."""
    if (
        question.field not in ("strategy", "nodes")
        or asked is None
        or not asked.model
        or asked.task == "serve"
        or not request.machine
    ):
        return None
    from graph.answering.resource_words import memory_words, way_words
    from graph.planning.resources.parameters import find_model
    from graph.usecases.plan_resources import plan_resources

    told, reckoned = find_model(request.model or asked.model), find_model(asked.model)
    if not told or not reckoned or abs(told.parameters / reckoned.parameters - 1) > SAME_SIZE:
        return None
    there = replace(
        asked, machines=(request.machine,), nodes=request.nodes, gpus=request.gpus_per_node or request.total_gpus,
        strategy=request.strategy if question.field == "nodes" else None, aim=None, also=(), queue=request.queue,
        or_gpus=(), each=None,
        gpu=None if request.queue else asked.gpu, gpu_gb=None,
    )  # fmt: skip
    best = next((one for one in plan_resources(there).options if one.fit.verdict == "fits"), None)
    if question.field == "nodes":
        told_of = f"{asked.model}, {way_words(best.fit)}: {memory_words(best.fit)}" if best else ""
        return (asked.nodes or best.nodes, f"{told_of}, as reckoned before") if best else None
    spread = "ddp" if best and best.fit.layout.spread == "none" else best.fit.layout.spread if best else ""
    if best is None or spread not in question.options:
        return None
    return spread, f"{asked.model}, {way_words(best.fit)}: {memory_words(best.fit)}, as reckoned before"


def nodes_of_plan(request: JobRequest, asked: ResourceQuestion | None) -> tuple[dict[str, str | int], str]:
    """The kind of node, the queue and the part of a node on which the sum of this conversation holds the model, where
    the order names none of them and the machine's usual nodes are others; with the reason. Empty else."""
    from knowledge.catalogue import catalogue

    cluster = catalogue().find(request.machine or "")
    if asked is None or cluster is None or cluster.id not in asked.machines or names_its_nodes(request, asked):
        return {}, ""
    from graph.answering.resource_words import memory_words, place_words, way_words
    from graph.usecases.plan_resources import plan_resources

    size = bool(request.nodes or request.gpus_per_node or request.total_gpus)
    sized = {"nodes": request.nodes, "gpus": request.gpus_per_node or request.total_gpus, "each": None} if size else {}
    there = replace(asked, machines=(cluster.id,), aim=None, also=(), **sized)  # type: ignore[arg-type]
    strategy = request.strategy if request.strategy in SPREADING else asked.strategy
    options = plan_resources(replace(there, strategy=strategy)).options
    best = next((one for one in options if one.fit.verdict == "fits" and one.accepted and one.cluster), None)
    if best is None or best.chain is None:
        return {}, ""
    change = nodes_of_option(best, best.chain.queue, cluster, asked, counts=not size)
    why = f"{asked.model}, {way_words(best.fit)} on {place_words(best)}: {memory_words(best.fit)}, as reckoned before"
    return change, why


def names_its_nodes(request: JobRequest, asked: ResourceQuestion) -> bool:
    """Whether an order settles its own nodes, or none were reckoned; a queue of the sum was said later than its own."""
    earlier = not asked.queue and bool(request.queue or request.node_type)
    return earlier or bool(request.constraint or request.cpu_only) or asked.task == "serve"


def nodes_of_option(
    best: ResourceOption, usual: Queue, cluster: Cluster, asked: ResourceQuestion, *, counts: bool
) -> dict[str, str | int]:
    """The fields of a request for the nodes of a way. usual: the queue that takes them; counts: with the part of a node
    that was asked about."""
    from graph.planning.charging import is_whole

    kind, change = best.fit.device.node_type, dict[str, str | int]()
    if kind not in cluster.default_queue.node_types[:1]:
        change["node_type"] = kind
    queue = cluster.queue(asked.queue) if asked.queue else None
    if change or queue:
        change["queue"] = queue.id if queue and kind in queue.node_types else usual.id
    gpus = best.fit.layout.gpus
    if counts and asked.gpus and gpus < best.fit.device.each and not is_whole(usual, cluster):
        change |= {"nodes": 1, "gpus_per_node": gpus}
    return change


def for_its_size(question: Question, request: JobRequest, cluster: Cluster | None) -> tuple[str | int, str] | None:
    """A model that says its size and does not fit on one GPU: what spreads it, and the fewest nodes that hold it."""
    from graph.planning.resources.parameters import read_size

    billions = read_size(request.model or "")
    from graph.planning.plan import choose_node_type

    node = choose_node_type(request, cluster) if cluster else None
    from graph.planning.resources.device import device_gb

    memory = device_gb(node) if node else None
    from graph.planning.gpus import fits

    if not billions or not node or not memory or fits(billions, memory):
        return None
    size = f"{billions:g} billion parameters with Adam do not fit on one GPU with {memory:g} GB"
    if question.field == "strategy":
        spread = next((name for name in SPREADING if name in question.options), None)
        return (spread, size) if spread else None
    if question.field == "nodes" and request.strategy in SPREADING:
        from graph.planning.gpus import fewest_ranks

        ranks = fewest_ranks(billions, memory)
        nodes = -(-ranks // (request.gpus_per_node or node.gpus.devices_per_node or 1))
        return nodes, f"{size}; over {ranks} GPUs or more they do"
    return None
