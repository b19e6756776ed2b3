"""Questions about a job of one's own: why it waits, whether it is still well, why it failed, and wishes to cancel it.

Where this computer has a scheduler it is asked, and what it says is the answer; else the one command to run is named.
Nothing is ever cancelled or changed here.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

from graph.conversation.turn import Turn
from graph.state import State
from graph.usecases.explain_pending import explain_pending
from graph.usecases.explain_waiting_here import explain_waiting_here
from graph.watching.run_watch import RunWatch
from graph.watching.tail import FileTail
from knowledge.schedulers.asking import scheduler_here
from knowledge.schedulers.live import Ask, Asked, accounted, one_job, own_queue, script_of
from knowledge.schedulers.output_files import output_files
from knowledge.schedulers.records import QueuedJob, Scheduler
from knowledge.schedulers.times import spoken_time
from knowledge.types import Paste, Say

ID = r"(?P<{}>\d+(?:_\d+)?|[ƒf][1-9A-HJ-NP-Za-km-z]{{6,}})"
# Which job: by id, or one's own. Words about jobs in general ("how do I cancel a job?") name none.
NAMED = re.compile(
    rf"(?i)\bjob(?:id)?\s*(?:id\s*|nr\.?\s*|number\s*|#\s*)?{ID.format('job')}\b|"
    r"(?<![\w.:/-])(?P<long>\d{4,})(?![\w.:/-])"
)
OWN = re.compile(r"(?i)\bmy (?:\w+ )?jobs?\b|\bmine\b")
IT = re.compile(r"(?i)\b(?:it|that|this one|the job)\b")
WAITS = re.compile(
    r"(?i)\bwhy\b.*\b(?:pending|wait\w*|queued|in the queue|stuck|PD|held|(?:not|n'?t) (?:it )?(?:start|run)\w*)\b|"
    r"\bwhen (?:will|does|is) .*\b(?:start|run|begin)\w*"
)
RUNS = re.compile(
    rf"(?i)^\W*(?:and )?(?:is|are|does|how is) (?:my |the )?(?:job )?(?:{ID.format('run')}|it|that|job)\b.*"
    r"\b(?:running|runs?|going|alive|fine|ok(?:ay)?|well|healthy|hanging|stuck|progress\w*|doing)\b"
)
FAILED = re.compile(r"(?i)\bwhy (?:did|has|was) .*\b(?:fail\w*|die\w*|crash\w*|end\w*|stop\w*|kill\w*|cancel\w*)\b")
CANCEL = re.compile(
    rf"(?i)^\W*(?:ok,? |please |then |can you |could you )*(?:s?cancel|kill|abort|qdel|bkill|stop|delete|remove|end) "
    rf"(?:it|that|this one|(?:the|that|this|my) jobs?|(?:my |the )?job {ID.format('kill')}|{ID.format('bare')})\b"
    # The word stands alone: `cancel that line` is an edit.
    r"(?=\W*$|\s*[,.;:!?]|\s+(?:please|pls|now|then|and|or|again|for me|right"
    r"|immediately|asap|if|before|because|since|as)\b)"
)
END = {"slurm": "scancel {job}", "pbs": "qdel {job}", "lsf": "bkill {job}", "flux": "flux cancel {job}"}
PRINTS = {
    "slurm": "scontrol show job {job}",
    "pbs": "qstat -f {job}",
    "lsf": "bjobs -l {job}",
    "flux": "flux jobs {job}",
}
SILENT = 60.0


def by_job(turn: Turn) -> State | None:
    """A question about one's own job, answered by the scheduler that is here."""
    if turn.message.logs or turn.message.scripts or turn.message.outputs:
        return None
    words = turn.words
    answer = next((make for shape, make in ASKED if shape.search(words)), None)
    named = job_named(words)
    if answer is None or not (named or OWN.search(words) or (IT.search(words) and turn.state.get("job"))):
        return None
    job = named or ("" if OWN.search(words) else turn.state.get("job", ""))
    ask = turn.context.asking() if turn.context.asking else None
    scheduler = scheduler_here() if ask else None
    if ask is None or scheduler is None:
        return told_to_run(turn, job, answer is cancel) if job else None
    asked = one_job(scheduler, job, ask) if job else own_queue(scheduler, ask)
    if not asked.jobs:
        return not_found(scheduler, job, asked, answer is cancel)
    return State(
        **{
            **answer(turn, scheduler, asked, ask),
            "job": job or (askable(asked.jobs[0]) if len(asked.jobs) == 1 else ""),
        }
    )


def job_named(words: str) -> str:
    found = NAMED.search(words) or RUNS.search(words) or CANCEL.search(words)
    return next((text for text in found.groupdict().values() if text), "") if found else ""


def told_to_run(turn: Turn, job: str, end: bool) -> State:
    """The one command whose output tells it, or that ends it, where nobody can be asked here."""
    cluster = turn.context.cluster(turn.request)
    scheduler = cluster.scheduler if cluster and cluster.scheduler in END else "slurm"
    if end:
        says = f"I cancel nothing myself. On the login node: `{END[scheduler].format(job=job)}`"
        return State(said=(Say(f"{says}; what it has written stays."),), act="ask", job=job)
    look = PRINTS[scheduler].format(job=job)
    says = (
        f"There is no scheduler here that I could ask of job {job}. On the login node `maple-chat pending {job}` (it "
        f"waits), `maple-chat watch {job}` (it runs) or `maple-chat why {job}` (it failed); or paste here what "
        f"`{look}` prints."
    )
    return State(said=(Say(says),), act="pending", job=job)


