"""From a job to its case: what holds it, or that it does not wait at all."""

from __future__ import annotations

import re

from graph.waiting.ended import ended_reason
from knowledge.document import Step
from knowledge.schedulers.reason_types import Starts, WaitKind, WaitReason
from knowledge.schedulers.reasons import FoundReason, find_reason, sentence_reason
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import spoken_time
from knowledge.types import SCHEDULER_TITLES


def reason_of(job: QueuedJob) -> FoundReason:
    """What holds the job, by its state and by what its scheduler prints."""
    if job.phase == "ended":
        failed_request = find_reason(job.scheduler, job.reason) if job.scheduler == "flux" and job.reason else None
        return failed_request or ended_reason(job)
    if job.phase in ("running", "ending", "suspended") or (job.phase == "starting" and job.reason in ("", "None")):
        return made(job.state or job.phase, "not-waiting", "depends", being(job))
    found = find_reason(job.scheduler, job.reason) if job.reason else None
    if found and found.reason.word not in ("None",):
        return found
    return by_state(job) or found or unknown(job)


def made(
    word: str, kind: WaitKind, starts: Starts, says: str, *do: Step, look: tuple[str, ...] = (), of: str = ""
) -> FoundReason:
    return FoundReason(WaitReason(word=word, kind=kind, starts=starts, says=says, do=do, look=look, of=of), {})


# What is told of a job that does not wait, by its phase: on which nodes, and since when.
BEING = {
    "running": "it is running{since}{on}, so it does not wait",
    "starting": "it has its nodes{on} and is being set up{since}: nodes are booted or made ready; 10 to 15 minutes are "
    "normal where nodes are switched on for a job, so do not cancel it; if it "
    "lasts much longer, tell support{nodes}",
    "ending": "the job is over, and its nodes{on} are being cleaned; if that lasts long, a process hangs there: tell "
    "support",
    "suspended": "it had started and is suspended{on}: put aside by the scheduler or by staff, and it goes on where it "
    "was when it is resumed",
}


def being(job: QueuedJob) -> str:
    """What goes on with a job that does not wait."""
    told = re.search(r"Job run at (.*?) on \((.*?)\)", job.reason) if job.phase == "running" else None
    if told:  # a comment of PBS
        return f"it is running since {told[1].removesuffix(' at')} on {told[2]}, so it does not wait"
    on = f" on {job.where}" if job.where else ""
    since = f" since {spoken_time(job.elapsed)}" if job.elapsed else ""
    nodes = f" the nodes {job.where}" if job.where else ""
    return BEING[job.phase].format(on=on, nodes=nodes, since=since)


def by_state(job: QueuedJob) -> FoundReason | None:
    """What the state alone says, where no reason is printed."""
    state, types, beside = job.state.upper(), job.printed("Hold_Types"), ""
    if job.scheduler == "slurm" and state in ("RD", "RESV_DEL_HOLD"):
        return find_reason("slurm", "ReservationDeleted")
    if job.scheduler == "flux" and state in ("P", "PRIORITY"):
        return find_reason("flux", "priority-wait")
    if job.scheduler == "slurm":
        beside = "priority 0" if job.printed("Priority") == "0" and not job.reason else ""
    elif job.scheduler == "pbs" and job.depends and (job.printed("substate") == "22" or state == "H"):
        beside = "depends"
    elif job.scheduler == "pbs":
        beside = f"hold {types}" if types else "" if job.reason else "nothing"
    return sentence_reason("states", f"{job.scheduler} {state} {beside}")


LOOK = {
    "slurm": 'squeue -j <JOBID> -o "%i %T %r %S %l %D"',
    "pbs": 'qstat -f <JOBID> | grep -E "comment|job_state|Hold_Types|depend|estimated"',
    "lsf": "bjobs -l -p3 <JOBID>",
    "flux": "flux jobs <JOBID>",
}


def unknown(job: QueuedJob) -> FoundReason:
    """A job that waits, and nothing printed tells for what; or a text that is none of the scheduler's own words."""
    look = Step("paste what this prints", LOOK[job.scheduler])
    if not job.reason:
        return made("unknown", "wait", "depends", "it waits, and what is here does not tell for what", look)
    name = SCHEDULER_TITLES[job.scheduler]
    says = (
        f"it waits for `{job.reason}`, which is no reason of {name}'s own that is known here: most likely a text of "
        "this site (a plug-in, a submit filter or a hook), so only the site can say what it means and when it ends"
    )
    ask = Step("ask support with that wording and the job's id, or look for it on the site's pages")
    return made("unknown", "wait", "depends", says, ask, look)
