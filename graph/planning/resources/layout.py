"""How a training is spread over GPUs: what memory, speed and traffic are worked out from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Spread = Literal["none", "ddp", "zero1", "zero2", "zero3", "fsdp"]
Recompute = Literal["none", "selective", "full"]
Precision = Literal["mixed", "pure", "fp32"]
Optimizer = Literal["adam", "adam8bit", "sgd", "adafactor"]
Method = Literal["full", "lora", "qlora"]
Loss = Literal["plain", "fused", "chunked", "none"]
Beside = Literal["none", "reference", "several", "ema"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to train on `gpus` devices.

    spread: what data parallelism holds once or in parts; tensor, pipeline, context: degrees of the other splits;
    shard: devices of a sharding group where it is not all of data parallelism (HSDP); micro_batch: sequences a device
    works on at once; sequence: tokens of one; recompute: activation checkpointing; precision `mixed`: 16-bit
    arithmetic on 32-bit master weights, `pure`: everything in 16 bit; loss: how the logits' loss is taken (fused: one
    kernel, chunked: never all of them, none: a head with no words); rank: of LoRA; compiled: by torch.compile;
    settled: whether to recompute was said; beside: what else lies in memory: a frozen reference model,
    several models of which only that is counted, an average.
    """

    spread: Spread = "fsdp"
    gpus: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    shard: int | None = None
    micro_batch: float = 1
    sequence: int = 4096
    recompute: Recompute = "full"
    precision: Precision = "mixed"
    optimizer: Optimizer = "adam"
    method: Method = "full"
    loss: Loss = "plain"
    rank: int = 16
    offload_optimizer: bool = False
    offload_parameters: bool = False
    flash: bool = True
    compiled: bool = False
    settled: bool = False
    beside: Beside = "none"

    @property
    def data(self) -> int:
        """Copies of the model, in whole or in shards: the data parallel degree (context parallel ranks shard too)."""
        return max(1, self.gpus // (self.tensor * self.pipeline))

    @property
    def group(self) -> int:
        """Devices that share one copy of the sharded state."""
        return min(self.shard or self.data, self.data)

    @property
    def tokens(self) -> float:
        """Tokens on one device at once."""
        return self.micro_batch * self.sequence / self.context
