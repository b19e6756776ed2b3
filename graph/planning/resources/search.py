"""Which layouts hold a model on a device: the smallest of each kind, found by trying them all (milliseconds)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.planning.resources.device import Device
from graph.planning.resources.layout import Layout, Recompute
from graph.planning.resources.memory import SURE, SURE_OF_EXPERTS, MemoryEstimate, Verdict, estimate_memory, judge
from graph.planning.resources.parameters import SizedModel

LADDER: tuple[Recompute, ...] = ("none", "full")
MICRO_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NODES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


@dataclass(frozen=True, slots=True)
class Fit:
    """A layout on a device with its memory and verdict."""

    layout: Layout
    device: Device
    memory: MemoryEstimate
    verdict: Verdict

    @property
    def nodes(self) -> int:
        return self.device.nodes_for(self.layout.gpus)


def try_layout(model: SizedModel, layout: Layout, device: Device) -> Fit:
    """That layout as it is."""
    memory = estimate_memory(model, layout)
    # How experts are split over a tensor or pipeline split is not counted: more is left free.
    uncounted = model.shape.experts and layout.tensor * layout.pipeline > 1
    verdict = judge(memory, device.gb, SURE_OF_EXPERTS if uncounted else SURE)
    return Fit(layout, device, memory, "tight" if verdict == "fits" and model.unsure else verdict)


def ease(model: SizedModel, layout: Layout, device: Device) -> Fit:
    """That layout without recomputing where it fits so, else with it."""
    ladder = (layout.recompute,) if layout.settled else LADDER
    fits = [try_layout(model, replace(layout, recompute=recompute), device) for recompute in ladder]
    return next((fit for fit in fits if fit.verdict == "fits"), fits[-1])


def counts(device: Device, most_nodes: int | None = None) -> Iterator[int]:
    """Numbers of GPUs that one asks for: parts of a node, then whole nodes."""
    yield from (gpus for gpus in (1, 2, 4, 8) if gpus < device.each or device.per_node is None)
    if device.per_node is None:
        yield from (16 * nodes for nodes in NODES)
        return
    most = min(most_nodes or NODES[-1], device.node_count or NODES[-1])
    yield from (nodes * device.per_node for nodes in NODES if nodes <= most)


def fewest(model: SizedModel, layout: Layout, device: Device, most_nodes: int | None = None) -> Fit | None:
    """The fewest GPUs on which that layout surely fits (tight, where that is the best that can be said); None where no
    number that is there does."""
    for gpus in counts(device, most_nodes):
        if gpus % (layout.tensor * layout.pipeline) == 0:
            fit = ease(model, replace(layout, gpus=gpus), device)
            if fit.verdict == "fits" or (fit.verdict == "tight" and model.unsure):
                return fit
    return None


def largest_micro_batch(model: SizedModel, layout: Layout, device: Device) -> Fit | None:
    """The largest micro-batch (a power of two) that surely fits; None where not even one does."""
    found = None
    for size in MICRO_BATCHES:
        fit = try_layout(model, replace(layout, micro_batch=size), device)
        if fit.verdict != "fits":
            break
        found = fit
    return found


def longest_sequence(model: SizedModel, layout: Layout, device: Device) -> int | None:
    """The longest sequence (a power of two) that surely fits; None where not even 512 tokens do."""
    found = None
    for power in range(9, 21):
        if model.shape.positions and (1 << power) > model.shape.positions:
            break
        if ease(model, replace(layout, sequence=1 << power), device).verdict != "fits":
            break
        found = 1 << power
    return found


def splits(model: SizedModel, device: Device, gpus: int) -> Iterator[tuple[int, int]]:
    """Tensor and pipeline degrees that divide heads, layers and GPUs; the tensor split stays inside a node."""
    shape = model.shape
    for tensor in (1, 2, 4, 8):
        if device.each % tensor or shape.heads % tensor or shape.ffn % tensor:
            continue
        for pipeline in (1, 2, 4, 5, 8, 10, 16, 20, 32):
            # An embedding and a head may count as layers of their own: 126 layers over 16 stages.
            even = shape.layers % pipeline == 0 or (shape.layers + 2) % pipeline == 0
            if even and gpus % (tensor * pipeline) == 0 and pipeline <= shape.layers // 2:
                yield tensor, pipeline


def best_split(model: SizedModel, layout: Layout, device: Device) -> Fit | None:
    """The smallest tensor x pipeline split that fits the layout's GPUs: as little pipeline, then tensor, as will do."""
    degrees = sorted(splits(model, device, layout.gpus), key=lambda d: (d[1] * d[0], d[1]))
    for tensor, pipeline in degrees:
        fit = ease(model, replace(layout, tensor=tensor, pipeline=pipeline), device)
        if fit.verdict == "fits":
            return fit
    return None
