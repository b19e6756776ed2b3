"""Questions about a job of one's own: why it waits, whether it is still well, why it failed, and wishes to cancel it.

Where this computer has a scheduler it is asked, and what it says is the answer; else the one command to run is named.
Nothing is ever cancelled or changed here.
"""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from graph.conversation.turn import RATHER, TurnContext
from graph.state import State
from knowledge.schedulers.asking import CouldNotAsk, scheduler_here
from knowledge.schedulers.records import QueuedJob, Scheduler
from knowledge.schedulers.times import spoken_time
from knowledge.types import Paste, Say

if TYPE_CHECKING:
    from knowledge.schedulers.live import Ask, LiveOutput

# An id of Flux typed in ASCII begins with an f like any word: the digit tells it.
ID = r"(?P<{}>\d+(?:_\d+)?|(?-i:ƒ|f(?=[A-Za-z]*\d))(?-i:[1-9A-HJ-NP-Za-km-z]{{6,}}))"
# Which job: by id, or one's own. Words about jobs in general ("how do I cancel a job?") name none.
NAMED = re.compile(
    rf"(?i)\bjob(?:id)?\s*(?:id\s*|nr\.?\s*|number\s*|#\s*)?{ID.format('job')}\b|"
    rf"\bwhy (?:did|has|was|is) {ID.format('why')} (?:fail|die|crash|end|stop|kill|cancel|pend|wait|held|queue|stuck)|"
    r"(?<![\w.:/-])(?<!step )(?<!epoch )(?<!steps )(?<!iter )(?<!iteration )(?<!line )(?<!port )(?<!batch )(?<!seed )"
    r"(?<!after )(?<!instead of )(?<!von )(?<!from )(?<!to )(?P<long>\d{4,})(?![\w.:/-])"
)
OF_JOB = re.compile(r"(?i)\bjobs?\b")
OWN = re.compile(r"(?i)\bmy (?:\w+ )?jobs?\b|\bmine\b")
# What is to end stands alone: before a noun ("cancel that line") it is an article, and the noun is what is meant.
ALONE = (
    r"(?=\W*$|\s*[,;.:!?]|\s+(?:again|and|as|asap|at|because|before|for me|if|immediately|now|on|or|please|pls|right|"
    r"since|then|too|when)\b)"
)
SUBJECT = re.compile(r"(?i)\b(?:it|that|this one|the job)\b")
WAITS = re.compile(
    r"(?i)\bwhy\b.*(?:\b(?:pending|wait\w*|queued|in the queue|stuck|PD|held|not (?:it )?(?:start|run)\w*)\b|"
    r"n'?t (?:(?:it|my job|the job|job \S+) )?(?:start|run|begin)\w*\b)|"
    r"\bwhen (?:will|does|is) .*\b(?:start|run|begin)\w*(?! out)\b|"
    r"\b(?:what|who)(?:'s)?(?: \w+){0,2} (?:hold|block|keep)(?:s|ing)\b"
)
# Of a pronoun the whole sentence asks that and no more: "is it fine to use FSDP?" asks something else.
HOW = (
    r"(?:still |really |even |just |now )*(?:running|runs?|going|alive|fine|ok(?:ay)?|well|healthy|hanging|stuck|"
    r"working|progress\w*|doing|making progress)"
)
RUNS = re.compile(
    rf"(?i)^\W*(?:and |so |but )?(?:is|are|does|how is|how are|how does) (?:"
    rf"(?:(?:my |the )?(?:job )?{ID.format('run')}|my (?:\w+ )?jobs?)\b.*\b{HOW}\b|"
    rf"(?:it|that|this one|the job|th(?:is|at) job) {HOW}"
    r"(?: (?:well|fine|ok(?:ay)?|smoothly|normally|now|properly|or .*))*\W*$)|"
    rf"^\W*(?:and )?how far (?:along )?(?:is|are) "
    rf"(?:(?:my |the )?(?:job )?{ID.format('far')}|my (?:\w+ )?jobs?|it|th(?:e|is|at) job)\b"
)
FAILED = re.compile(r"(?i)\bwhy (?:did|has|was) .*\b(?:fail\w*|die\w*|crash\w*|end\w*|stop\w*|kill\w*|cancel\w*)\b")
CANCEL = re.compile(
    r"(?i)^\W*(?:ok,? |and |please |then |can you |could you |now )*"
    r"(?:s?cancel|kill|abort|qdel|bkill|stop|delete|remove|end) "
    rf"(?:it|th(?:is|at)(?: one)?|(?:the|this|that|my) jobs?|(?:my |the )?job {ID.format('kill')}|"
    rf"{ID.format('bare')}){ALONE}"
)
# What is asked of a job that is named, by the reading of the sentence; how something is done is no such question.
OF_A_JOB = ("job.start", "job.history", "job.exitcode", "job.efficiency")
HOW_TO = re.compile(r"(?i)\bhow (?:do|can|could|to|would|should|must)\b")
END = {"slurm": "scancel {job}", "pbs": "qdel {job}", "lsf": "bkill {job}", "flux": "flux cancel {job}"}
PRINTS = {
    "slurm": "scontrol show job {job}",
    "pbs": "qstat -f {job}",
    "lsf": "bjobs -l {job}",
    "flux": "flux jobs {job}",
}
# Of a job that has left the queue.
ENDED_PRINTS = {
    "slurm": "sacct -X -j {job} -o JobID,State,ExitCode,Elapsed,Timelimit",
    "pbs": "qstat -xf {job}",
    "lsf": "bhist -l {job}",
    "flux": "flux jobs -a {job}",
}
OWN_JOBS = {
    "slurm": "squeue -u $USER",
    "pbs": "qstat -was1 -u $USER",
    "lsf": "bjobs -p3",
    "flux": "flux jobs",
}
SILENT = 60.0
ENDED = ("ended", "ending")


