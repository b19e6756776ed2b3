"""The machine that this runs on, asked of whichever scheduler is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graph.discovery.flux_machine import flux_machine
from graph.discovery.found import MachineFound
from graph.discovery.lsf_machine import lsf_machine
from graph.discovery.pbs_machine import pbs_machine
from graph.discovery.slurm_machine import slurm_machine
from knowledge.schedulers.asking import CouldNotAsk
from knowledge.schedulers.live import Ask
from knowledge.schedulers.records import Scheduler

MACHINES: Mapping[Scheduler, Callable[[Ask], MachineFound | CouldNotAsk]] = {
    "slurm": slurm_machine,
    "pbs": pbs_machine,
    "lsf": lsf_machine,
    "flux": flux_machine,
}


def machine_here(scheduler: Scheduler, ask: Ask) -> MachineFound | CouldNotAsk:
    """What the scheduler tells of its machine; why not, where one of its commands could not be asked."""
    return MACHINES[scheduler](ask)
