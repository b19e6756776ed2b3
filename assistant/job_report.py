"""Why a job failed, by its id: the scheduler's record, its output files and its script, joined in one diagnosis."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.commands.why import NO_FAILURE, diagnosed, read_text, with_facts
from assistant.document_text import document_text
from assistant.errors import InputError
from assistant.printing.plain import as_text
from graph.debugging.answer import as_json
from graph.debugging.log import from_paths
from graph.usecases.diagnose_job import source_of_state
from graph.usecases.explain_pending import NOT_WAITING, PendingAnswer, explain_pending
from knowledge.document import Document, Paragraph
from knowledge.schedulers.asking import scheduler_here
from knowledge.schedulers.live import Asked, accounted, one_job, script_of
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob, Scheduler

if TYPE_CHECKING:
    from graph.modelling.asking import Models


@dataclass(frozen=True, slots=True)
class FoundJob:
    """What is found of a job: the scheduler's record, its output files and its script (empty where it keeps none)."""

    job: QueuedJob
    record: str
    files: tuple[Path, ...]
    script: str


def why_job(job: str, options: argparse.Namespace, models: Models | None) -> int:
    """Tell why it failed; one that waits or runs is told so. Raises InputError where the scheduler does not know it."""
    found = record_of(job)
    told = explain_pending(found.record)
    if found.job.phase in ("waiting", "starting"):
        print(
            json.dumps({"job": job, "state": found.job.state, "says": list(told.says)}) if options.json else plain(told)
        )
        return 0
    script = read_text(options.script) if options.script else found.script
    logs = from_paths(found.files) if found.files else ()
    diagnosis = diagnosed([*logs, *source_of_state(found.job)], models)
    words, value = as_text(diagnosis), as_json(diagnosis)
    if options.machine or script:
        words, value = with_facts(diagnosis, options.machine, script, options.script or Path(f"{job}.sh"))
    record = {
        "id": job,
        "state": found.job.state,
        "says": list(told.says),
        "files": [str(path) for path in found.files],
    }
    if options.json:
        print(json.dumps({"job": record, **value}, indent=2))
    else:
        print(f"{head(told)}\n\n{read_from(found)}\n\n{words}")
    return 0 if diagnosis.cause == NO_FAILURE else 1


def plain(told: PendingAnswer) -> str:
    return document_text(told.document)


def head(told: PendingAnswer) -> str:
    """What the scheduler's record says, without the steps: those come with the cause."""
    lines = [line.replace(NOT_WAITING, "").strip() for line in told.says]
    return document_text(Document((Paragraph(" ".join(lines)),)))


def read_from(found: FoundJob) -> str:
    """Which files the diagnosis stands on, and what could not be found."""
    files = ", ".join(str(path) for path in found.files) if found.files else "no output file of it is here"
    script = (
        "its script as the scheduler keeps it"
        if found.script
        else "no script (the scheduler keeps none, or it is not yours)"
    )
    return f"read: {files}; {script}"


def record_of(job: str) -> FoundJob:
    """Everything that the scheduler here tells of a job. Raises InputError where it cannot be asked or knows none."""
    scheduler = scheduler_here()
    if scheduler is None:
        raise InputError(
            f"no file {job} is here, and no scheduler either; give log files, or run this on the login node"
        )
    asked = records(scheduler, job)
    if not asked.jobs:
        if asked.failures:
            failure = asked.failures[0]
            raise InputError(
                f"`{failure.command}` could not be asked ({failure.why}); give its log files, or try later"
            )
        raise InputError(f"the scheduler knows no job {job}: mistyped, or purged; give its log files if you have them")
    whole = next((one for one in asked.jobs if one.id == job), asked.jobs[0])
    for failure in asked.failures:
        print(f"maple-chat: `{failure.command}` could not be asked: {failure.why}", file=sys.stderr)
    script = script_of(scheduler, whole.id.split(".")[0])
    return FoundJob(whole, asked.text, files_of(asked.jobs, whole, script), script)


def records(scheduler: Scheduler, job: str) -> Asked:
    """The record in the queue and, for Slurm, that of the accounting, which knows memory and steps."""
    asked = one_job(scheduler, job)
    if scheduler != "slurm" or any("MaxRSS" in dict(one.fields) for one in asked.jobs):
        return asked
    more = accounted(job)
    text = f"{asked.text}\n\n{more.text}".strip()
    return Asked(text, (*asked.failures, *more.failures), (*asked.outputs, *more.outputs))


def files_of(told: Sequence[QueuedJob], whole: QueuedJob, script: str) -> tuple[Path, ...]:
    """The output files by whichever record names them."""
    for one in (whole, *told):
        if files := output_files(one, script):
            return files
    return ()
