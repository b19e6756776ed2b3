"""From a job to its case: what holds it, or that it does not wait at all."""

from __future__ import annotations

import re

from graph.waiting.ended import ended_reason
from knowledge.schedulers.reason_types import ReasonRemedy, Starts, WaitKind, WaitReason
from knowledge.schedulers.reasons import FoundReason, find_reason
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import spoken_time
from knowledge.types import SCHEDULER_TITLES


def reason_of(job: QueuedJob) -> FoundReason:
    """What holds the job, by its state and by what its scheduler prints."""
    if job.phase == "ended":
        failed_request = find_reason(job.scheduler, job.reason) if job.scheduler == "flux" and job.reason else None
        return failed_request or ended_reason(job)
    if job.phase in ("running", "ending", "suspended") or (job.phase == "starting" and job.reason in ("", "None")):
        return made(job.state or job.phase, "not-waiting", "depends", BEING[job.phase](job))
    found = find_reason(job.scheduler, job.reason) if job.reason else None
    if found and found.reason.word not in ("None",):
        return found
    return by_state(job) or found or unknown(job)


def made(
    word: str, kind: WaitKind, starts: Starts, says: str, *do: ReasonRemedy, look: tuple[str, ...] = (), of: str = ""
) -> FoundReason:
    return FoundReason(WaitReason(word=word, kind=kind, starts=starts, says=says, do=do, look=look, of=of), {})


def on_nodes(job: QueuedJob) -> str:
    return f" on {job.where}" if job.where else ""


def since(job: QueuedJob) -> str:
    return f" since {spoken_time(job.elapsed)}" if job.elapsed else ""


def running(job: QueuedJob) -> str:
    told = re.search(r"Job run at (.*?) on \((.*?)\)", job.reason)
    if told:
        return f"it is running since {told[1].removesuffix(' at')} on {told[2]}, so it does not wait"
    return f"it is running{since(job)}{on_nodes(job)}, so it does not wait"


def starting(job: QueuedJob) -> str:
    return (
        f"it has its nodes{on_nodes(job)} and is being set up{since(job)}: nodes are booted or made ready; 10 to 15 "
        "minutes are normal where nodes are switched on for a job"
    )


def ending(job: QueuedJob) -> str:
    return (
        f"the job is over, and its nodes{on_nodes(job)} are being cleaned; if that lasts long, a process hangs there: "
        "tell support"
    )


def suspended(job: QueuedJob) -> str:
    return (
        f"it had started and is suspended{on_nodes(job)}: put aside by the scheduler or by staff, and it goes on where "
        "it was when it is resumed"
    )


BEING = {"running": running, "starting": starting, "ending": ending, "suspended": suspended}


def by_state(job: QueuedJob) -> FoundReason | None:
    """What the state alone says, where no reason is printed."""
    readers = {"pbs": pbs_state, "lsf": lsf_state, "flux": flux_state, "slurm": slurm_state}
    return readers[job.scheduler](job)


def slurm_state(job: QueuedJob) -> FoundReason | None:
    state = job.state.upper()
    if state in ("RH", "REQUEUE_HOLD", "SE", "SPECIAL_EXIT"):
        says = "it was put back into the queue and is held"
        return made(
            "JobHeldUser",
            "hold",
            "no",
            says,
            ReasonRemedy(text="read why it ended, then release it", command="scontrol release <JOBID>"),
        )
    if state in ("RD", "RESV_DEL_HOLD"):
        return find_reason("slurm", "ReservationDeleted")
    if job.printed("Priority") == "0" and not job.reason:
        says = "its priority is 0, which means that it is held"
        return made(
            "held",
            "hold",
            "no",
            says,
            ReasonRemedy(text="release it, if the hold is yours", command="scontrol release <JOBID>"),
        )
    return None


