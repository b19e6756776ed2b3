"""What else would do: fewer or more GPUs, and single changes of a question that make it fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.planning.resources.options import (
    ResourceOption,
    all_options,
    base_layout,
    known_devices,
    sharding,
)
from graph.planning.resources.parameters import SizedModel
from graph.planning.resources.search import counts
from knowledge.gpu_facts import gpu_table
from knowledge.resource_question import ResourceQuestion

SHORTEST = 512
ANOTHER_WAY = "another way"
OFFLOADED = "the optimizer in main memory"


@dataclass(frozen=True, slots=True)
class SingleChange:
    """One change in words, with the best way that it leads to."""

    words: str
    option: ResourceOption

    @property
    def is_enough(self) -> bool:
        return self.option.fit.verdict == "fits" and self.option.accepted


def rank(option: ResourceOption) -> tuple[int, float, int, int]:
    """What fits first, then the fewest node hours; of much the same, the simpler way, then the fewest GPUs."""
    order = {"fits": 0, "tight": 1, "no": 2}[option.fit.verdict]
    layout, device = option.fit.layout, option.fit.device
    price = layout.gpus / device.each / (option.rate.usual if option.rate else 1.0)
    about = round(math.log(price, 1.5))
    split = layout.tensor * layout.pipeline
    order = order if option.accepted else 3
    return order, option.fit.memory.gib if order >= 2 else about, split, layout.gpus


def ranked(question: ResourceQuestion, model: SizedModel) -> list[ResourceOption]:
    """Every way, best first."""
    return sorted(all_options(question, model), key=rank)


def that_fit(question: ResourceQuestion, model: SizedModel) -> list[ResourceOption]:
    """The ways that surely fit and that a queue takes, best first."""
    return [option for option in ranked(question, model) if option.fit.verdict == "fits" and option.accepted]


def fewest_there(question: ResourceQuestion, model: SizedModel) -> list[ResourceOption]:
    """What surely holds it on the fewest GPUs there: each number that one asks for is tried as if it had been said, so
    that what is named for too few or too many is what the question with that number says."""
    open_count = replace(question, nodes=None, gpus=None)
    sizes = sorted({gpus for device, _ in known_devices(open_count) for gpus in counts(device)})
    split = (question.tensor or 1) * (question.pipeline or 1)
    tried = (that_fit(replace(open_count, gpus=gpus), model) for gpus in sizes if gpus % split == 0)
    return next((found for found in tried if found), [])


def single_changes(question: ResourceQuestion, model: SizedModel) -> list[SingleChange]:
    """Each change by itself on the same GPUs, the least first, with what it leads to; what is denied is none."""
    found = []
    for words, changed in _changes(question, model):
        if options := ranked(changed, model):
            found.append(SingleChange(words, options[0]))
    return found


def _changes(question: ResourceQuestion, model: SizedModel) -> Iterator[tuple[str, ResourceQuestion]]:
    base, shape = base_layout(question, model), model.shape
    if question.recompute == "none" and not question.denies("recompute", "full"):
        yield "activation checkpointing", replace(question, recompute="full")
    if not base.flash:
        yield "fused attention (SDPA, FlashAttention)", replace(question, attention="flash")
    if base.micro_batch > 1:
        sizes = (n for n in _halves(int(base.micro_batch)) if that_fit(replace(question, micro_batch=n), model))
        size = next(sizes, 1)
        words = f"micro-batch {size} with {-(-base.micro_batch // size):g} steps of accumulation"
        yield words, replace(question, micro_batch=size)
    if shape.kind == "decoder":
        length = next((n for n in _shorter(base.sequence) if that_fit(replace(question, sequence=n), model)), SHORTEST)
        if length < base.sequence:
            yield f"sequences of {length:,} tokens", replace(question, sequence=length)
        if base.loss == "plain":
            yield "a fused or chunked loss", replace(question, loss="fused")
    if base.method == "full" and base.optimizer == "adam":
        yield "8-bit Adam", replace(question, optimizer="adam8bit")
    if question.strategy or question.tensor or question.pipeline:
        yield ANOTHER_WAY, replace(question, strategy=None, tensor=None, pipeline=None)
    shared = all(device.facts.host_gb for device, _ in known_devices(question))
    if base.method == "full" and not base.offload_optimizer and not shared and not _denies_any(question, "offload"):
        yield OFFLOADED, replace(question, offload="optimizer", strategy=question.strategy or sharding(question))
    for task, words in (("lora", "LoRA"), ("qlora", "QLoRA")):
        known = {"lora": ("full",), "qlora": ("full", "lora")}[task]
        denied = question.denies("task", "lora") or question.denies("task", task)
        if shape.kind == "decoder" and base.method in known and not denied:
            yield f"{words} instead", replace(question, task=task, strategy=None, offload=None)  # type: ignore[arg-type]
    if question.gpu and question.gpu_gb and not question.machines:
        sold = (gb for gpu in gpu_table().gpus if gpu.model == question.gpu for gb in gpu.gb)
        if larger := min((gb for gb in sold if gb > (question.gpu_gb or 0)), default=None):
            yield f"the card with {larger:g} GB", replace(question, gpu_gb=larger)


def _halves(size: int) -> Iterator[int]:
    while size > 1:
        size //= 2
        yield size


def _shorter(length: int) -> Iterator[int]:
    while length > SHORTEST:
        length //= 2
        yield length


def _denies_any(question: ResourceQuestion, field: str) -> bool:
    return any(name == field for name, _ in question.denied)
