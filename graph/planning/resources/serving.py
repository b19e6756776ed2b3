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
    return 2.0 * model.shape.layers * model.shape.kv_heads * model.shape.head_size * 2.0


def estimate_serving(
    model: SizedModel, gb: float, gpus: int = 1, sequence: int = 8192, weights: str = "bf16"
) -> ServingEstimate:
    """One copy of the model over `gpus` GPUs (tensor parallel) of `gb` GB each, for sequences that long.

    Key/value heads are split as far as there are any; beyond that each GPU holds a copy.
    """
    held = model.parameters * WEIGHT_BYTES.get(weights, 2.0) / gpus / GIB
    each = cache_bytes(model) * sequence / min(gpus, model.shape.kv_heads) / GIB
    free = SERVED_SHARE * gb - held - RUNTIME_GIB
    return ServingEstimate(held, each, free, max(0, int(free // each)))


def fewest_gpus_to_serve(
    model: SizedModel, gb: float, sequence: int = 8192, weights: str = "bf16", at_once: int = FEW_SEQUENCES
) -> int | None:
    """The fewest GPUs of 1, 2, 4, 8 ... 64 that serve so many sequences at once; None: more than that."""
    for gpus in (1, 2, 4, 8, 16, 32, 64):
        if gpus <= model.shape.heads and estimate_serving(model, gb, gpus, sequence, weights).sequences >= at_once:
            return gpus
    return None