def by_job(turn: TurnContext) -> State | None:
    """A question about one's own job, answered by the scheduler that is here."""
    if turn.message.logs or turn.message.scripts or turn.message.outputs or asks_other(turn):
        return None
    if turn.state.get("diagnosed") and turn.utterance.main.topic.startswith("log.") and not OF_JOB.search(turn.words):
        return None  # `now it dies at step 9000`
    words, before = turn.words, turn.state.get("job", "")
    answer = next((make for shape, make in ASKED if shape.search(words)), None)
    named = job_named(words)
    ask = turn.context.asking() if turn.context.asking else None
    scheduler = scheduler_here() if ask else None
    if answer is None and scheduler and (named or OWN.search(words)) and asks_of_a_job(turn, named):
        answer = well
    if answer is None or not (named or OWN.search(words) or (before and SUBJECT.search(words))):
        return None
    job = named or ("" if OWN.search(words) else before)
    if ask is None or scheduler is None:
        return told_to_run(turn, job, answer is cancel) if job or answer in (waiting, well) else None
    if not job and answer is failing:
        return last_failed(turn, scheduler, ask)
    from knowledge.schedulers.live import one_job, own_queue

    asked = one_job(scheduler, job, ask) if job else own_queue(scheduler, ask)
    if not asked.jobs:
        return not_found(scheduler, job, asked, answer is cancel)
    answer = failing if answer is well and job and asked.jobs[0].phase in ENDED else answer
    return State(
        **{
            **answer(turn, scheduler, asked, ask),
            "job": job or (askable(asked.jobs[0]) if len(asked.jobs) == 1 else ""),
        }
    )


def asks_other(turn: TurnContext) -> bool:
    """Whether a question is of something else than a job: `is 240 fine, or do I change the learning rate`."""
    main = turn.utterance.main
    of_job = main.topic.startswith(("job.", "log.")) or re.search(r"(?i)\bjobs?\b", turn.words)
    return bool(main.topic) and not of_job and main.confidence >= RATHER


