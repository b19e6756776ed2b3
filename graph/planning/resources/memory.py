"""Memory of one GPU while a model trains, part by part, with an honest range.

States: ZeRO, https://arxiv.org/abs/1910.02054. Activations: https://arxiv.org/abs/2205.05198, with the constants fitted
to torchtitan's published peaks (bench/planner.py shows what they miss). Sizes are GiB of 2^30 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph.planning.resources.layout import Layout
from graph.planning.resources.parameters import SizedModel

GIB = 2**30
SOURCES = ("https://arxiv.org/abs/1910.02054", "https://arxiv.org/abs/2205.05198")
# A device's memory that a job can count on: what is left of the label for context, NCCL and fragments.
USABLE, CONTEXT_GIB = 0.92, 1.5
# How far off the estimate of activations has been on published peaks.
ACTIVATION_DOUBT = 1.2
# Bytes for each token and hidden unit that one layer keeps: without recomputing, and with the costly parts recomputed.
KEPT = {"gated": 50.0, "plain": 31.0}
KEPT_SELECTIVE = 18.5
KEPT_MEGATRON = 18.0
# Bytes for each logit: bf16, its fp32 copy, and the gradients of both; a fused kernel needs the first and its gradient.
LOGIT_BYTES = {"plain": 12.0, "fused": 4.0, "chunked": 0.5, "none": 0.0}
# Share that torch.compile took off a published peak: 82.4 to 77.0 GiB.
COMPILED = 0.94
BUFFERS_GIB = 1.0
RECOMPUTED = {"none": "no recomputation", "selective": "selective recomputation", "full": "full recomputation"}
OPTIMIZER_BYTES = {"adam": 8.0, "adam8bit": 2.0, "sgd": 4.0, "adafactor": 0.5}
QLORA_BYTES = 0.55

Verdict = Literal["fits", "tight", "no"]


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """One part of the sum: what, GiB as expected, GiB at worst, and how it was worked out."""

    name: str
    gib: float
    most: float
    how: str = ""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """What one GPU holds at its peak, by part."""

    parts: tuple[MemoryPart, ...]

    @property
    def gib(self) -> float:
        return sum(part.gib for part in self.parts)

    @property
    def most(self) -> float:
        return sum(part.most for part in self.parts)

    def part(self, name: str) -> float:
        """GiB of the part of that name; 0 where there is none."""
        return sum(part.gib for part in self.parts if part.name == name)


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes a parameter of weights, gradients and optimizer state, before anything is spread."""

    weights: float
    gradients: float
    optimizer: float

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer


# A worst case above this share of the room is called tight. A caution taken after one case, not derived: sums
# of published trainings were up to 12 % low, which it does not cover.
SURE, SURE_OF_EXPERTS = 0.96, 0.9


def usable_gib(label_gb: float) -> float:
    """GiB that a job may count on, of a device that is sold as that many GB."""
    return USABLE * label_gb - CONTEXT_GIB


def judge(estimate: MemoryEstimate, label_gb: float, sure: float = SURE) -> Verdict:
    """Whether it fits a device of that label: at worst, as expected, or not."""
    room = usable_gib(label_gb)
    if estimate.most <= sure * room:
        return "fits"
    return "tight" if estimate.gib <= room else "no"


def state_bytes(layout: Layout) -> StateBytes:
    """Bytes a parameter by precision and optimizer: 16 with Adam in mixed precision."""
    moments = OPTIMIZER_BYTES[layout.optimizer]
    if layout.precision == "fp32":
        return StateBytes(4, 4, moments)
    if layout.precision == "pure":
        return StateBytes(2, 2, moments / 2)
    return StateBytes(2, 2, 4 + moments)


def whole_bytes(layout: Layout) -> float:
    """Bytes a parameter that each GPU of the data parallel group holds itself."""
    states = state_bytes(layout)
    spread = {
        "none": states.total,
        "ddp": states.total,
        "zero1": states.weights + states.gradients,
        "zero2": states.weights,
        "zero3": 0.0,
        "fsdp": 0.0,
    }
    return spread[layout.spread]


def states_gib(parameters: float, layout: Layout) -> float:
    """GiB of weights, gradients and optimizer state on one GPU that holds `parameters` of the model's share."""
    whole, states = whole_bytes(layout), state_bytes(layout)
    sharded = states.total - whole
    if layout.offload_optimizer:
        sharded -= states.optimizer if layout.spread not in ("ddp", "none") else 0.0
        whole -= states.optimizer if layout.spread in ("ddp", "none") else 0.0
    if layout.offload_parameters:
        sharded = max(0.0, sharded - states.weights)
    return parameters * (whole + sharded / layout.group) / GIB


