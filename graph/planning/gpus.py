"""What a GPU computes in, and what it holds.

A model's state is weights, gradients and Adam's states in mixed precision: 2 + 2 + 12 bytes a parameter, as in the
ZeRO paper, section 3.1 (https://arxiv.org/abs/1910.02054). Activations come on top.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from graph.planning.resources.device import device_gb
from graph.planning.resources.parameters import read_size
from knowledge.cluster import NodeType
from knowledge.types import Strategy

SOURCE = "https://arxiv.org/abs/1910.02054"
STATE_BYTES = 16
# Bytes a parameter that every rank holds whole; the others are spread over the ranks.
WHOLE: dict[Strategy, int] = {"none": 16, "ddp": 16, "zero1": 4, "zero2": 2, "zero3": 0, "fsdp": 0}
# How much of a GPU the state may take: the rest is for activations, buffers and fragments.
SHARE = 2 / 3


def mixed_precision(node: NodeType) -> Literal["fp16", "bf16"]:
    """V100 (sm_70) has no bf16; A100 and later, MI100 and later, and Max 1550 have."""
    return "fp16" if "V100" in node.gpus.model else "bf16"


def state_gb(billions: float, strategy: Strategy = "ddp", ranks: int = 1) -> float:
    """GB of the state that one rank holds."""
    whole = WHOLE[strategy]
    return billions * (whole + (STATE_BYTES - whole) / ranks)


def fits(billions: float, memory_gb: float, strategy: Strategy = "ddp", ranks: int = 1) -> bool:
    """Whether that leaves room for activations."""
    return state_gb(billions, strategy, ranks) <= SHARE * memory_gb


def fewest_ranks(billions: float, memory_gb: float) -> int:
    """The fewest ranks over which FSDP or ZeRO-3 spreads the state so that it fits."""
    return max(1, -int(-(billions * STATE_BYTES) // (SHARE * memory_gb)))


def too_large(model: str | None, strategy: Strategy, ranks: int, node: NodeType) -> str:
    """A warning where the state of a model that says its size is more than a GPU holds; else empty."""
    billions, memory = read_size(model or ""), device_gb(node)
    if not billions or not memory or strategy not in WHOLE or state_gb(billions, strategy, ranks) < memory:
        return ""
    held, least = state_gb(billions, strategy, ranks), fewest_ranks(billions, memory)
    nodes = -(-least // (node.gpus.devices_per_node or 1))
    return (
        f"Trained whole with Adam it will not fit: {billions:g} billion parameters keep {held:.0f} GB on each GPU of "
        f"{memory:g} GB this way. FSDP or ZeRO-3 on {nodes} such node{'s' * (nodes > 1)} or more hold it ({SOURCE})."
    )


def kinds_named(name: str, nodes: Sequence[NodeType]) -> list[NodeType]:
    """The kinds of node that a name means: an id, or the model of their GPUs."""
    exact = [node for node in nodes if node.id == name]
    wanted = name.lower()
    return exact or [n for n in nodes if any(w.startswith(wanted) for w in re.findall(r"\w+", n.gpus.model.lower()))]
