"""How Slurm and PBS are given a job and asked about it. A scheduler is a row of SCHEDULERS."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from knowledge.schedulers import slurm
from knowledge.schedulers.reasons import find_reason

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


def slurm_state(word: str, reason: str = "") -> JobState:
    """By the tables of `maple-chat pending`: the states of Slurm, and what its reasons mean."""
    phase, bare = slurm.state_phase(word), reason.strip("()").replace("None", "")
    if phase == "ended":
        return JobState("ended", word, "", word == "COMPLETED")
    if phase not in ("waiting", "starting"):
        return JobState("running", word)
    meant = find_reason("slurm", bare) if bare else None
    return JobState("waiting", word, meant.reason.says if meant else bare)


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
