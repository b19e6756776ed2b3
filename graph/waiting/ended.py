"""How a job ended: its state, its exit code and signal in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graph.waiting.amounts import size as size_of
from graph.waiting.spoken import moment_of, spoken_date
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers import slurm
from knowledge.schedulers.accounting import end_of
from knowledge.schedulers.asking import CouldNotAsk
from knowledge.schedulers.live import Ask, ended_mine
from knowledge.schedulers.reason_types import WaitReason
from knowledge.schedulers.reasons import FoundReason, sentence_reason
from knowledge.schedulers.records import QueuedJob, Scheduler
from knowledge.schedulers.times import spoken_time

SIGNALS: Mapping[int, str] = tables()["signals"]


FLUX = {"F": "FAILED", "CA": "CANCELLED", "TO": "TIMEOUT", "CD": "COMPLETED", "CANCELED": "CANCELLED"}


def ended_state(job: QueuedJob) -> str:
    """How it ended, in Slurm's words: those of the other schedulers are fewer."""
    if job.scheduler == "slurm":
        return slurm.state_name(job.state)
    if job.scheduler == "flux":
        return FLUX.get(job.state, job.state)
    return pbs_ending(job.exit_code) if job.scheduler == "pbs" and job.exit_code else job.state


ENDED_WELL = ("COMPLETED", "DONE", "CANCELLED", "REVOKED")


def failed_mine(scheduler: Scheduler, ask: Ask) -> list[QueuedJob] | CouldNotAsk:
    """My jobs that failed, as far as the scheduler remembers, the last one first; why not, where it is silent."""
    ended = ended_mine(scheduler, ask)
    if isinstance(ended, CouldNotAsk):
        return ended
    bad = (job for job in ended if ended_state(job) not in ENDED_WELL)
    return sorted(bad, key=lambda job: (end_of(job) or 0.0, len(job.id), job.id), reverse=True)


def ended_reason(job: QueuedJob) -> FoundReason:
    """What the state says; a state that is not known has simply ended."""
    said = f"{job.state} {job.reason}" if job.scheduler == "lsf" else ended_state(job)
    said += f" {job.reason}" * (job.reason == "DependencyNeverSatisfied")
    term = re.search(r"TERM_\w+", said)
    found = sentence_reason("ended", term[0]) if term else sentence_reason("ended", said)
    found = found or sentence_reason("ended", "FAILED")
    assert found is not None
    return found if job.scheduler == "slurm" else replace(found, reason=elsewhere(found.reason, job.scheduler))


RECORD = {"pbs": "qstat -xf <JOBID>", "lsf": "bhist -l <JOBID>", "flux": "flux job eventlog -H <JOBID>"}


def elsewhere(reason: WaitReason, scheduler: Scheduler) -> WaitReason:
    """The reason with the scheduler's own record in place of sacct, and without Slurm's commands."""
    do = tuple(remedy if remedy.command.startswith("maple-chat") else Step(remedy.text) for remedy in reason.do)
    return replace(reason, look=(RECORD[scheduler],), do=do)


def pbs_ending(status: str) -> str:
    """The state that an Exit_status stands for: -29 is the walltime, 0 success."""
    return {"0": "COMPLETED", "-29": "TIMEOUT", "-3": "LAUNCH_FAILED"}.get(status.strip(), "FAILED")


def exit_note(job: QueuedJob) -> str:
    """The exit code and the signal in words; empty where neither says anything."""
    if job.scheduler == "pbs":
        return pbs_exit(job.exit_code)
    found = re.fullmatch(r"(\d+)(?::(\d+))?", job.exit_code)
    if not found:
        return ""
    code, signal = int(found[1]), int(found[2] or 0)
    if signal == 53:
        folder = str(Path(told).parent) if (told := job.printed("StdOut")) else "of `--output`"
        return (
            f"{job.exit_code} is Slurm's own: it could not open the job's output file. Make the folder {folder} "
            "(does it exist, may you write there, is the quota full?), then submit it again."
        )
    if signal in SIGNALS:
        return f"Its exit code {job.exit_code} means: ended by signal {signal} ({SIGNALS[signal]})."
    if code > 128 and code - 128 in SIGNALS:
        return f"Its exit code {code} is 128 + {code - 128}: ended by signal {code - 128} ({SIGNALS[code - 128]})."
    return f"The script itself ended with code {code}{SHELL.get(code, '')}." if code else ""


