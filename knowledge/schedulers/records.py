"""What is read from a scheduler's output: jobs, and outputs of other kinds with the lines that they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knowledge.types import Scheduler as Scheduler

Phase = Literal["waiting", "starting", "running", "suspended", "ending", "ended", "unknown"]
Kind = Literal["jobs", "accounting", "priority", "share", "nodes", "queues", "limits", "block", "refusal", "events"]
Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class QueuedJob:
    """One job as a scheduler tells of it. Empty text and None: not printed."""

    scheduler: Scheduler
    id: str = ""
    name: str = ""
    user: str = ""
    queue: str = ""
    account: str = ""
    qos: str = ""
    state: str = ""
    """As printed: PD, PENDING, Q, PEND, S ..."""
    phase: Phase = "unknown"
    reason: str = ""
    """As printed, without its brackets."""
    nodes: int | None = None
    tasks: int | None = None
    where: str = ""
    """The nodes it holds, or is planned on."""
    elapsed: float | None = None
    """Seconds that it has run."""
    limit: float | None = None
    """Seconds that it asked for."""
    start: str = ""
    """When it began, or is planned to, as printed."""
    submitted: str = ""
    exit_code: str = ""
    depends: str = ""
    fields: Fields = ()
    """Everything printed, under the scheduler's own names."""

    def printed(self, name: str) -> str:
        """The value under the scheduler's own name, whatever its case; empty where there is none."""
        wanted = name.lower()
        return next((value for key, value in self.fields if key.lower() == wanted), "")


@dataclass(frozen=True, slots=True)
class SchedulerOutput:
    """One output of a command, and where it stands in the text that it was found in."""

    scheduler: Scheduler
    command: str
    """The command that prints this: `squeue`, `scontrol show job`, `qstat -f` ..."""
    kind: Kind
    first: int
    """Its first line, counted from 0."""
    last: int
    """Its last line."""
    jobs: tuple[QueuedJob, ...] = ()
    rows: tuple[Fields, ...] = ()
    """What tells of no single job: partitions, nodes, reservations, licences, budgets."""
    message: str = ""
    """What a command said in words: a refusal, an estimate."""
