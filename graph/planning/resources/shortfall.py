"""A GPU that ran out of memory: what the log's numbers and the model's sum say of each remedy.

Of the memory that a run took, weights, gradients and optimizer follow from the model; what is left of the log's own
figure grows with the tokens. So neither batch nor sequence has to be known. All sizes are GiB of 2^30 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from graph.planning.resources.layout import Layout
from graph.planning.resources.memory import CONTEXT_GIB, MemoryEstimate, Verdict, estimate_memory
from graph.planning.resources.parameters import SizedModel

# Parts of the sum that grow with the tokens of a micro-batch.
OF_TOKENS = ("activations", "layer in work", "logits")
# Of the room, what fragments are left to.
FRAGMENTS = 0.97
# How far the share that a remedy leaves of the tokens' part may be off, and the least of the states that are doubted.
DOUBT, STATES_DOUBT = 1.25, 1.05


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """What the line says, in GiB: asked for, free, the card's total, allocated by this process, reserved by it and not
    used, held by another process, and allowed to this one. None: not told."""

    asked: float
    free: float | None = None
    total: float | None = None
    allocated: float | None = None
    unused: float | None = None
    foreign: float | None = None
    allowed: float | None = None

    @property
    def held(self) -> float | None:
        """What this process holds; where it is not told, what is not free less a context."""
        if self.allocated is not None:
            return self.allocated
        if self.total is None or self.free is None:
            return None
        return max(0.0, self.total - self.free - CONTEXT_GIB - (self.foreign or 0.0))

    @property
    def needed(self) -> float | None:
        """The least that this process wants at its peak: it may have wanted more later."""
        return None if self.held is None else self.held + self.asked

    @property
    def room(self) -> float | None:
        """What this process could hold at most: the card less what lies outside of its allocator."""
        if self.total is None or self.held is None:
            return None
        outside = CONTEXT_GIB if self.free is None else self.total - self.free - self.held - (self.unused or 0.0)
        return min(self.total - max(0.0, outside), self.allowed or self.total)

    @property
    def short(self) -> float | None:
        return None if self.free is None else max(0.0, self.asked - self.free)

    @property
    def unused_suffices(self) -> bool:
        """Whether what is reserved and lies unused would have held what was asked for."""
        return self.unused is not None and self.short is not None and self.unused >= self.short > 0


@dataclass(frozen=True, slots=True)
class RemedyOutcome:
    """A remedy by the sum: GiB as expected and at worst, and whether that fits."""

    name: str
    gib: float
    most: float
    verdict: Verdict


def fixed_gib(estimate: MemoryEstimate) -> float:
    """What does not grow with the tokens."""
    return sum(part.gib for part in estimate.parts if part.name not in OF_TOKENS)


def tokens_gib(estimate: MemoryEstimate) -> float:
    return sum(part.gib for part in estimate.parts if part.name in OF_TOKENS)


def weigh(log: OutOfMemory, model: SizedModel, layout: Layout) -> list[RemedyOutcome]:
    """Each remedy on the same GPUs or twice as many, by the sum; empty where the log does not tell what was held.

    Where the fixed part alone is more than the log shows, the run ended before it was all there: then the tokens' part
    is what the sum expects.
    """
    needed, room = log.needed, log.room
    if needed is None or room is None:
        return []
    before = estimate_memory(model, layout)
    fixed = fixed_gib(before)
    tokens = needed - fixed if needed > fixed else tokens_gib(before)
    found = []
    for name, changed in remedies(layout):
        after = estimate_memory(model, changed)
        share = tokens_gib(after) / tokens_gib(before) if tokens_gib(before) else 1.0
        gib = fixed_gib(after) + tokens * share
        most = fixed_gib(after) * STATES_DOUBT + tokens * min(1.0, share * (DOUBT if share < 1 else 1.0))
        verdict: Verdict = "fits" if most <= FRAGMENTS * room else "tight" if gib <= FRAGMENTS * room else "no"
        found.append(RemedyOutcome(name, gib, most, verdict))
    return found


def remedies(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """What may be changed, cheapest first."""
    if layout.micro_batch > 1:
        half = layout.micro_batch / 2
        yield f"a micro-batch of {half:g} instead of {layout.micro_batch:g}", replace(layout, micro_batch=half)
        yield "a micro-batch of 1", replace(layout, micro_batch=1)
    if layout.recompute == "none":
        yield "activation checkpointing", replace(layout, recompute="full")
    if layout.loss == "plain":
        yield "a fused loss", replace(layout, loss="fused")
    if layout.gpus > 1 and layout.spread not in ("fsdp", "zero3"):
        yield f"FSDP or ZeRO-3 over the {layout.gpus} GPUs", replace(layout, spread="fsdp")
        yield "FSDP or ZeRO-3 with activation checkpointing", replace(layout, spread="fsdp", recompute="full")
    if layout.optimizer == "adam" and layout.method == "full":
        yield "an 8-bit optimizer", replace(layout, optimizer="adam8bit")
    if layout.spread in ("fsdp", "zero3"):
        yield f"{2 * layout.gpus} GPUs", replace(layout, gpus=2 * layout.gpus)
        yield f"{4 * layout.gpus} GPUs", replace(layout, gpus=4 * layout.gpus)
    if layout.method == "full":
        yield "LoRA", replace(layout, method="lora")
    if layout.method != "qlora":
        yield "QLoRA", replace(layout, method="qlora")
