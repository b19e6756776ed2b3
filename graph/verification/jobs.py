"""The last rung: the mini-app as a real job on the machine. Submit, follow, fetch the output, judge it.

Nothing is sent before `submit` is called, and whoever calls it has asked the person first.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from graph.debugging.diagnosis import diagnose
from graph.verification.on_machine.reach import Reach, last_line
from graph.verification.on_machine.schedulers import OUTPUT, SCHEDULERS, BatchSystem, JobState, about
from graph.verification.on_machine.trial import Trial
from knowledge.errors import InputError, UnavailableError
from knowledge.types import Diagnosis

# Seconds between questions: they grow from the first to the second. Sites ask not to poll faster than twice a minute.
PAUSES = (5.0, 30.0)
# How many questions in a row may go unanswered: a login node that is restarted, a scheduler that is busy.
MOST_UNANSWERED = 10
# A busy scheduler shows a new job late: so many questions in a row may not find it.
SHOWN_LATE = 3
SUBMITTED = JobState("waiting", "submitted")
UNKNOWN_JOB = re.compile(r"Invalid job id|Unknown Job|has finished", re.I)
# A shared filesystem shows a file some seconds late on another node.
LOOKS = 5
LARGEST_OUTPUT = 5_000_000
MARK = '{"rank": '
UNSEEN = (
    "the lines of your own script: the launch was planned anew from the machine's facts",
    "your program, its data and its memory",
    "more nodes than the trial had",
)


@dataclass(frozen=True, slots=True)
class SubmittedJob:
    """A job that was submitted."""

    id: str
    scheduler: str
    reach: Reach

    @property
    def system(self) -> BatchSystem:
        return SCHEDULERS[self.scheduler]

    @property
    def cancel(self) -> str:
        """The line that ends it, for a person."""
        return self.reach.shown(about(self.system.cancel, self.id))

    @property
    def watch(self) -> str:
        """The line that shows it, for a person."""
        return self.reach.shown(about(self.system.watch, self.id))


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """How the trial went. ranks are the mini-app's reports; diagnosis is there where it failed.

    unseen says what this rung cannot see.
    """

    passed: bool
    job: str
    state: JobState
    expected: int
    ranks: tuple[dict[str, Any], ...]
    says: tuple[str, ...]
    diagnosis: Diagnosis | None
    output: str
    unseen: tuple[str, ...] = UNSEEN


def ready(trial: Trial) -> None:
    """Raises InputError where the trial cannot be submitted from here, saying what to do."""
    if trial.plan.scheduler not in SCHEDULERS:
        raise InputError(
            f"jobs are followed on Slurm and PBS, not on {trial.plan.scheduler}; without --submit you see the script "
            "and the command to submit it yourself"
        )
    if trial.account_open:
        raise InputError("the script holds no account; give --account, the project that is charged")


def submit(trial: Trial, reach: Reach) -> SubmittedJob:
    """Send the files and submit. Raises InputError where the scheduler refuses, with its words."""
    ready(trial)
    reach.send(trial.files)
    done = reach.run(trial.submit)
    found = SCHEDULERS[trial.plan.scheduler].job_id.findall(done.output.decode("utf-8", "replace"))
    if done.code or not found:
        words = last_line(done.errors or done.output.decode("utf-8", "replace"))
        raise InputError(f"{trial.submit[0]} refuses the job: {words}; see `maple-chat check` for the script")
    return SubmittedJob(found[-1], trial.plan.scheduler, reach)


def follow(
    job: SubmittedJob,
    pauses: tuple[float, float] = PAUSES,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[JobState]:
    """Each change of the job's state, to its end. Raises UnavailableError when nobody answers any more."""
    last: JobState | None = None
    pause, unanswered, unknown = pauses[0], 0, 0
    while True:
        try:
            state, unanswered = ask(job), 0
        except UnavailableError as error:
            unanswered += 1
            if unanswered == MOST_UNANSWERED:
                raise UnavailableError(f"{error} (job {job.id} goes on; see it with: {job.watch})") from error
            state = last or SUBMITTED
        unknown = unknown + 1 if state.phase == "gone" else 0
        if state.phase == "gone" and last in (None, SUBMITTED) and unknown < SHOWN_LATE:
            state = SUBMITTED
        if state != last:
            yield state
        last = state
        if state.phase in ("ended", "gone"):
            return
        sleep(pause)
        pause = min(pauses[1], pause * 1.5)