def pbs_state(job: QueuedJob) -> FoundReason | None:
    """Holds, dependencies and start times that PBS shows by attributes and not by a comment."""
    if job.depends and (job.printed("substate") == "22" or job.state == "H"):
        says = "it waits for another job (a system hold by its dependency, which is normal and goes away by itself)"
        drop = ReasonRemedy(
            text="nothing while that one waits or runs; to drop the dependency", command='qalter -W depend="" <JOBID>'
        )
        return made("dependency", "dependency", "depends", says, drop, look=("qstat -x <PARENTS>",))
    types = job.printed("Hold_Types")
    if job.state == "H" and not types and not job.reason:
        says = (
            "it is held: by you (`qhold`), by an operator, by the system after failed starts, or by a dependency, "
            "which goes away by itself; what is here does not tell which"
        )
        free = ReasonRemedy(text="if Hold_Types is u: release it; o and s are for staff", command="qrls <JOBID>")
        look = ('qstat -f <JOBID> | grep -E "Hold_Types|depend|comment"',)
        return made("held", "hold", "depends", says, free, look=look)
    if job.state == "H":
        staff = "o" in types or "s" in types
        free = ReasonRemedy(text="release it", command="qrls <JOBID>")
        ask = ReasonRemedy(text="such a hold is for staff to release: write to support with the job id")
        return made(
            "held",
            "hold",
            "no",
            "it is held",
            ask if staff else free,
            look=() if types else ('qstat -f <JOBID> | grep -E "Hold_Types|comment"',),
        )
    if job.state == "W":
        return made(
            "start time",
            "wait",
            "yes",
            (
                "it waits for its own start time (`-a`), or its files "
                "could not be copied in (tried again after 30 minutes)"
            ),
            ReasonRemedy(text="if the start time was a mistake", command="qalter -a $(date +%Y%m%d%H%M) <JOBID>"),
            look=('qstat -f <JOBID> | grep -E "Execution_Time|comment"',),
        )
    if job.state == "T":
        return made("transit", "wait", "yes", "it is being moved between queues or servers")
    return None


def lsf_state(job: QueuedJob) -> FoundReason | None:
    if job.state == "PSUSP":
        says = "it was suspended while it waited, by you (`bstop`) or by staff: what is here does not tell which"
        yours = ReasonRemedy(
            text="if it was you: resume it; where that is refused staff hold it", command="bresume <JOBID>"
        )
        return made("suspended", "hold", "no", says, yours, look=("bjobs -p3 <JOBID>",))
    return None


def flux_state(job: QueuedJob) -> FoundReason | None:
    state = job.state.upper()
    if state in ("P", "PRIORITY"):
        return find_reason("flux", "priority-wait")
    if state in ("S", "SCHED"):
        return made(
            "sched",
            "wait",
            "yes",
            "it waits for nodes: jobs before it, or nodes in use (or its queue is stopped)",
            ReasonRemedy(
                text="a shorter time may start sooner; it is changed in place, so it keeps its turn",
                command="flux update <JOBID> duration=<SHORTER>",
            ),
            look=("flux queue status", "flux resource list"),
            of="node",
        )
    return None


LOOK = {
    "slurm": 'squeue -j <JOBID> -o "%i %T %r %S %l %D"',
    "pbs": 'qstat -f <JOBID> | grep -E "comment|job_state|Hold_Types|depend|estimated"',
    "lsf": "bjobs -l -p3 <JOBID>",
    "flux": "flux jobs <JOBID>",
}


def unknown(job: QueuedJob) -> FoundReason:
    """A job that waits, and nothing printed tells for what; or a text that is none of the scheduler's own words."""
    look = ReasonRemedy(text="paste what this prints", command=LOOK[job.scheduler])
    if not job.reason:
        return made("unknown", "wait", "depends", "it waits, and what is here does not tell for what", look)
    name = SCHEDULER_TITLES[job.scheduler]
    says = (
        f"it waits for `{job.reason}`, which is no reason of {name}'s own that is known here: most likely a text of "
        "this site (a plug-in, a submit filter or a hook), so only the site can say what it means and when it ends"
    )
    ask = ReasonRemedy(text="ask support with that wording and the job's id, or look for it on the site's pages")
    return made("unknown", "wait", "depends", says, ask, look)