def job_named(words: str) -> str:
    found = NAMED.search(words) or RUNS.search(words) or CANCEL.search(words)
    return next((text for text in found.groupdict().values() if text), "") if found else ""


def asks_of_a_job(turn: TurnContext, named: str) -> bool:
    """Whether the sentence, in no wording of the table, asks how the job is, why it waits, or what became of it."""
    main = turn.utterance.main
    wanted = turn.act == "pending" or (named and (main.act in ("pending", "diagnose") or main.topic in OF_A_JOB))
    return bool(wanted) and not HOW_TO.search(turn.words)


def last_failed(turn: TurnContext, scheduler: Scheduler, ask: Ask) -> State:
    """My last job that failed, as far as the scheduler remembers."""
    from graph.waiting.ended import failed_mine

    bad = failed_mine(scheduler, ask)
    if isinstance(bad, CouldNotAsk):
        from knowledge.schedulers.live import LiveOutput

        return not_found(scheduler, "", LiveOutput("", (bad,)), False)
    if not bad:
        return State(said=(Say("No ended job of yours that the scheduler still tells of failed."),), act="pending")
    from knowledge.schedulers.live import one_job

    asked = one_job(scheduler, bad[0].id, ask)
    told = failing(turn, scheduler, asked, ask) if asked.jobs else not_found(scheduler, bad[0].id, asked, False)
    return State(**{**told, "job": bad[0].id})


def told_to_run(turn: TurnContext, job: str, end: bool) -> State:
    """The one command whose output tells it, or that ends it, where nobody can be asked here."""
    cluster = turn.context.cluster(turn.request)
    scheduler = cluster.scheduler if cluster and cluster.scheduler in END else "slurm"
    if end:
        says = f"I cancel nothing myself. On the login node: `{END[scheduler].format(job=job)}`"
        return State(said=(Say(f"{says}; what it has written stays."),), act="ask", job=job)
    if not job:
        prints = [f"`{OWN_JOBS[scheduler]}`"] if cluster else [f"`{line}` ({name})" for name, line in OWN_JOBS.items()]
        says = (
            "There is no scheduler here that I could ask. On the login node `maple-chat pending` tells it of each of "
            f"your jobs; or paste here what this prints: {', '.join(prints)}."
        )
        return State(said=(Say(says),), act="pending")
    look = PRINTS[scheduler].format(job=job)
    says = (
        f"There is no scheduler here that I could ask of job {job}. On the login node `maple-chat pending {job}` (it "
        f"waits), `maple-chat watch {job}` (it runs) or `maple-chat why {job}` (it failed); or paste here what "
        f"`{look}` prints, or once it has left the queue `{ENDED_PRINTS[scheduler].format(job=job)}`."
    )
    return State(said=(Say(says),), act="pending", job=job)


def not_found(scheduler: Scheduler, job: str, asked: LiveOutput, end: bool) -> State:
    """No such job, or nobody answered: that is not the same."""
    if asked.failures:
        says = f"{asked.failures[0].says}. That says nothing of the job; try again later, where it was submitted."
        if end and job:
            says += f" What ends it once the scheduler answers: `{END[scheduler].format(job=job)}`."
        elif job:
            says += f" What tells its state, also after its end: `{ENDED_PRINTS[scheduler].format(job=job)}`."
    elif job:
        says = f"The scheduler here knows no job {job}: mistyped, somebody else's that is hidden from you, or purged."
    else:
        says = "No job of yours waits or runs here (the scheduler was asked)."
    past = {"slurm": "sacct -X -S now-7days", "pbs": "qstat -x", "lsf": "bhist -a", "flux": "flux jobs -a"}[scheduler]
    kept = job if asked.failures else ""
    return State(said=(Say(f"{says} `{past}` lists those that have ended."),), act="pending", job=kept)


