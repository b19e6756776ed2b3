"""What a job costs in its site's own unit: SU, core hours, node hours, GPU hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from knowledge.strict import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Facts):
    """What an hour of a node, or of a GPU as PyTorch counts them, takes from the account.

    A rate by queue or by kind of node takes the usual one's place, the queue's first; 0 is free of charge. Where there
    is no usual one (null), the others are not known.
    """

    unit: str
    per: Literal["node", "gpu"]
    rate: float | None = 1.0
    queues: Mapping[str, float] = field(default_factory=dict)
    node_types: Mapping[str, float] = field(default_factory=dict)
    least_hours: float = 0.0
    """What the shortest job is charged."""
    whole_nodes: tuple[str, ...] = ()
    """Queues in which all GPUs of a node are charged, however many are used."""
    source: str
    as_of: str | None = None

    def amount(self, hours: float, nodes: int, gpus: int, queue: str, node_type: str) -> float | None:
        """At most, for so many nodes with so many GPUs each that are the job's."""
        rate = self.queues.get(queue, self.node_types.get(node_type, self.rate))
        if rate is None:
            return None
        return max(hours, self.least_hours) * nodes * (gpus if self.per == "gpu" else 1) * rate
