"""What a question about resources says; it travels with a conversation, so that the next turn need not say it again."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

Task = Literal["train", "lora", "qlora", "serve"]


@dataclass(frozen=True, slots=True)
class ResourceQuestion:
    """None or empty: not said. machines: catalogue ids; gpu, gpu_gb: a GPU that is named, and the GB beside it;
    hours: of one job or for the whole; measured_gb: what the person saw it take; samples: images or sequences;
    offload: the optimizer's states lie in the node's main memory; mine: the machines are those that the person has."""

    model: str | None = None
    task: Task | None = None
    machines: tuple[str, ...] = ()
    gpu: str | None = None
    gpu_gb: float | None = None
    nodes: int | None = None
    gpus: int | None = None
    strategy: str | None = None
    tensor: int | None = None
    pipeline: int | None = None
    tokens: float | None = None
    samples: float | None = None
    epochs: float | None = None
    sequence: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    precision: str | None = None
    hours: float | None = None
    node_hours: float | None = None
    measured_gb: float | None = None
    users: int | None = None
    offload: bool = False
    mine: bool = False

    def over(self, own: tuple[str, ...]) -> ResourceQuestion:
        """The question over the person's own machines, where neither a machine nor a GPU was named."""
        return self if self.machines or self.gpu or not own else replace(self, machines=own, mine=True)

    def after(self, before: ResourceQuestion | None) -> ResourceQuestion:
        """This question with what only the one before it said. Another model's tokens and size do not carry over; a
        machine that is named takes the place of nodes and GPUs named for another."""
        if before is None:
            return self
        kept = replace(before, measured_gb=None)
        if self.model and before.model and self.model != before.model:
            kept = replace(kept, tokens=None, samples=None, gpus=None, nodes=None, strategy=None)
        if self.machines and self.machines != before.machines:
            kept = replace(kept, gpu=None, gpu_gb=None, nodes=None, gpus=None)
        if self.nodes:
            kept = replace(kept, gpus=None)
        said = {f.name: v for f in fields(self) if (v := getattr(self, f.name)) not in (None, ())}
        return replace(
            kept,
            **{
                **said,
                "offload": self.offload or kept.offload,
                "mine": self.mine or (before.mine and not self.machines),
            },
        )