def waiting(turn: TurnContext, scheduler: Scheduler, asked: LiveOutput, ask: Ask) -> State:
    """What holds it, with what stands beside it."""
    from graph.usecases.explain_waiting_here import explain_waiting_here

    found = explain_waiting_here(asked, ask)
    told = found.answer.document
    silent = Say(f"Not everything could be read: {'; '.join(one.says for one in found.failures[:3])}.")
    return State(said=(told, silent) if found.failures else (told,), act="pending", output=found.text)


def well(turn: TurnContext, scheduler: Scheduler, asked: LiveOutput, ask: Ask) -> State:
    """Its state, and how far its own output says that it is; of several jobs those that run."""
    running = [job for job in asked.jobs if job.phase == "running"]
    if not running:
        return waiting(turn, scheduler, asked, ask)
    waits = [job.id for job in asked.jobs if job.phase == "waiting"]
    told = [Say(f"**{job.id}**: {what_it_is(job)}. {going(job, ask)}") for job in running[:MOST_TOLD]]
    from graph.waiting.spoken import listed

    rest = [Say(f"Waiting: {listed(waits)}. `maple-chat pending` tells why.")] if waits else []
    return State(said=(*told, *rest), act="pending", output=asked.text)


def going(job: QueuedJob, ask: Ask) -> str:
    """Step, loss and how long ago it wrote, from the end of its output."""
    from knowledge.schedulers.live import script_of
    from knowledge.schedulers.output_files import output_files

    files = output_files(job, script_of(job.scheduler, job.id, ask, told=job))
    follow = f"`maple-chat watch {job.id}` on the login node follows it and tells the first sign of trouble."
    if not files:
        return f"Its output file is not to be found from here. {follow}"
    from graph.watching.run_watch import RunWatch

    run = RunWatch()
    from graph.watching.tail import FileTail

    notices = run.feed([line for path in files for line in FileTail(path).read()], time.monotonic())
    age = max(0.0, time.time() - max(path.stat().st_mtime for path in files))
    last = "just now" if age < 1 else f"{spoken_time(age)} ago"
    quiet = " It says nothing for a while: it may hang, or print seldom." if age > SILENT else ""
    trouble = "".join(f" **{notice.text}**" for notice in notices)
    return f"{files[0].name}: {run.line(time.monotonic())}; last written {last}.{quiet}{trouble} {follow}"


def failing(turn: TurnContext, scheduler: Scheduler, asked: LiveOutput, ask: Ask) -> State:
    """The record and, from its output files, the cause; a job that has not ended is told as what it is."""
    job = asked.jobs[0]
    if job.phase not in ENDED:
        return well(turn, scheduler, asked, ask)
    if scheduler == "slurm":
        from knowledge.schedulers.live import accounted

        more = accounted(job.id, ask)
        from knowledge.schedulers.live import LiveOutput

        asked = LiveOutput(f"{asked.text}\n\n{more.text}", asked.failures, (*asked.outputs, *more.outputs))
    from graph.usecases.explain_pending import explain_pending

    told = explain_pending(asked.text).document
    from knowledge.schedulers.live import script_of

    script = script_of(scheduler, job.id, ask, told=job)
    from knowledge.schedulers.output_files import output_files

    files = output_files(job, script)
    if not files:
        return State(said=(told,), act="diagnose", output=asked.text)
    logs = tuple(Paste(path.name, path=str(Path(path).absolute())) for path in files)
    found = State(said=(told,), way="diagnose", act="job", logs=logs, request=turn.request, since=turn.words)
    return State(**{**found, "own": Paste(f"{job.id}.sh", script)}) if script else found


def cancel(turn: TurnContext, scheduler: Scheduler, asked: LiveOutput, ask: Ask) -> State:
    """Which job it is and the command that ends it: that is for the person to run."""
    jobs = [job for job in asked.jobs if job.phase not in ENDED]
    if not jobs:
        from graph.usecases.explain_pending import explain_pending

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
