"""Bytes and seconds that one optimizer step spends between GPUs, and how they stand to the arithmetic.

Volumes: ring algorithms with large messages, ZeRO https://arxiv.org/abs/1910.02054. Across nodes the rate is the node's
network cards together, since each GPU reduces inside its node first.
"""

from __future__ import annotations

from graph.planning.resources.device import Device
from graph.planning.resources.layout import Layout
from graph.planning.resources.parameters import SizedModel

# Below this share of arithmetic to communication a training waits even where both overlap; DeepX asks for ten.
WARN_RATIO, GOOD_RATIO = 3.0, 10.0


def gradient_bytes(model: SizedModel, layout: Layout) -> float:
    """Bytes of the gradients that one device's share sends: 4 each where torch's DDP holds fp32 weights."""
    from graph.planning.resources.memory import adapter_parameters

    if layout.method != "full":
        return 4.0 * adapter_parameters(model, layout.rank)
    each = 4.0 if layout.spread == "ddp" and layout.precision != "pure" else 2.0
    return each * model.parameters / (layout.tensor * layout.pipeline)


def step_bytes(model: SizedModel, layout: Layout, accumulate: int = 1) -> float:
    """Bytes that one device sends in a step of `accumulate` micro-batches for data parallelism."""
    if layout.data < 2:
        return 0.0
    gradients = gradient_bytes(model, layout)
    if layout.spread not in ("fsdp", "zero3") or layout.method != "full":
        return 2.0 * gradients
    return (2.0 * accumulate + 1.0) * gradients


def rate_gbytes(layout: Layout, device: Device) -> float:
    """GB/s of the slowest way that data parallelism goes; the node's network where it leaves the node."""
    inside = device.facts.bus_gbytes
    if layout.gpus <= device.each or not device.network:
        return inside
    return min(inside, device.network)


def step_seconds(model: SizedModel, layout: Layout, device: Device, accumulate: int = 1) -> float:
    """Seconds of data parallel traffic in a step, were nothing overlapped; 0 on one device.

    The devices of a node that hold different shards (tensor, pipeline) share its cards.
    """
    sharing = min(layout.tensor * layout.pipeline, device.each) if layout.gpus > device.each else 1
    return step_bytes(model, layout, accumulate) * sharing / (rate_gbytes(layout, device) * 1e9)


def compute_ratio(model: SizedModel, layout: Layout, device: Device, accumulate: int = 1) -> float | None:
    """Seconds of arithmetic for one of communication at usual utilisation; None where nothing is sent."""
    network = step_seconds(model, layout, device, accumulate)
    if not network:
        return None
    cost = 6.0 * model.active if layout.method == "full" else 4.0 * model.active
    tokens = layout.tokens * accumulate / (layout.tensor * layout.pipeline)
    return tokens * cost / (device.facts.tflops * 1e12 * device.facts.mfu[1]) / network


def tokens_for_ratio(ratio: float, device: Device) -> int:
    """Tokens a GPU and step from which arithmetic is that many times the all-reduce of bf16 gradients."""
    achieved = device.facts.tflops * 1e12 * device.facts.mfu[1]
    rate = (min(device.network, device.facts.bus_gbytes) or device.facts.bus_gbytes) * 1e9
    return round(ratio * 4.0 / 6.0 * achieved / rate)
