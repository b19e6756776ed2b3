"""Serving a model: weights, the cache of keys and values, and how many requests fit at once."""

from __future__ import annotations

from dataclasses import dataclass

from graph.planning.resources.memory import GIB
from graph.planning.resources.parameters import SizedModel

SOURCE = "https://docs.vllm.ai/en/latest/configuration/conserving_memory.html"
# vLLM's share of the card (gpu_memory_utilization), and what graphs and activations take of it.
SERVED_SHARE, RUNTIME_GIB = 0.9, 4.0
FEW_SEQUENCES = 4
WEIGHT_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0, "fp8": 1.05, "int8": 1.05, "int4": 0.56}


@dataclass(frozen=True, slots=True)
class ServingEstimate:
    """Per GPU, GiB: weights, cache of one sequence; sequences: how many of that length fit at once (0: none)."""

    weights: float
    cache_each: float
    free: float
    sequences: int


def cache_bytes(model: SizedModel) -> float:
    """Bytes of keys and values for one token, two a number."""
    if model.shape.latent:
        return 2.0 * model.shape.layers * model.shape.latent
    return 2.0 * model.shape.layers * model.shape.kv_heads * model.shape.head_size * 2.0


def estimate_serving(
    model: SizedModel,
    gb: float,
    gpus: int = 1,
    sequence: int = 8192,
    weights: str = "bf16",
    each: int | None = None,
    share: float = SERVED_SHARE,
) -> ServingEstimate:
    """One copy of the model over `gpus` GPUs of `gb` GB each, for sequences that long: tensor parallel inside a node of
    `each` GPUs (None: over all of them), pipeline parallel over the nodes. share: of the card that the server takes.

    Key/value heads are split as far as there are any; beyond that, and of latent attention, each GPU holds a copy.
    """
    tensor = min(gpus, each or gpus)
    heads = 1 if model.shape.latent else min(tensor, model.shape.kv_heads)
    held = model.parameters * WEIGHT_BYTES.get(weights, 2.0) / gpus / GIB
    cache = cache_bytes(model) * sequence / (heads * (gpus // tensor)) / GIB
    free = share * gb - held - RUNTIME_GIB
    return ServingEstimate(held, cache, free, max(0, int(free // cache)))


def fewest_gpus_to_serve(
    model: SizedModel,
    gb: float,
    sequence: int = 8192,
    weights: str = "bf16",
    at_once: int = FEW_SEQUENCES,
    each: int | None = None,
) -> int | None:
    """The fewest GPUs of 1, 2, 4 ... in a node and whole nodes beyond, up to 64, that serve so many sequences at once;
    None: more than that. each: GPUs of a node (None: 1, 2, 4 ... 64 are tried)."""
    powers = [power for power in (1, 2, 4, 8, 16, 32, 64) if not each or power < each]
    whole: list[int] = list(range(each, 65, each)) if each else []
    for gpus in (*powers, *whole):
        split = min(gpus, each or gpus) <= model.shape.heads
        if split and estimate_serving(model, gb, gpus, sequence, weights, each).sequences >= at_once:
            return gpus
    return None
