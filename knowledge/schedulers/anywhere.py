"""What holds under a scheduler on any machine (anywhere.yaml): how jobs are sent, ask for GPUs, and are started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from knowledge.catalogue import squash
from knowledge.data_file import read_data
from knowledge.schedulers.records import Scheduler


@dataclass(frozen=True, slots=True)
class SchedulerForm:
    """Directives with placeholders (knowledge/cluster.py), the launcher, and where the workers meet.

    tells: what is open in a draft, with the command that tells it. unknown: what the scheduler cannot tell and a person
    has to add. preamble: lines at the script's beginning. whole_nodes: its directives ask for whole nodes in any case.
    """

    submit: str
    directives: tuple[str, ...]
    launcher: Literal["srun", "mpirun", "flux"]
    host: str
    preamble: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    port: str = ""
    unknown: tuple[str, ...] = ()
    whole_nodes: bool = False
    queue: str = ""
    account: str = ""
    tells: tuple[str, ...] = ()
    processors: tuple[str, ...] = ()
    """The directives of a job without GPUs."""


@cache
def scheduler_form(scheduler: Scheduler, use: Literal["drafted", "discovered"]) -> SchedulerForm:
    """The form for a draft of what nobody described, or for a machine whose scheduler was asked."""
    row: dict[str, Any] = read_data(Path(__file__).with_name("anywhere.yaml"))[scheduler]
    given = {"submit": row["submit"], "preamble": row.get("preamble", ()), **row[use]}
    fields: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items()}
    return SchedulerForm(**fields)


def elsewhere(machine: str | None) -> Mapping[str, Any]:
    """What is known of the scheduler of a machine that nobody described (elsewhere.yaml), by its name: `scheduler`, or
    what it `asks` that nothing here writes, and the `source`; empty where nothing is known."""
    called = squash(machine or "")
    rows = read_data(Path(__file__).with_name("elsewhere.yaml"))
    return next((row for row in rows if called in map(squash, row["names"])), {})
