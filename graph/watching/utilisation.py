"""A run's tokens a second as a share of its GPUs' peak (MFU), told while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from graph.planning.resources.device import Device
from graph.planning.resources.parameters import SizedModel
from graph.planning.resources.speed import flops_per_token

# Nobody reaches more of the dense peak; a figure above it was printed for all GPUs together.
MOST_SHARE = 0.75
SEQUENCE = 4096


@dataclass(frozen=True, slots=True)
class Utilisation:
    """What the share is worked out from: the model, its sequences' length, and how many of which GPU."""

    model: SizedModel
    device: Device
    gpus: int
    sequence: int = SEQUENCE

    def words(self, tokens_a_second: float) -> str:
        """`MFU 34 %`: programs print tokens a second of one GPU or of all; where both could be, both are told."""
        whole = tokens_a_second * flops_per_token(self.model, self.sequence) / (self.device.facts.tflops * 1e12)
        shares = [share for share in (whole / self.gpus, whole) if share <= MOST_SHARE]
        if not shares:
            return f"MFU above {100 * MOST_SHARE:.0f} %: is the speed in tokens?"
        told = [f"{100 * share:.2g} %" for share in dict.fromkeys(shares)]
        usual = f"published {100 * self.device.facts.mfu[0]:.0f} to {100 * self.device.facts.mfu[2]:.0f} %"
        if len(told) == 1:
            return f"MFU {told[0]} ({usual})"
        return f"MFU {told[0]}, or {told[1]} if that is one GPU's speed ({usual})"
