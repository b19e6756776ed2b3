"""Which of the jobs in a message is meant: by id, by name, by user; else each that waits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace

from knowledge.schedulers.command_lines import PROMPT
from knowledge.schedulers.records import QueuedJob, SchedulerOutput

USER_OPTION = re.compile(r"(?:-u|--user|-U)[= ]*([\w.-]+)")
# "Will it start when 90377 is over?" is asked of the one that waits.
SOON = re.compile(
    r"(?i)\b(?:when|after|once|until|wenn|sobald|nach|quand|apr[eè]s|cuando|quando|dopo|depois) (?:\w+ )?\d{2}"
)
PROMPT_USER = re.compile(r"^\s*\[?([\w.-]+)@[\w.-]+", re.MULTILINE)


def read_jobs(outputs: Sequence[SchedulerOutput]) -> list[QueuedJob]:
    """The jobs of all outputs, each once: what several outputs tell of one job is put together."""
    jobs: dict[str, QueuedJob] = {}
    nameless: list[QueuedJob] = []
    for job in (job for output in outputs for job in output.jobs):
        if not job.id:
            nameless.append(job)
        else:
            jobs[job.id] = joined(jobs[job.id], job) if job.id in jobs else job
    waiting = [job for job in jobs.values() if job.phase == "waiting" and not job.reason]
    for job in nameless:
        # A comment pasted alone belongs to the one job beside it that has none; so do the events of Flux's one job.
        waiting = list(jobs.values()) if job.scheduler == "flux" and len(jobs) == 1 else waiting
        if len(waiting) == 1 and waiting[0].id in jobs:
            jobs[waiting[0].id] = joined(waiting[0], job)
        else:
            jobs[f" {len(jobs)}"] = job
    return list(jobs.values())


def joined(first: QueuedJob, second: QueuedJob) -> QueuedJob:
    """Both tellings of a job: the first's values, and the second's where the first has none."""
    missing = {
        field.name: getattr(second, field.name)
        for field in fields(first)
        if field.name not in ("fields", "scheduler") and getattr(first, field.name) in ("", None, "unknown")
    }
    return replace(first, **missing, fields=(*first.fields, *second.fields))


def jobs_meant(jobs: Sequence[QueuedJob], words: str, text: str) -> list[QueuedJob]:
    """The jobs that the words are about: named by id, by name or by user; all where none of these is told.

    Steps of a job (`71208.batch`) stand for their job. Of the jobs that are meant those that wait come first.
    """
    whole = [job for job in jobs if not re.search(r"\d\.\w+$", job.id) or job.scheduler != "slurm"] or list(jobs)
    said = " ".join(PROMPT.sub("", line, count=1) for line in words.splitlines())
    meant = named_by(whole, said, "id") or named_by(whole, said, "name") or by_user(whole, said, text) or whole
    waits = [job for job in whole if job.phase == "waiting"]
    if waits and SOON.search(said) and all(job.phase == "running" for job in meant):
        meant = waits
    order = {"waiting": 0, "starting": 1, "suspended": 2, "running": 3, "ending": 4, "ended": 5, "unknown": 6}
    if any(job.phase == "waiting" for job in meant):
        meant = [job for job in meant if job.phase == "waiting"]
    return sorted(meant, key=lambda job: order[job.phase])


def named_by(jobs: Sequence[QueuedJob], words: str, field: str) -> list[QueuedJob]:
    """The jobs whose id or name stands in the words as a word; a name has to be no common one of the table's own."""
    found = []
    for job in jobs:
        name = getattr(job, field)
        base = re.split(r"[_\[.]", name)[0] if field == "id" else name.rstrip("+")
        # Looked for plainly first: a pattern for each of 50,000 jobs is dear.
        if len(base) > 2 and base in words and re.search(rf"(?<![\w/.-]){re.escape(base)}(?![\w/-])", words):
            found.append(job)
    waiting = [job for job in found if job.phase == "waiting"]
    return (waiting or found) if field == "id" else found if len(found) < len(jobs) else []


def by_user(jobs: Sequence[QueuedJob], words: str, text: str) -> list[QueuedJob]:
    """The jobs of the user who speaks: `i am tvogel`, `-u tvogel`, the user of the prompt."""
    users = {job.user.rstrip("+") for job in jobs if job.user}
    asked = [*USER_OPTION.findall(text), *PROMPT_USER.findall(text), *re.findall(r"[\w-]+(?:\.[\w-]+)*", words)]
    user = next((name for name in asked if name in users), "")
    return [job for job in jobs if user and job.user.rstrip("+") == user]
