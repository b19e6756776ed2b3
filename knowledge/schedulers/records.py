"""What is read from a scheduler's output: jobs, and outputs of other kinds with the lines that they stand in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from knowledge.schedulers.times import printed_seconds
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


def job_columns(**names: str) -> Mapping[str, tuple[str, ...]]:
    """For each field of a job the columns that may tell it, in a text with bars; the first that is printed counts."""
    return {field: tuple(columns.split("|")) for field, columns in names.items()}


def read_job(scheduler: Scheduler, fields: Fields, columns: Mapping[str, tuple[str, ...]], **told: Any) -> QueuedJob:
    """A job from what one row or block prints of it; `told` is what its columns alone do not tell."""
    row = dict(fields)
    found: dict[str, Any] = {}
    for field, names in columns.items():
        text = next((row[name] for name in names if row.get(name)), "")
        if field in ("nodes", "tasks"):
            found[field] = whole_number(text)
        else:
            found[field] = printed_seconds(text) if field in ("elapsed", "limit") else text
    return QueuedJob(scheduler, fields=fields, **found | told)


def whole_number(text: str) -> int | None:
    """The number at the beginning; none of a rounded one (`12K`)."""
    found = re.match(r"\d+", text)
    return int(found.group()) if found and not text.endswith(("K", "M", "G")) else None


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
