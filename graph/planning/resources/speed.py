"""FLOPs, tokens a second and hours, as a range out of published utilisations.

A token costs 6 FLOPs for each active parameter outside the input embedding and 12 L a d s for attention (PaLM,
https://arxiv.org/abs/2204.02311, appendix B). With adapters alone in training the weights' gradients are left out: 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.planning.resources.communication import step_seconds
from graph.planning.resources.device import Device
from graph.planning.resources.layout import Layout
from graph.planning.resources.parameters import SizedModel

SOURCE = "https://arxiv.org/abs/2204.02311"
# What recomputing the whole forward pass leaves of the utilisation without: one part in four is done twice.
RECOMPUTING = 0.85
# What small matrices (a tensor split) and waiting (a pipeline) take off the lower end.
SPLIT_LOW = 0.75
# Times that what a convolution keeps goes to or from memory: normalization and activation read and write it on the way
# forward and back. With arithmetic it gives some 2,600 images a second of ResNet-50 on an A100, as NVIDIA's examples do
# (https://github.com/NVIDIA/DeepLearningExamples/tree/master/PyTorch/Classification/ConvNets/resnet50v1.5).
TRAFFIC = 8.0


@dataclass(frozen=True, slots=True)
class Range:
    """Low, usual and best."""

    low: float
    usual: float
    best: float

    def scaled(self, factor: float) -> Range:
        return Range(self.low * factor, self.usual * factor, self.best * factor)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.best


def flops_per_token(model: SizedModel, sequence: int, method: str = "full") -> float:
    """FLOPs of forward and backward for one token of sequences that long."""
    shape = model.shape
    if shape.kind == "convolution":
        return 6e9 * (shape.gflops or 4.0)  # forward and twice backward; a multiply and an add are two
    working = model.active - (0 if shape.tied else min(model.embedding, model.active // 2))
    attention = 12.0 * shape.layers * shape.heads * shape.head_size * sequence
    return (6.0 if method == "full" else 4.0) * working + attention


def training_flops(model: SizedModel, tokens: float, sequence: int, method: str = "full") -> float:
    """FLOPs of a whole training."""
    return flops_per_token(model, sequence, method) * tokens


def published_share(model: SizedModel, device: Device) -> Range:
    """Share of the dense peak that published trainings of that kind of model reach.

    A convolution's is bound by memory, too: the low end moves everything twice, the best end moves while it computes.
    """
    low, usual, best = device.facts.mfu
    if model.shape.kind != "convolution":
        return Range(low, usual, best)
    work = flops_per_token(model, 1) / (device.facts.tflops * 1e12)
    moves = TRAFFIC * (model.shape.activation_mb or 100.0) * 1e6 / (device.facts.hbm * 1e12)
    return Range(work / (work / low + 2 * moves), work / (work / usual + moves), work / max(work / best, moves))


def utilisation(model: SizedModel, layout: Layout, device: Device) -> Range:
    """Share of the dense peak that such a training reaches (MFU), without what waiting for the network costs."""
    published = published_share(model, device)
    low, usual, best = published.low, published.usual, published.best
    if layout.recompute == "full":
        low, usual = low * RECOMPUTING, usual * RECOMPUTING
    if layout.tensor > 1 or layout.pipeline > 1 or layout.context > 1:
        low, usual = low * SPLIT_LOW, usual * 0.92
    if layout.precision == "fp32":
        return Range(low / 4, usual / 3, best / 2)
    return Range(low, usual, best)


def tokens_per_second(model: SizedModel, layout: Layout, device: Device, accumulate: int = 1) -> Range:
    """Tokens a second of ONE device. The low end lets nothing overlap, the best end everything."""
    cost = flops_per_token(model, layout.sequence, layout.method)
    tokens = layout.tokens * accumulate / (layout.tensor * layout.pipeline)
    network = step_seconds(model, layout, device, accumulate)
    peak = device.facts.tflops * 1e12

    def rate(share: float, exposed: float) -> float:
        work = tokens * cost / (peak * share)
        return tokens / max(work + exposed * network, network if exposed < 1 else 0.0)

    share = utilisation(model, layout, device)
    return Range(rate(share.low, 1.0), rate(share.usual, 0.3), rate(share.best, 0.0))


def training_hours(model: SizedModel, tokens: float, layout: Layout, device: Device, accumulate: int = 1) -> Range:
    """Hours for that many tokens on all of the layout's devices: best end first is `low`."""
    rate = tokens_per_second(model, layout, device, accumulate).scaled(layout.gpus * 3600.0)
    return Range(tokens / rate.best, tokens / rate.usual, tokens / rate.low)


def gpu_hours(model: SizedModel, tokens: float, device: Device, sequence: int, method: str = "full") -> Range:
    """GPU hours for that many tokens by FLOPs and published utilisation alone."""
    peak_hours = training_flops(model, tokens, sequence, method) / (device.facts.tflops * 1e12) / 3600
    share = published_share(model, device)
    return Range(peak_hours / share.best, peak_hours / share.usual, peak_hours / share.low)