def ask(job: SubmittedJob) -> JobState:
    """The job's state now, by the first question that tells it; `gone` where the scheduler does not know the job.

    Raises UnavailableError where there is no answer: the connection, or a scheduler that is busy.
    """
    gone, words = False, "no answer"
    for question in job.system.questions:
        try:
            done = job.reach.run(about(question.words, job.id))
        except UnavailableError as error:
            words = str(error)
            continue
        state = question.read(done.output.decode("utf-8", "replace")) if done.code == 0 else None
        if state is not None:
            return state
        gone = gone or done.code == 0 or bool(UNKNOWN_JOB.search(done.errors))
        words = last_line(done.errors) if done.code else words
    if not gone:
        raise UnavailableError(f"the scheduler does not answer: {words}")
    return JobState("gone", "unknown to the scheduler")


def fetch(job: SubmittedJob, sleep: Callable[[float], None] = time.sleep) -> str:
    """What the job printed; empty where there is nothing. Raises UnavailableError where the machine does not answer."""
    failed: UnavailableError | None = None
    for look in range(LOOKS):
        try:
            done = job.reach.run(("tail", "-c", str(LARGEST_OUTPUT), OUTPUT))
            failed = None
        except UnavailableError as error:
            failed = error
        if failed is None and done.code == 0:
            return done.output.decode("utf-8", "replace")
        if look < LOOKS - 1:
            sleep(2)
    if failed is not None:
        raise UnavailableError(f"{failed} (job {job.id} has ended; its output is in {job.reach.folder})")
    return ""


def judge(trial: Trial, job: SubmittedJob, state: JobState, output: str) -> TrialOutcome:
    """Whether the whole world formed. Where it did not, why."""
    ranks = reports(output)
    says = tuple(wrong(trial, state, ranks))
    diagnosis = diagnose(output) if says and output.strip() else None
    return TrialOutcome(not says, job.id, state, trial.plan.ranks, ranks, says, diagnosis, output)


def reports(output: str) -> tuple[dict[str, Any], ...]:
    """The mini-app's lines, wherever a launcher's prefix lets them start."""
    found: dict[int, dict[str, Any]] = {}
    decoder = json.JSONDecoder()
    start = output.find(MARK)
    while start >= 0:
        try:
            one, _ = decoder.raw_decode(output, start)
            found[int(one["rank"])] = one
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        start = output.find(MARK, start + 1)
    return tuple(found[rank] for rank in sorted(found))


def wrong(trial: Trial, state: JobState, ranks: tuple[dict[str, Any], ...]) -> Iterator[str]:
    """What is not as it should be, one sentence each."""
    expected = trial.plan.ranks
    if state.fine is False:
        yield f"The job ended as {state.word}{f' ({state.says})' if state.says else ''}."
    if [one["rank"] for one in ranks] != list(range(expected)):
        yield f"{len(ranks)} of {expected} ranks reported."
    for one in ranks:
        if one.get("error"):
            yield f"Rank {one['rank']} on {one.get('node', '?')}: {one['error']}"
        elif not one.get("sums_right"):
            yield f"Rank {one['rank']} on {one.get('node', '?')} got wrong sums."
    sizes = {one.get("world_size") for one in ranks}
    if ranks and sizes != {expected}:
        yield f"The world has {', '.join(str(size) for size in sizes)} ranks, not {expected}."
