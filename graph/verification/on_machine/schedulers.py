"""How Slurm and PBS are given a job and asked about it. A scheduler is a row of SCHEDULERS."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Phase = Literal["waiting", "running", "ended", "gone"]
OUTPUT = "preflight.out"


@dataclass(frozen=True, slots=True)
class JobState:
    """Where a job is. word is the scheduler's own, says what it means; fine: how it ended, None where nobody knows.

    gone: the scheduler does not know the job any more.
    """

    phase: Phase
    word: str = ""
    says: str = ""
    fine: bool | None = None


@dataclass(frozen=True, slots=True)
class SchedulerQuestion:
    """One way to ask: the command (the job's id is appended to its last word), and how its answer is read.

    read gives None where the answer says nothing about the job: the next way is tried.
    """

    words: tuple[str, ...]
    read: Callable[[str], JobState | None]


@dataclass(frozen=True, slots=True)
class BatchSystem:
    """submit: options behind the submit command. job_id finds the id in the answer."""

    title: str
    submit: tuple[str, ...]
    job_id: re.Pattern[str]
    questions: tuple[SchedulerQuestion, ...]
    cancel: tuple[str, ...]
    watch: tuple[str, ...]


SLURM_ENDED = re.compile(
    r"BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT"
)
SLURM_WAITING = re.compile(r"PENDING|CONFIGURING|REQUEUED|REQUEUE_HOLD|REQUEUE_FED|RESV_DEL_HOLD|SPECIAL_EXIT")
# Slurm's reason codes (squeue's page, "JOB REASON CODES") in words; the start of a code is enough.
REASONS = {
    "Priority": "others come first",
    "Resources": "no free nodes yet",
    "BeginTime": "its begin time is not reached",
    "Dependency": "it waits for another job",
    "JobHeld": "it is held: scontrol release",
    "ReqNodeNotAvail": "its nodes are down or reserved",
    "PartitionTimeLimit": "its walltime is longer than the partition gives: it will not start",
    "PartitionNodeLimit": "the partition does not give that many nodes: it will not start",
    "InvalidAccount": "the account is not valid: it will not start",
    "InvalidQOS": "the QOS is not valid: it will not start",
    "QOSMax": "a limit of the QOS: walltime, nodes, or jobs at a time",
    "AssocGrp": "a limit of the account, such as its hours",
    "AssocMax": "a limit of the account for one job or person",
    "Nodes_required_for_job_are_DOWN": "its nodes are down or reserved",
}


def slurm_state(word: str, reason: str = "") -> JobState:
    if SLURM_ENDED.fullmatch(word):
        return JobState("ended", word, "", word == "COMPLETED")
    if SLURM_WAITING.fullmatch(word):
        says = next((says for code, says in REASONS.items() if reason.lstrip("(").startswith(code)), "")
        return JobState("waiting", word, says or reason.strip("()").replace("None", ""))
    return JobState("running", word)


def read_squeue(answer: str) -> JobState | None:
    """A line `STATE|REASON`, behind whatever a login shell prints."""
    lines = re.findall(r"^([A-Z_]+)\|(.*)$", answer, re.M)
    return slurm_state(*lines[-1]) if lines else None


def read_sacct(answer: str) -> JobState | None:
    """A line `CANCELLED by 1234`, or COMPLETED, with a + where it was cut."""
    lines = re.findall(r"^([A-Z_]{6,})(?: by \S+|\+)?\s*$", answer, re.M)
    return slurm_state(lines[-1]) if lines else None


def read_scontrol(answer: str) -> JobState | None:
    word = re.search(r"\bJobState=([A-Z_]+)", answer)
    reason = re.search(r"\bReason=(\S+)", answer)
    return slurm_state(word[1], reason[1] if reason else "") if word else None


PBS_WORDS = {
    "Q": "queued", "H": "held", "W": "waiting for its time", "T": "moving", "M": "moved to another server",
    "S": "suspended", "U": "suspended", "R": "running", "B": "running", "E": "ending", "F": "finished",
    "X": "finished", "C": "finished",
}  # fmt: skip


def read_qstat(answer: str) -> JobState | None:
    """`qstat -f`: lines `name = value`, long values folded behind a tab."""
    flat = re.sub(r"\r?\n\t", "", answer)
    letter = re.search(r"^[^\S\n]*job_state = ([A-Z])\b", flat, re.M)
    if letter is None:
        return None
    status = re.search(r"^[^\S\n]*Exit_status = (-?\d+)", flat, re.M)
    comment = re.search(r"^[^\S\n]*comment = (.+)$", flat, re.M)
    word = PBS_WORDS.get(letter[1], letter[1])
    if word == "finished":
        says = f"exit status {status[1]}" if status else "no exit status"
        return JobState("ended", word, says, int(status[1]) == 0 if status else None)
    phase: Phase = "running" if letter[1] in "RBESU" else "waiting"
    return JobState(phase, word, comment[1].strip()[:160] if comment and phase == "waiting" else "")


SCHEDULERS: dict[str, BatchSystem] = {
    "slurm": BatchSystem(
        "Slurm",
        ("--parsable", f"--output={OUTPUT}"),
        re.compile(r"^(\d+)(?:;\S*)?\s*$", re.M),
        (
            SchedulerQuestion(("squeue", "--noheader", "--states=all", "--format=%T|%r", "--jobs="), read_squeue),
            SchedulerQuestion(
                ("sacct", "--noheader", "--parsable2", "--allocations", "--format=State", "--jobs="), read_sacct
            ),
            SchedulerQuestion(("scontrol", "--oneliner", "show", "job", ""), read_scontrol),
        ),
        ("scancel", ""),
        ("squeue", "--jobs="),
    ),
    # -k doe: straight to its place where the site can; else PBS copies it at the end, as without.
    "pbs": BatchSystem(
        "PBS",
        ("-j", "oe", "-k", "doe", "-o", OUTPUT),
        re.compile(r"^(\d+(?:\.[\w.-]+)?)\s*$", re.M),
        (
            SchedulerQuestion(("qstat", "-x", "-f", ""), read_qstat),
            SchedulerQuestion(("qstat", "-f", ""), read_qstat),
        ),
        ("qdel", ""),
        ("qstat", ""),
    ),
}


def about(words: tuple[str, ...], job: str) -> tuple[str, ...]:
    """A command about one job."""
    return (*words[:-1], words[-1] + job)
