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
    """What the share is worked out from: the model, its sequences' length, and how many of which GPU; of several kinds
    that it may run on, each is told."""

    model: SizedModel
    devices: tuple[Device, ...]
    gpus: int
    sequence: int = SEQUENCE

    def words(self, tokens_a_second: float) -> str:
        """`MFU 34 %`, `MFU 34 % on A100; 11 % on H200`."""
        told = [self._on(device, tokens_a_second) for device in self.devices]
        if len(told) == 1:
            return f"MFU {told[0]}"
        each = (f"{words} on {device.facts.model}" for words, device in zip(told, self.devices, strict=True))
        return f"MFU {'; '.join(each)}: say which with --gpu"

    def _on(self, device: Device, tokens_a_second: float) -> str:
        """Programs print tokens a second of one GPU or of all; where both could be, both are told."""
        whole = tokens_a_second * flops_per_token(self.model, self.sequence) / (device.facts.tflops * 1e12)
        shares = [share for share in (whole / self.gpus, whole) if share <= MOST_SHARE]
        if not shares:
            return f"above {100 * MOST_SHARE:.0f} %: is the speed in tokens?"
        told = [f"{100 * share:.2g} %" for share in dict.fromkeys(shares)]
        usual = f"published {100 * device.facts.mfu[0]:.0f} to {100 * device.facts.mfu[2]:.0f} %"
        if len(told) == 1:
            return f"{told[0]} ({usual})"
        return f"{told[0]}, or {told[1]} if that is one GPU's speed ({usual})"
