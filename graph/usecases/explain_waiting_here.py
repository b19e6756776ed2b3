"""A job that waits on this machine: why, and which change starts it sooner by the scheduler's dry run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graph.usecases.explain_pending import PendingAnswer, explain_pending
from graph.waiting.case import open_names
from graph.waiting.script_change import UPDATE, script_diff
from graph.waiting.spoken import listed, spoken_date
from graph.waiting.trial import TriedChange, as_it_is, change_words, refused_changes, trial_steps, tried_changes
from knowledge.cluster import Cluster
from knowledge.document import Diff, Document, Paragraph, Part, Step, Steps
from knowledge.schedulers.asking import CouldNotAsk
from knowledge.schedulers.live import Ask, LiveOutput, one_job, script_of, with_surroundings
from knowledge.schedulers.records import QueuedJob

TRIED = "Tried with `sbatch --test-only` (nothing was submitted). It starts sooner:"
TRIED_NEVER = "Tried with `sbatch --test-only` (nothing was submitted). It would start:"
MOST_SHOWN = 3
NOTHING = (
    "Tried with `sbatch --test-only` (nothing was submitted): {} would not start it sooner. "
    "The dry run plans it for {}, an estimate."
)


@dataclass(frozen=True, slots=True)
class WaitingHere:
    """The answer, what the scheduler said, and what could not be asked."""

    answer: PendingAnswer
    text: str
    failures: tuple[CouldNotAsk, ...] = ()


def explain_waiting_here(asked: LiveOutput, ask: Ask, machine: Cluster | None = None) -> WaitingHere:
    """What holds these jobs, with what stands beside them, and changes tried for the one that is told first."""
    whole = with_surroundings(asked, ask)
    waits = [job for job in asked.jobs if job.phase == "waiting"]
    script = script_of(waits[0].scheduler, base_id(waits[0]), ask, told=waits[0]) if len(waits) == 1 else ""
    answer = explain_pending(whole.text, machine=machine, script=script)
    job = next((job for job in waits if job.id.strip() == answer.job), None)
    if job and job.scheduler == "slurm" and answer.kind in TRIABLE:
        answer = with_trials(answer, job, script, ask)
    return WaitingHere(answer, whole.text, whole.failures)


# What a change of the request can cure; a hold, a dependency or a begin time is none.
TRIABLE = ("wait", "limit-request", "limit-aggregate", "node", "config")


def base_id(job: QueuedJob) -> str:
    """The id that Slurm's commands take: of tasks that wait together the array's."""
    return job.id.partition("_[")[0].strip()


def with_trials(answer: PendingAnswer, job: QueuedJob, script: str, ask: Ask) -> PendingAnswer:
    """The answer with changes tried: those that are refused say so, those that start it sooner come with their diff."""
    name = base_id(job)
    record = job if job.printed("JobState") else next(iter(one_job("slurm", name, ask).jobs), job)
    reason = record.printed("Reason")
    if reason in UNTRIED or reason.startswith(UNSEEN_LIMITS):
        return answer
    script = script or script_of("slurm", name, ask)
    ready = [s.command for s in answer.change if UPDATE.search(s.command) and not open_names(s.command)]
    found = tried_changes(record, ready, script, ask)
    if not found:
        return answer
    answer = without_refused(answer, refused_changes(found))
    as_is = as_it_is(found, record, answer.starts == "no")
    steps = trial_steps(name, found, as_is)[:MOST_SHOWN]
    if not steps:
        return with_nothing(answer, found, as_is)
    parts: list[Part] = [Paragraph(TRIED if as_is else TRIED_NEVER), Steps(steps)]
    shown = {part.text for part in answer.document.parts if isinstance(part, Diff)}
    diff = script_diff(script, [steps[0].command])
    parts += [Diff(diff, "script")] if diff and diff not in shown else []
    told = tuple(step for step in steps if step.command not in {s.command for s in answer.change})
    return replace(answer, change=(*answer.change, *told), document=answer.document + Document(tuple(parts)))


# They start at a time of their own, whatever is asked for.
UNTRIED = ("BeginTime", "JobArrayTaskLimit", "Reservation", "Licenses")
# The dry run does not look at the limits of a QOS or an account: it plans a start that never comes.
UNSEEN_LIMITS = ("QOS", "Assoc", "Max")


def with_nothing(answer: PendingAnswer, found: Sequence[TriedChange], as_is: datetime | None) -> PendingAnswer:
    """Where no change helps: that is said, with when the job as it is would start."""
    others = [change_words(one.change) for one in found[1:] if one.start]
    if as_is is None or not others:
        return answer
    said = NOTHING.format(listed(others), spoken_date(as_is.isoformat()))
    kept = with_steps(answer, lambda step: None if "<SHORTER>" in step.command else step)
    return replace(kept, says=(*answer.says, said), document=kept.document + Document((Paragraph(said),)))


def without_refused(answer: PendingAnswer, refused: dict[str, str]) -> PendingAnswer:
    """A step that the dry run refuses says so."""

    def marked(step: Step) -> Step:
        why = next((says for words, says in refused.items() if words in step.command.split()), "")
        return replace(step, text=f"{step.text} (tried: sbatch refuses it: {why})") if why else step

    return with_steps(answer, marked)


def with_steps(answer: PendingAnswer, turned: Callable[[Step], Step | None]) -> PendingAnswer:
    """The answer with each step turned into another; None takes it out."""

    def of(steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(new for step in steps if (new := turned(step)))

    parts = [Steps(of(part.items)) if isinstance(part, Steps) else part for part in answer.document.parts]
    kept = tuple(part for part in parts if not isinstance(part, Steps) or part.items)
    return replace(answer, change=of(answer.change), document=Document(kept))
