"""Why a job failed, by its id: the scheduler's record, its output files and its script, joined in one diagnosis."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.commands.why import NO_FAILURE, diagnosed, with_facts
from assistant.errors import InputError
from assistant.printing.plain import as_text, print_plain
from assistant.reading import shown_script
from graph.debugging.answer import as_json
from graph.debugging.log import LogSource, from_paths
from graph.usecases.diagnose_job import source_of_state
from graph.usecases.explain_pending import NOT_WAITING, PendingAnswer, explain_pending
from graph.waiting.ended import ENDED_WELL, ended_state, failed_mine
from knowledge.document import Document, Paragraph
from knowledge.schedulers.asking import BoundedAsking, CouldNotAsk, scheduler_here
from knowledge.schedulers.live import Ask, LiveOutput, accounted, one_job, script_of, submit_line
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob, Scheduler
from knowledge.types import Diagnosis

if TYPE_CHECKING:
    from graph.modelling.asking import Models


@dataclass(frozen=True, slots=True)
class FoundJob:
    """What is found of a job: the scheduler's record, its output files and its script (empty where it keeps none)."""

    job: QueuedJob
    record: str
    files: tuple[Path, ...]
    script: str
    step: QueuedJob | None = None
    """The step that was asked for by its id."""

    @property
    def has_log(self) -> bool:
        """Whether it has run so far that there is something to diagnose."""
        return self.job.phase not in ("waiting", "starting") and (self.job.phase != "running" or bool(self.files))


def why_job(job: str, options: argparse.Namespace, models: Models | None) -> int:
    """Tell why it failed; one that waits or runs is told so. Raises InputError where the scheduler does not know it."""
    found = record_of(job)
    told = explain_pending(found.record)
    if not found.has_log:
        print(
            json.dumps({"job": job, "state": found.job.state, "says": list(told.says)}) if options.json else plain(told)
        )
        return 0
    script = shown_script(str(options.script)) if options.script else found.script
    diagnosis = diagnosed_job(found, models)
    words, value = as_text(diagnosis), as_json(diagnosis)
    if options.machine or script:
        words, value = with_facts(diagnosis, options.machine, script, options.script or Path(f"{job}.sh"))
    record = {
        "id": job,
        "state": found.job.state,
        "says": [*told.says, *step_words(found.step)],
        "files": [str(path) for path in found.files],
    }
    if options.json:
        print(json.dumps({"job": record, **value}, indent=2))
    else:
        print(f"{' '.join([head(told), *step_words(found.step)])}\n\n{read_from(found)}\n\n{words}")
    return 0 if diagnosis.cause == NO_FAILURE else 1


def diagnosed_job(found: FoundJob, models: Models | None = None) -> Diagnosis:
    """The cause by its output files and by the state that the scheduler recorded. Raises InputError on bad files."""
    logs = from_paths(found.files) if found.files else ()
    sources = [*logs, *source_of_state(found.job)] or [LogSource(None, stream=io.BytesIO(b""))]
    diagnosis = diagnosed(sources, models)
    if diagnosis.cause == NO_FAILURE and ended_state(found.job) in FAILED_SILENTLY:
        return replace(diagnosis, cause="unknown", says=SILENT, confidence=0.0, send_next=ELSEWHERE)
    return diagnosis


FAILED_SILENTLY = ("FAILED", "EXIT")
SILENT = (
    "Its output shows no failure up to the last line, but the scheduler's record says that it failed: what ended so "
    "printed nothing, or prints elsewhere."
)


ELSEWHERE = (
    "the files that the script's own commands write (`> FILE`, `--log-dir`), and of every rank",
    "the script, if it is another one than what the scheduler keeps",
)


def step_words(step: QueuedJob | None) -> tuple[str, ...]:
    """How the step ended that was asked for."""
    code = f", exit code {step.exit_code}" if step and step.exit_code else ""
    return (f"Its step {step.id} ({step.name}): `{step.state}`{code}.",) if step else ()


def plain(told: PendingAnswer) -> str:
    return print_plain(told.document)


def head(told: PendingAnswer) -> str:
    """What the scheduler's record says, without the steps: those come with the cause."""
    lines = [line.replace(NOT_WAITING, "").strip() for line in told.says]
    return print_plain(Document((Paragraph(" ".join(lines)),)))


