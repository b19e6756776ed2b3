"""One job that somebody asks about, with everything that was pasted beside it, and what is found out of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.waiting.spoken import spoken_date
from graph.waiting.words import tables
from knowledge.cluster import Cluster
from knowledge.document import Step
from knowledge.schedulers.reason_types import Starts, WaitKind
from knowledge.schedulers.reasons import FoundReason
from knowledge.schedulers.records import QueuedJob, SchedulerOutput


@dataclass(frozen=True, slots=True)
class WaitCase:
    """A waiting job, its reason, and the evidence beside it."""

    job: QueuedJob
    found: FoundReason
    others: tuple[QueuedJob, ...] = ()
    outputs: tuple[SchedulerOutput, ...] = ()
    words: str = ""
    """What the person wrote, and everything pasted that no scheduler printed."""
    text: str = ""
    machine: Cluster | None = None
    anothers: bool = False
    """Whether it is the job of somebody else than the person who asks, who cannot change it."""

    def rows(self, *commands: str) -> list[Mapping[str, str]]:
        """The rows of what these commands printed."""
        return [dict(row) for output in self.outputs if output.command in commands for row in output.rows]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a look found, in no language: labels of labels.yaml, a value, and values that have labels of their own."""

    label: str
    value: str = ""
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingNote:
    """What one look at the evidence found: a sentence, values for commands, and what it makes of the verdict."""

    says: str = ""
    fill: Mapping[str, str] = field(default_factory=dict)
    do: tuple[Step, ...] = ()
    kind: WaitKind | None = None
    starts: Starts | None = None
    instead: str = ""
    """Takes the place of the reason's own sentence."""
    part: str = ""
    """Which part of an answer it tells (good_answers.yaml)."""
    sure: bool = False
    """Whether its numbers settle the verdict: nothing that the reason's word leaves open is said then."""
    facts: tuple[Fact, ...] = ()
    """The same as `says`, for an answer in another language; none: it is told in English only."""
    only: bool = False
    """Whether `do` takes the place of the reason's remedies."""


NAME = re.compile(r"<([A-Z_]+)>")


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its `<NAMES>` filled in, as far as they are known."""
    return NAME.sub(lambda m: values.get(m[1]) or m[0], text)


def open_names(text: str) -> bool:
    return bool(NAME.search(text))


PUT_IN: Mapping[str, str] = tables()["put_in"]


def to_put_in(command: str, told: set[str]) -> str:
    """What to put in for the names that are still open in a command and were not explained before."""
    names = [name for name in dict.fromkeys(NAME.findall(command)) if name in PUT_IN and name not in told]
    told.update(names)
    return "; ".join(f"{name}: {PUT_IN[name]}" for name in names)


def known_values(job: QueuedJob, named: Mapping[str, str]) -> dict[str, str]:
    """What a job's own fields fill in."""
    base = re.split(r"[_\[]", job.id)[0]
    whole = job.id if job.scheduler != "slurm" or not re.search(r"[\[%]", job.id) else base
    reservation = job.printed("Reservation")
    values = {
        "JOBID": whole,
        "ARRAY": base,
        "PARTITION": job.queue.rstrip("+"),
        "QUEUE": job.queue or named.get("q", ""),
        "ACCOUNT": job.account if not job.account.endswith("+") else "",
        "QOS": job.qos,
        "RESERVATION": "" if reservation == "(null)" else reservation,
        "PARENTS": ",".join(parent_ids(job.depends or job.reason)),
        "NODE": job.printed("FailedNode") or job.printed("BatchHost"),
    }
    values |= {key.upper(): spoken_date(value) for key, value in named.items()}
    return {key: value for key, value in values.items() if value}


def parent_ids(depends: str) -> list[str]:
    """The jobs in `afterok:71:72(unfulfilled),afterany:73`, `afterok:90339.server@server`, `after-success=f59Qq`."""
    found = re.findall(r"(?:after\w*|before\w*|expand|singleton)((?::[\w.\[\]@+*-]+)+)", depends)
    ids = [re.split(r"[.@+]|_\*", part)[0] for group in found for part in group.split(":") if part]
    of_lsf = re.findall(r"\b(?:done|ended|exit|started|post_done)\(\"?(\w+)", depends)
    return [*dict.fromkeys([*ids, *re.findall(r"after-\w+=([^\s,]+)", depends), *of_lsf])]