def not_found(scheduler: Scheduler, job: str, asked: Asked, end: bool) -> State:
    """No such job, or nobody answered: that is not the same."""
    if asked.failures:
        says = f"{asked.failures[0].says}. That says nothing of the job; try again later."
        if end and job:
            says += f" What ends it once the scheduler answers: `{END[scheduler].format(job=job)}`."
    elif job:
        says = f"The scheduler here knows no job {job}: mistyped, somebody else's that is hidden from you, or purged."
    else:
        says = "No job of yours waits or runs here (the scheduler was asked)."
    past = {"slurm": "sacct -X -S now-7days", "pbs": "qstat -x", "lsf": "bhist -a", "flux": "flux jobs -a"}[scheduler]
    return State(said=(Say(f"{says} `{past}` lists those that have ended."),), act="pending")


def waiting(turn: Turn, scheduler: Scheduler, asked: Asked, ask: Ask) -> State:
    """What holds it, with what stands beside it."""
    found = explain_waiting_here(asked, ask)
    told = found.answer.document
    silent = Say(f"Not everything could be read: {'; '.join(one.says for one in found.failures[:3])}.")
    return State(said=(told, silent) if found.failures else (told,), act="pending", output=found.text)


def well(turn: Turn, scheduler: Scheduler, asked: Asked, ask: Ask) -> State:
    """Its state, and how far its own output says that it is."""
    running = [job for job in asked.jobs if job.phase == "running"]
    if not running:
        return waiting(turn, scheduler, asked, ask)
    told = [explain_pending(asked.text).document]
    return State(said=(*told, *(Say(going(job, ask)) for job in running[:3])), act="pending", output=asked.text)


def going(job: QueuedJob, ask: Ask) -> str:
    """Step, loss and how long ago it wrote, from the end of its output."""
    files = output_files(job, script_of(job.scheduler, job.id, ask, told=job))
    follow = f"`maple-chat watch {job.id}` on the login node follows it and tells the first sign of trouble."
    if not files:
        return f"Its output file is not to be found from here. {follow}"
    run = RunWatch()
    notices = run.feed([line for path in files for line in FileTail(path).read()], time.monotonic())
    age = max(0.0, time.time() - max(path.stat().st_mtime for path in files))
    last = "just now" if age < 1 else f"{spoken_time(age)} ago"
    quiet = " It says nothing for a while: it may hang, or print seldom." if age > SILENT else ""
    trouble = "".join(f" **{notice.text}**" for notice in notices)
    return f"{files[0].name}: {run.line(time.monotonic())}; last written {last}.{quiet}{trouble} {follow}"


def failing(turn: Turn, scheduler: Scheduler, asked: Asked, ask: Ask) -> State:
    """The record and, from its output files, the cause; a job that has not ended is told as what it is."""
    job = asked.jobs[0]
    if job.phase not in ("ended", "ending"):
        return well(turn, scheduler, asked, ask)
    if scheduler == "slurm":
        more = accounted(job.id, ask)
        asked = Asked(f"{asked.text}\n\n{more.text}", asked.failures, (*asked.outputs, *more.outputs))
    told = explain_pending(asked.text).document
    files = output_files(job, script_of(scheduler, job.id, ask, told=job))
    if not files:
        return State(said=(told,), act="diagnose", output=asked.text)
    logs = tuple(Paste(path.name, path=str(Path(path).absolute())) for path in files)
    return State(said=(told,), way="diagnose", act="job", logs=logs, request=turn.request, since=turn.words)


def cancel(turn: Turn, scheduler: Scheduler, asked: Asked, ask: Ask) -> State:
    """Which job it is and the command that ends it: that is for the person to run."""
    jobs = [job for job in asked.jobs if job.phase not in ("ended", "ending")]
    if not jobs:
        return State(said=(explain_pending(asked.text).document,), act="ask")
    lines = [f"`{ending(scheduler, job)}` ends {what_it_is(job)}" for job in jobs[:MOST_TOLD]]
    lines += [f"{len(jobs) - MOST_TOLD} more jobs are yours: name the one"] if len(jobs) > MOST_TOLD else []
    says = "I cancel nothing myself: that is yours to run. " + "; ".join(lines)
    return State(said=(Say(f"{says}. What it has written stays; it cannot be brought back."),), act="ask")


MOST_TOLD = 5


def ending(scheduler: Scheduler, job: QueuedJob) -> str:
    """The command that ends this job and no other; of an array's waiting tasks those alone."""
    if scheduler == "slurm" and "[" in job.id:
        return f"scancel --state=PENDING {askable(job)}"
    return END[scheduler].format(job=job.id)


def askable(job: QueuedJob) -> str:
    """An id that the scheduler's commands take: of tasks that wait together (`12_[3-9%2]`) the array's."""
    return job.id.partition("_[")[0] if job.scheduler == "slurm" else job.id


def what_it_is(job: QueuedJob) -> str:
    """`job 12 (sft), which is running since 5 min on g01`."""
    since = f" since {spoken_time(job.elapsed)}" if job.elapsed else ""
    where = f" on {job.where}" if job.where and job.phase == "running" else ""
    return f"job {job.id}{f' ({job.name})' if job.name else ''}, which is {job.phase}{since}{where}"


ASKED = ((CANCEL, cancel), (FAILED, failing), (WAITS, waiting), (RUNS, well))
