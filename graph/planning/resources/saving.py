"""Checkpoints: size, time to write, and how often: Young's and Daly's interval, and the queue's limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graph.planning.resources.parameters import SizedModel

# Weights in 16 bit and fp32 master weights with Adam's two states, as Megatron writes them.
BYTES_FULL, BYTES_WEIGHTS = 14.0, 2.0
# Failures of 1,024 GPUs of Meta's research clusters: one in 7.9 hours; scaled by the number of GPUs.
GPU_HOURS_BETWEEN_FAILURES = 7.9 * 1024
# GB/s that one node writes to a parallel file system (assumed: Lustre clients reach 1 to 3), and all of them together
# at most: BLOOM's 2.3 TB took 40 s (https://github.com/stas00/ml-engineering, training/checkpoints).
WRITE_PER_NODE, WRITE_MOST = 1.5, 57.0


@dataclass(frozen=True, slots=True)
class SavePlan:
    """size_gb: of a whole checkpoint; write_s: seconds the step loop stands still; mtbf_h: hours between failures of
    that many GPUs; interval_s: seconds between saves; by_limit: whether the walltime decided, not failures."""

    size_gb: float
    write_s: float
    mtbf_h: float
    interval_s: float
    by_limit: bool


def young_seconds(write_s: float, mtbf_s: float) -> float:
    """Young's interval: sqrt(2 C M)."""
    return math.sqrt(2 * write_s * mtbf_s)


def daly_seconds(write_s: float, mtbf_s: float) -> float:
    """Daly's interval; the time between failures itself where a save takes half of it or more."""
    if write_s >= mtbf_s / 2:
        return mtbf_s
    ratio = math.sqrt(write_s / (2 * mtbf_s))
    return young_seconds(write_s, mtbf_s) * (1 + ratio / 3 + write_s / (18 * mtbf_s)) - write_s


def plan_saving(
    model: SizedModel | None,
    gpus: int,
    nodes: int,
    limit_s: float | None,
    write_s: float | None = None,
    trained: float | None = None,
    *,
    size_gb: float | None = None,
    write_gbs: float | None = None,
    mtbf_h: float | None = None,
) -> SavePlan:
    """How often to save a full training state on that many GPUs inside jobs of that many seconds. model None: its size
    is not known; trained: the parameters that are saved with their states, all of the model's where it is None. What
    the person knows counts before our facts: size_gb of a save, write_gbs GB/s, mtbf_h hours between failures of the
    whole job."""
    size = size_gb or (BYTES_FULL * (trained or model.parameters) / 1e9 if model else 0.0)
    rate = write_gbs or min(WRITE_MOST, WRITE_PER_NODE * nodes)
    takes = write_s or (size / rate if write_gbs else max(5.0, size / rate))
    mtbf = mtbf_h or GPU_HOURS_BETWEEN_FAILURES / gpus
    best = daly_seconds(takes, mtbf * 3600)
    cut = limit_s / 2 if limit_s else None
    by_limit = cut is not None and cut < best
    return SavePlan(size, takes, mtbf, cut if by_limit and cut else best, by_limit)
