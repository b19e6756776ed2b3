"""How large the model is that a question speaks of, and the GPUs that it speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph.answering.ask import Ask
from graph.planning.resources.device import device_gb
from graph.planning.resources.parameters import find_model, read_size
from graph.planning.resources.reading import named_shape
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster, NodeType

# Billions of parameters of models whose shape the planner does not know, as in their papers.
SIZES_ALONE = (
    (r"u-?net", 0.03),
    (r"\broberta\b", 0.11),
    (r"sdxl|stable diffusion\W+(?:is |i think \S+ \S+ \S+ )?xl?\b", 2.6),
    (r"stable diffusion", 0.86),
    (r"whisper-?\s?large", 1.5),
    (r"t5-?\s?large", 0.77),
)
WITHOUT_MACHINE = (40.0, 80.0)
LORA = re.compile(r"\bq?-?lora\b|\badapters?\b|\bpeft\b", re.I)
QUANTIZED = re.compile(r"\bq-?lora\b|\b4[- ]?bit\b|\bnf4\b", re.I)


@dataclass(frozen=True, slots=True)
class CountedGpu:
    """A GPU as a framework counts it. per_node None: no machine is spoken of; nodes: GPU nodes that there are."""

    name: str
    gb: float
    per_node: int | None = None
    source: str = ""
    as_of: str = ""


def billions_of(ask: Ask) -> float | None:
    """Of the model that the words name, else of the request's."""
    texts = (ask.text, ask.utterance.text, ask.request.model or "", ask.before)
    return next(filter(None, map(size_in, texts)), None)


def size_in(text: str) -> float | None:
    """Billions of parameters by a size that is said, or by the model's name as the planner reads it."""
    if said := read_size(text):
        return said
    named = named_shape(text)
    model = find_model(named[0]) if named else None
    if model:
        return model.parameters / 1e9
    return next((size for name, size in SIZES_ALONE if re.search(name, text, re.I)), None)


def devices_of(ask: Ask) -> tuple[CountedGpu, ...]:
    """The GPUs that are spoken of: named ones, the machine's, or cards of 40 and of 80 GB. Smallest first."""
    said = {float(number) for number in re.findall(r"\b(\d{2,3})\s?gb?\b(?!\s*(?:ram|of ram))", ask.text, re.I)}
    machine = ask.machine
    if machine is not None:
        kinds = named_kinds(ask, machine) or (machine.node_type(machine.default_queue.node_types[0]),)
        found = {gb: device(kind, gb, machine) for kind in kinds if (gb := device_gb(kind))}
        return tuple(found[gb] for gb in sorted(found) if not said & {*found} or gb in said)[:2]
    gpu = next((str(m.value) for m in ask.utterance.of_kind("Gpu")), "")
    sizes = said or sizes_of(gpu) or {*WITHOUT_MACHINE}
    return tuple(
        CountedGpu(f"{gpu.upper()} with {gb:g} GB" if gpu else f"GPU with {gb:g} GB", gb) for gb in sorted(sizes)
    )[:2]


def named_kinds(ask: Ask, machine: Cluster) -> tuple[NodeType, ...]:
    """The kinds of node whose GPU is named, or that the request took."""
    words = [str(m.value).lower() for m in ask.utterance.of_kind("Gpu")]
    named = tuple(kind for kind in machine.node_types if any(w in kind.gpus.model.lower() for w in words))
    return named or tuple(kind for kind in machine.node_types if kind.id == ask.request.node_type)


def sizes_of(gpu: str) -> set[float]:
    """GB of the devices of that name on any machine."""
    every = (kind for one in catalogue().clusters.values() for kind in one.node_types)
    return {gb for kind in every if gpu and gpu.lower() in kind.gpus.model.lower() and (gb := device_gb(kind))}


def device(kind: NodeType, gb: float, machine: Cluster) -> CountedGpu:
    gpus = kind.gpus
    what = (gpus.tile_name or "tile") if gpus.tiles_per_gpu > 1 else "GPU"
    name = f"{what} with {gb:g} GB ({gpus.model} of {machine.title})"
    return CountedGpu(name, gb, gpus.devices_per_node, kind.source or "", machine.as_of)


def is_lora(ask: Ask) -> bool:
    return bool(LORA.search(ask.utterance.text) or QUANTIZED.search(ask.utterance.text))