def share_of_model(model: SizedModel, layout: Layout) -> float:
    """Parameters of the fullest stage of one tensor and pipeline split (the first and the last hold an embedding)."""
    if layout.pipeline == 1:
        return model.parameters / layout.tensor
    tables = model.embedding * (1 if model.shape.tied else 2)
    inner = max(0, model.parameters - tables) / layout.pipeline
    return (inner + model.embedding) / layout.tensor


def estimate_memory(model: SizedModel, layout: Layout) -> MemoryEstimate:
    """What the fullest GPU holds at its peak.

    model: counts and shape; layout: how it is spread. The context of the process and NCCL's buffers are not in it: they
    are taken off the device (`usable_gib`).
    """
    states = _full_states(model, layout) if layout.method == "full" else _adapter_states(model, layout)
    buffers = MemoryPart("buffers", BUFFERS_GIB, 1.5 * BUFFERS_GIB)
    return MemoryEstimate((*states, *_beside(model, layout), *activation_parts(model, layout), buffers))


def _beside(model: SizedModel, layout: Layout) -> list[MemoryPart]:
    """A frozen reference model in 16 bit, or an average of the weights in 32. Adapters switched off are a reference."""
    if layout.beside == "none" or (layout.method != "full" and layout.beside != "ema"):
        return []
    name, each = ("average of the weights", 4.0) if layout.beside == "ema" else ("reference model", 2.0)
    over = layout.group if layout.spread in ("fsdp", "zero3") else 1
    share = adapter_parameters(model, layout.rank) if layout.method != "full" else share_of_model(model, layout)
    gib = share * each / over / GIB
    return [
        MemoryPart(
            name,
            gib,
            share * each / GIB if layout.beside == "ema" else gib * 1.1,
            f"{share / 1e9:.3g} B x {each:g} bytes",
        )
    ]


def _full_states(model: SizedModel, layout: Layout) -> list[MemoryPart]:
    share = share_of_model(model, layout)
    states = states_gib(share, layout)
    how = f"{share / 1e9:.3g} B parameters x {state_bytes(layout).total:g} bytes"
    how += f" over {layout.group} GPUs" if layout.group > 1 and whole_bytes(layout) == 0 else ""
    return [MemoryPart("states", states, states, how), _live_part(model, layout, share)]


def _live_part(model: SizedModel, layout: Layout, share: float) -> MemoryPart:
    """Copies that exist for a while: gathered layers of FSDP, casts and buckets of DDP."""
    if layout.spread in ("none", "ddp"):
        held_in_16 = layout.offload_optimizer  # the 32-bit weights are with the optimizer
        cast = 2.0 * share / GIB if layout.precision == "mixed" and not held_in_16 else 0.0
        buckets = (4.0 if layout.precision != "pure" else 2.0) * share / GIB if layout.gpus > 1 else 0.0
        return MemoryPart("copies", cast, cast + buckets, "16-bit copies of the weights; at worst DDP's buckets too")
    if layout.spread in ("zero1", "zero2"):
        bucket = min(share, 5e8) * 2 * 2 / GIB
        return MemoryPart("copies", bucket, bucket * 2, "buckets of the gradients")
    if layout.pipeline > 1:
        held = share * 6 / GIB
        return MemoryPart(
            "copies", held, held * 1.15, "a stage's weights and gradients stay gathered between micro-batches"
        )
    tables = 2 * model.embedding * (1 if model.shape.tied else 2) / layout.tensor
    gathered = (2 * 2 + 4) * model.layer / layout.tensor
    wide = 2.0 if layout.precision == "fp32" else 1.0  # gathered in 32 bit
    live = wide * (min(tables, 2 * share) + min(gathered, 6 * share)) / GIB
    return MemoryPart("copies", live, live * 1.2, "the layers that are gathered at a time, and the embeddings")


