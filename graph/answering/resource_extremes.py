"""The largest there is room for: a model on GPUs that are named, and what of a message no sum used."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.resource_words import memory_words, way_words
from graph.answering.situation import cite, write_document
from graph.planning.queues import plural
from graph.planning.resources.device import Device
from graph.planning.resources.memory import SOURCES
from graph.planning.resources.options import known_devices, wanted_gpus, ways
from graph.planning.resources.parameters import scale_model
from graph.planning.resources.reading import unread, words_of
from graph.planning.resources.search import Fit
from graph.planning.resources.serving import fewest_gpus_to_serve
from knowledge.cluster import Cluster
from knowledge.document import Document
from knowledge.gpu_facts import gpu_table, unknown_gpus
from knowledge.resource_question import ResourceQuestion

LARGEST = re.compile(r"(?i)\b(?:largest|biggest|how (?:big|large)|max\w*|what size)\b.{0,30}\bmodels?\b")
# Billions of parameters that models are made in.
SIZES = (
    0.125,
    0.35,
    0.5,
    1,
    1.5,
    2,
    3,
    4,
    7,
    8,
    9,
    13,
    14,
    20,
    24,
    30,
    34,
    40,
    70,
    100,
    130,
    175,
    250,
    400,
    530,
    700,
    1000,
)
PLACE = frozenset(("model", "machines", "gpu", "gpu_gb", "nodes", "gpus", "each", "task"))
# What each kind of answer works with.
USED: dict[str, frozenset[str]] = {
    "limits": frozenset(("machines", "nodes", "hours", "node_hours", "gpus", "task")),
    "hours": PLACE
    | {"tokens", "samples", "epochs", "sequence", "hours", "node_hours", "gpu_hours", "speed", "strategy", "tensor"}
    | {"pipeline", "micro_batch", "precision", "optimizer", "recompute", "offload", "beside", "loss", "global_batch"},
    "fit": PLACE
    | {"sequence", "micro_batch", "global_batch", "strategy", "tensor", "pipeline", "precision", "optimizer"}
    | {"recompute", "offload", "beside", "loss", "measured_gb", "hours", "node_hours", "gpu_hours"},
    "serve": PLACE | {"sequence", "precision", "users"},
}
ALONE = {
    "epochs": "epochs count with a number of samples or tokens",
    "users": "users count where a model is served (*serve*, *inference*)",
    "tokens": "tokens count where a model is trained",
}
# Named in a training and not in its memory.
AS_16_BIT = ("fp8", "int8", "int4")


def unused_line(ask: Ask, question: ResourceQuestion, kind: str) -> str:
    """Values of this message that the answer's sum does not use, named; empty where all are used."""
    words = words_of(ask.utterance)
    used = USED[kind]
    if kind in ("hours", "fit") and not (question.tokens or question.samples):
        used = used - {"epochs"}
    named = {name: text for name, text in words.items() if name not in used and text}
    told = [f"*{text}*" + (f" ({ALONE[name]})" if name in ALONE else "") for name, text in named.items()]
    told += [f"*{text}*" for text in unread(ask.utterance)]
    lines = [f"Not used in this: {', '.join(told)}."] if told else []
    if question.precision in AS_16_BIT and question.task not in ("qlora", "serve") and "precision" in words:
        lines.append(f"*{words['precision']}* makes steps faster; weights and states are counted as in bf16.")
    return " ".join(lines)


def unknown_gpu(question: ResourceQuestion) -> Document | None:
    """That a GPU is named of which nothing is known; None where all are known."""
    if question.gpu not in unknown_gpus():
        return None
    like = f"{question.gpu_gb:g} GB" if question.gpu_gb else "as much memory"
    return write_document(
        f"Of the {question.gpu} I have neither memory nor speed in my facts, so I do not guess. Say a card that I know "
        f"({', '.join(dict.fromkeys(g.model for g in gpu_table().gpus))}), or only its memory: *a GPU with {like}*."
    )


def tell_largest(ask: Ask, question: ResourceQuestion) -> Document | None:
    """The largest model that the GPUs which are named surely hold; None where none are."""
    if not LARGEST.search(ask.text) or not (question.machines or question.gpu or question.gpu_gb):
        return None
    lines = [_largest(question, device, cluster) for device, cluster in known_devices(question)]
    closing = "Sizes are tried in the steps that models are made in, in the shape of the nearest usual model."
    return write_document(*dict.fromkeys(lines), closing, cite(SOURCES, gpu_table().as_of))


def _largest(question: ResourceQuestion, device: Device, cluster: Cluster | None) -> str:
    gpus = wanted_gpus(question, device) or (device.each if cluster else 1)
    where = f" ({plural(device.nodes_for(gpus), 'node')} of {cluster.title})" if cluster else ""
    place = f"{gpus} x {device.name}{where}"
    if question.task == "serve":
        length, weights = question.sequence or 8192, question.precision or "bf16"
        served = [
            size
            for size in SIZES
            if (fewest_gpus_to_serve(scale_model(size), device.gb, length, weights) or 1 << 20) <= gpus
        ]
        return (
            f"**{place}: up to {served[-1]:g}B served in {weights}**." if served else f"{place}: none of 125M or more."
        )
    asked = ResourceQuestion(**{**question.said(), "nodes": None, "gpus": gpus})  # type: ignore[arg-type]
    found: tuple[float, Fit] | None = None
    for size in SIZES:
        fits = [fit for fit in ways(asked, scale_model(size), device, cluster) if fit.verdict == "fits"]
        if not fits:
            break
        found = size, fits[0]
    if found is None:
        return f"{place}: not even 125M surely fits."
    size, fit = found
    sizes = f"{fit.layout.sequence} tokens, micro-batch {fit.layout.micro_batch:g}"
    return f"**{place}: up to {size:g}B surely fits** with {way_words(fit)} ({memory_words(fit)}; {sizes})."
