"""Where a command of the stand-in cluster runs: on which node of which job, and how it tells what it did."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from graph.verification.simulator import records
from graph.verification.simulator.config import StandIn


@dataclass(frozen=True, slots=True)
class SimulatedSite:
    """stage is the rehearsal's folder, channel the number of the socket that records go out by (-1: there is none)."""

    stage: Path
    job: StandIn
    node: str
    networked: bool = False
    channel: int = -1

    def record(self, kind: str, **facts: object) -> None:
        records.send(self.channel, kind, facts)

    def stop_recording(self) -> None:
        """Before a program of the script's runs in this very process."""
        with contextlib.suppress(OSError):
            os.close(self.channel)