def _adapter_states(model: SizedModel, layout: Layout) -> list[MemoryPart]:
    """LoRA: the base is frozen; only adapters have gradients and Adam."""
    each = QLORA_BYTES if layout.method == "qlora" else 2.0
    over = layout.group if layout.spread in ("fsdp", "zero3") else 1
    tables = min(model.embedding * (1 if model.shape.tied else 2), model.parameters // 2)
    whole = tables * 2.0 if layout.method == "qlora" else tables * each
    base = ((model.parameters - tables) * each + whole) / (over * layout.tensor) / GIB
    trained = adapter_parameters(model, layout.rank)
    adapters = trained * 16 / GIB
    live = 4 * model.layer / GIB if over > 1 else 0.0
    unpacked = 2 * model.layer / GIB if layout.method == "qlora" else 0.0
    how = f"{model.parameters / 1e9:.3g} B parameters x {each:g} bytes"
    if layout.method == "qlora":
        rest = (model.parameters - tables) / 1e9
        how = f"{rest:.3g} B parameters x {each:g} bytes, {tables / 1e9:.3g} B of embeddings x 2"
    how += f", over {over} GPUs" if over > 1 else ""
    return [
        MemoryPart("base model", base, base * 1.05, how),
        MemoryPart("adapters", adapters, adapters * 1.2, f"{trained / 1e6:.0f} M parameters x 16 bytes"),
        MemoryPart("copies", live + unpacked, 1.5 * (live + unpacked), "layers in use"),
    ]


def adapter_parameters(model: SizedModel, rank: int) -> int:
    """Parameters of LoRA on all linear layers."""
    shape = model.shape
    h, d = shape.hidden, shape.head_size
    attention = (h + shape.heads * d) * 2 + (h + shape.kv_heads * d) * 2
    mlp = (3 if shape.gated else 2) * (h + shape.ffn) * (shape.experts or 1)
    return rank * shape.layers * (attention + mlp)


def activation_parts(model: SizedModel, layout: Layout) -> list[MemoryPart]:
    """What forward keeps for backward, the layer in work, and the logits."""
    if model.shape.kind == "other":
        return []
    if model.shape.kind == "convolution":
        kept = layout.micro_batch * (model.shape.activation_mb or 100.0) * 1e6 / GIB
        kept *= 2 if layout.precision == "fp32" else 1
        return [MemoryPart("activations", kept, kept * 1.5, f"{model.shape.activation_mb:g} MB an image")]
    kept = kept_gib(model, layout)
    working = working_gib(model, layout)
    logits = logits_gib(model, layout)
    scale = COMPILED if layout.compiled else 1.0
    once = f"{layout.micro_batch:g} x {layout.sequence} tokens"
    how = f"{once}, {RECOMPUTED[layout.recompute]}"
    doubt = ACTIVATION_DOUBT
    parts = [MemoryPart("activations", kept * scale, kept * doubt, how)]
    parts += [MemoryPart("layer in work", working * scale, working * doubt)] if working else []
    of_words = f"{layout.tokens:,.0f} tokens x {model.shape.vocab} words"
    parts += [MemoryPart("logits", logits * scale, logits * doubt, of_words)] if logits else []
    return parts


def layer_bytes(model: SizedModel, layout: Layout) -> float:
    """Bytes that one layer keeps for backward when nothing is recomputed, on one GPU."""
    shape = model.shape
    per_token = (shape.kept or KEPT["gated" if shape.gated else "plain"]) * shape.hidden
    if shape.experts and shape.experts_used:
        per_token += 6.0 * shape.ffn * (shape.experts_used - 1)
    if layout.tensor > 1 or layout.pipeline > 1:
        per_token = (KEPT_MEGATRON + 4 * shape.ffn / shape.hidden) * shape.hidden
    scores = 0.0 if layout.flash else 5.0 * shape.heads * (layout.sequence / layout.context)
    width = 2.0 if layout.precision == "fp32" else 1.0
    return width * layout.tokens * (per_token + scores) / layout.tensor


def kept_gib(model: SizedModel, layout: Layout) -> float:
    """GiB of activations held from forward to backward by the fullest stage (1F1B: its first keeps p micro-batches)."""
    shape, tokens = model.shape, layout.tokens
    boundary = 2.0 * tokens * shape.hidden / layout.tensor
    each = {
        "full": boundary,
        "selective": KEPT_SELECTIVE * tokens * shape.hidden / layout.tensor,
        "none": layer_bytes(model, layout),
    }[layout.recompute]
    if layout.recompute == "selective" and (layout.tensor > 1 or layout.pipeline > 1):
        each = layer_bytes(model, layout)
    return each * shape.layers / GIB


def working_gib(model: SizedModel, layout: Layout) -> float:
    """GiB of the one layer that is recomputed, and of what tensor parallelism gathers for it."""
    gathered = 8.0 * layout.tokens * model.shape.hidden / GIB if layout.tensor > 1 else 0.0
    return (layer_bytes(model, layout) / GIB if layout.recompute == "full" else 0.0) + gathered


def logits_gib(model: SizedModel, layout: Layout) -> float:
    """GiB of the logits with their copies and gradients; a tensor split spreads them too."""
    return LOGIT_BYTES[layout.loss] * layout.tokens * model.shape.vocab / layout.tensor / GIB