# What the shell itself means by these.
SHELL: Mapping[int, str] = tables()["shell"]


def pbs_exit(status: str) -> str:
    """Exit_status of PBS: below 0 it is PBS's own, 256 + n (older: 128 + n) is signal n."""
    if not re.fullmatch(r"-?\d+", status):
        return ""
    value = int(status)
    for base in (256, 128):
        if value - base in SIGNALS:
            return (
                f"Exit_status {value} is {base} + {value - base}: ended "
                f"by signal {value - base} ({SIGNALS[value - base]})."
            )
    if value < 0:
        why = tables()["pbs_endings"].get(value, "it was stopped by PBS, not by the program")
        return f"Exit_status {value} is PBS's own: {why}."
    return (
        f"The script itself ended with code {value}{SHELL.get(value, '')}."
        if value
        else "Exit_status 0: it ended well."
    )


# Seconds in which no training is done.
SHORT = 30.0


def ran_for(job: QueuedJob) -> float | None:
    """The seconds that it ran, as printed or between its start and its end."""
    begun, over = moment_of(job.start), moment_of(job.printed("End"))
    return (over - begun).total_seconds() if job.elapsed is None and begun and over else job.elapsed


NEVER_RAN = re.compile("Unknown|None")


def use_note(job: QueuedJob, others: Sequence[QueuedJob]) -> str:
    """Time against its limit, and the memory used against that asked for, where the accounting printed them."""
    steps = [other for other in others if other.id.startswith(f"{job.id}.")]
    used = [size for one in (job, *steps) if (size := size_of(one.printed("MaxRSS"), bare=1))]
    asked = size_of(job.printed("ReqMem"), bare=1)
    told = []
    job = replace(job, elapsed=ran_for(job))
    if started := re.search(r"Job run at (.*?) on \(([^:)]+)", job.reason):  # a comment of PBS
        told.append(f"It began {started[1].replace(' at ', ' ')} on {started[2]}.")
    if job.elapsed and job.limit:
        stopped = " It reached that limit: the scheduler stopped it." if job.elapsed >= job.limit else ""
        told.append(
            f"It ran for {spoken_time(job.elapsed)} of the {spoken_time(job.limit)} that it asked for.{stopped}"
        )
    elif job.elapsed and job.elapsed >= 1:
        told.append(f"It ran for {spoken_time(job.elapsed)}.")
        if job.elapsed < SHORT and ended_state(job) in ENDED_WELL[:2]:
            told.append("That is short for a run: its output file tells whether it did what it should.")
    elif (NEVER_RAN.fullmatch(job.start) or (job.elapsed == 0 and not moment_of(job.start))) and job.phase == "ended":
        told.append("It never started.")
    if job.where not in ("", "None assigned") and job.phase == "ended":
        told.append(f"It ran on {job.where}.")
    if job.scheduler == "lsf" and job.limit and "TERM_RUNLIMIT" in job.reason:
        told.append(f"Its limit (`-W`) was {spoken_time(job.limit)}.")
    if moment_of(end := job.printed("End")):
        told.append(f"It ended {spoken_date(end)}.")
    if by := re.search(r"CANCELLED by (\d+)", job.state):
        root = "is root: the system or staff cancelled it, not you"
        whose = root if by[1] == "0" else f"cancelled it; `getent passwd {by[1]}` tells who that is"
        told.append(f"User number {by[1]} {whose}.")
    if used and asked:
        told.append(
            f"One of its tasks used up to {max(used) / 2**30:.1f} GB of memory; {asked / 2**30:.1f} GB were asked for."
        )
    return " ".join(told)