def read_from(found: FoundJob) -> str:
    """Which files the diagnosis stands on, and what could not be found."""
    files = ", ".join(str(path) for path in found.files) if found.files else "no output file of it is here"
    script = (
        "its script as the scheduler keeps it"
        if found.script
        else "no script (the scheduler keeps none, or it is not yours)"
    )
    return f"read: {files}; {script}"


def why_last(options: argparse.Namespace, models: Models | None) -> int:
    """Why my last failed job failed; those before it are listed. Raises InputError where none is told."""
    scheduler = scheduler_here()
    assert scheduler is not None
    bad = failed_mine(scheduler, BoundedAsking(together=PATIENT))
    if isinstance(bad, CouldNotAsk):
        raise InputError(f"{bad.says}; give a job id or log files")
    if not bad:
        raise InputError("no ended job of yours that the scheduler still tells of failed; give a job id or log files")
    last, *before = bad
    code = why_job(last.id, options, models)
    if before and not options.json:
        rows = [f"  {job.id}  {job.name}  {ended_state(job)}  {job.printed('End') or job.submitted}" for job in before]
        more = [f"  and {len(rows) - MOST_LISTED} more"] if len(rows) > MOST_LISTED else []
        head = "That was the last one. Others that failed, as far as the scheduler remembers (`maple-chat why ID`):"
        print("\n".join(["", head, *(row.rstrip() for row in rows[:MOST_LISTED]), *more]))
    return code


PATIENT = 60.0
MOST_LISTED = 10


def record_of(job: str) -> FoundJob:
    """Everything that the scheduler here tells of a job. Raises InputError where it cannot be asked or knows none."""
    scheduler = scheduler_here()
    ask = BoundedAsking()
    if scheduler is None:
        raise InputError(
            f"no file {job} is here, and no scheduler either; give log files, or run this on the login node"
        )
    asked = records(scheduler, job, ask)
    if not asked.jobs:
        if asked.failures:
            raise InputError(f"{asked.failures[0].says}; give its log files, or try later")
        raise InputError(f"the scheduler knows no job {job}: mistyped, or purged; give its log files if you have them")
    name, _, step = job.partition(".") if scheduler == "slurm" else (job, "", "")
    whole = next((one for one in asked.jobs if one.id == name), failed_task(asked.jobs))
    if whole.id != name and "_" in whole.id:
        asked = records(scheduler, whole.id, ask)
        whole = next((one for one in asked.jobs if one.id == whole.id), whole)
    part = next((one for one in asked.jobs if step and one.id == job), None)
    for failure in asked.failures:
        print(f"maple-chat: {failure.says}", file=sys.stderr)
    script = script_of(scheduler, whole.id.split(".")[0], ask, told=whole)
    files = files_of(asked.jobs, whole, script)
    if not files and scheduler == "slurm":
        files = output_files(whole, script, submit_line(whole.id.split(".")[0], ask))
    return FoundJob(whole, asked.text, files, script, part)


def failed_task(jobs: Sequence[QueuedJob]) -> QueuedJob:
    """Of an array's tasks the first that failed."""
    bad = (job for job in jobs if job.phase == "ended" and ended_state(job) not in ENDED_WELL and "." not in job.id)
    return next(bad, jobs[0])


def records(scheduler: Scheduler, job: str, ask: Ask) -> LiveOutput:
    """The record in the queue and, for Slurm, that of the accounting, which knows memory and steps.

    A step (`71.0`, `71_3.batch`) has no record in the queue: its job's is asked for, and its own in the accounting.
    """
    whole, _, step = job.partition(".") if scheduler == "slurm" else (job, "", "")
    asked = one_job(scheduler, whole, ask)
    if scheduler != "slurm" or any("MaxRSS" in dict(one.fields) for one in asked.jobs):
        return asked
    more = accounted(f"{whole},{job}" if step else job, ask)
    text = f"{asked.text}\n\n{more.text}".strip()
    return LiveOutput(text, (*asked.failures, *more.failures), (*asked.outputs, *more.outputs))


def files_of(told: Sequence[QueuedJob], whole: QueuedJob, script: str) -> tuple[Path, ...]:
    """The output files by whichever record names them."""
    for one in (whole, *told):
        if files := output_files(one, script):
            return files
    return ()
