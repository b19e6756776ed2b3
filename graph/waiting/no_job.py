"""Messages in which no job stands: refusals, tables of nodes or priorities, an empty queue, or words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.waiting.asked_in_words import IDLE
from graph.waiting.case import WaitCase
from graph.waiting.evidence import good_answers
from graph.waiting.nodes_seen import OUT, count
from graph.waiting.own_fields import number
from graph.waiting.spoken import listed
from graph.waiting.verdict import made, reason_of
from graph.waiting.words import tables
from knowledge.cluster import Cluster
from knowledge.document import Step
from knowledge.schedulers.command_lines import prompted
from knowledge.schedulers.outputs import PHASES
from knowledge.schedulers.reasons import FoundReason, message_reason, slurm_reason, spoken_reason
from knowledge.schedulers.records import QueuedJob, Scheduler, SchedulerOutput
from knowledge.schedulers.times import printed_seconds, spoken_time
from knowledge.types import SCHEDULER_TITLES, SCHEDULERS


def told_without_job(
    outputs: Sequence[SchedulerOutput], words: str, text: str, machine: Cluster | None, others: Sequence[QueuedJob] = ()
) -> WaitCase:
    """What such a message says: the first of refusal, priorities, an empty queue, nodes, a reason named in words."""
    scheduler = outputs[0].scheduler if outputs else scheduler_of(machine, words)
    job = QueuedJob(scheduler, id=spoken_id(text, words))
    spoken, printed = spoken_reason(words), refused(outputs)
    found = (
        (None if spoken and printed and printed.reason.word == "refused" else printed)  # nothing is known of that line
        or priorities(outputs)
        or spoken
        or spoken_state(words, scheduler)
        or empty_queue(outputs, text, words)
        or nodes_out(outputs)
        or nodes_shown(outputs, bool(IDLE.search(words)))
        or queues_shown(outputs)
        or nothing_told(scheduler, bool(outputs) or is_named(machine, words))
    )
    if found is spoken and spoken and spoken.scheduler and not outputs:
        job = replace(job, scheduler=spoken.scheduler)
    if outputs and outputs[0].command == "sprio" and outputs[0].rows:
        rows = sorted(map(dict, outputs[0].rows), key=lambda row: number(row.get("PRIORITY", "")), reverse=True)
        ids = [row.get("JOBID", "") for row in rows]
        said = " ".join(line for line in words.splitlines() if not prompted(line))
        job = replace(job, id=next((one for one in ids if one and one in said), ids[0] or job.id))
    if found.reason.kind == "client-error" and found.reason.word not in ("unknown job", "refused"):
        # What was refused has no number: some other one stands there. Its queue stands in the command.
        queue = re.search(r"\s(?:-p|--partition|-q)[= ]*([A-Za-z][\w.-]*)", text) or re.search(
            r"\b(?:queue|partition)[ =]([a-z][\w-]*)(?=,|\n|$)", words
        )
        job = replace(job, id="", queue=queue[1] if queue else "")
    shown = [dict(row) for one in outputs if one.command == "scontrol show partition" for row in one.rows]
    if not job.queue and len(shown) == 1 and found.reason.kind not in ("no-job", "client-error"):
        job = replace(job, queue=shown[0].get("PartitionName", ""))
    return WaitCase(job, found, tuple(others), tuple(outputs), words, text, machine)


def is_named(machine: Cluster | None, words: str) -> bool:
    """Whether the machine or the words tell the scheduler."""
    return bool(machine) or any(re.search(command, words) for command in NAMES.values())


def scheduler_of(machine: Cluster | None, words: str) -> Scheduler:
    """The machine's scheduler, where it is one that is read here; else the one whose command the words name."""
    for name in SCHEDULERS:
        if machine and machine.scheduler == name:
            return name
    return next((name for name, command in NAMES.items() if re.search(command, words)), "slurm")


NAMES: Mapping[Scheduler, str] = tables()["names"]
STATE_WORDS: Mapping[str, Scheduler] = tables()["state_words"]
BEHIND = re.compile(r"(?i:\b(?:state|status|stuck in|stays in|shown as|says|column S)\b:?) +[`'\"(]?([A-Z]{1,2})\b")


def spoken_state(words: str, scheduler: Scheduler) -> FoundReason | None:
    """A state named in a sentence: `my job is stuck in CG`, `status PSUSP`."""
    named = next(((word, STATE_WORDS[word]) for word in re.findall(r"[A-Z_]{2,}", words) if word in STATE_WORDS), None)
    if named is None and (found := BEHIND.search(words)):
        named = (found[1], scheduler)
    if named is None:
        return None
    phase = PHASES[named[1]](named[0])
    job = QueuedJob(named[1], state=named[0], phase=phase)
    return (
        None if phase == "unknown" or named[0] in ("PD", "Q", "PEND") else replace(reason_of(job), scheduler=named[1])
    )


YEAR = re.compile(r"\b(?:[A-Z][a-z]{2} +\d{1,2} +(?:\d\d:\d\d(?::\d\d)? +)?(?:[A-Z]{3,4} +)?)20\d\d\b")


# Seconds since 1970 of these years: a moment, and no job.
EPOCH = re.compile(r"(?<!\d)1[6-9]\d{8}(?:\.\d+)?(?!\d)")


def spoken_id(text: str, words: str) -> str:
    """The id that the words or a command line name: `job 15502`, `squeue -j 771203`.

    A number alone counts only in the words: one that a scheduler printed may be minutes, or another's job.
    """
    text, words = (EPOCH.sub(" ", YEAR.sub(" ", one)) for one in (text, words))
    if flux := re.search(
        r"(?<![\w.])(?:ƒ|f(?=\w*\d))[1-9A-HJ-NP-Za-km-z]{4,12}(?!\w)(?= +[DPSRCI]\b|[^\n]*depend)", text
    ):
        return flux[0]
    found = re.search(
        r"(?i)\bjob ?(?:id|nr|number|no\.?)?[\s:#=-]*(\d{2,}(?:_\d+)?|\d(?=[)\s?!,.]*(?:\n|$)))", text
    ) or re.search(r"(?:-j|--job|-p|job|qstat|bjobs|Job Id|Job I[dD])[= ]+<?(\d{2,}(?:_\d+)?)", text)
    return (
        found[1]
        if found
        else (
            alone[1]
            if (alone := re.search(r"(?<![\w.:/=-])(?<!-[A-Za-z] )(\d{4,}(?:_\d+)?)(?![\w:.-])", words))
            else ""
        )
    )


def refused(outputs: Sequence[SchedulerOutput]) -> FoundReason | None:
    """What a command said; of several lines the one that says most (the catch-all last)."""
    found = [
        reason
        for output in outputs
        if output.kind == "refusal" and (reason := message_reason(output.scheduler, output.message))
    ]
    exact = [reason for reason in found if reason.reason.word != "refused"]
    # What came after the job was queued says more.
    accepted = [reason.named["job"] for reason in exact if reason.reason.word == "submitted"]
    exact = [reason for reason in exact if reason.reason.word not in ("queued", "submitted")] or exact
    told = next(iter(exact or found), None)
    if told and accepted and told.reason.kind == "client-error":
        others = f"{told.reason.says}. What was accepted before ({listed(accepted)}) is not touched by that"
        return replace(told, reason=replace(told.reason, says=others))
    return told


def priorities(outputs: Sequence[SchedulerOutput]) -> FoundReason | None:
    """sprio or sshare alone: the job waits its turn by priority, and is not blocked."""
    if not any(output.command in ("sprio", "sshare") and output.rows for output in outputs):
        return None
    found = slurm_reason("Priority")
    assert found is not None
    says = "it waits its turn by priority, and is not blocked"
    less = Step(
        "a shorter or smaller job may fit a gap before its turn "
        "(backfill); using less for some days lets the share recover"
    )
    return replace(found, reason=replace(found.reason, says=says, do=(less,)))


def empty_queue(outputs: Sequence[SchedulerOutput], text: str, words: str) -> FoundReason | None:
    """A header without a row: nothing of that user (or id) waits or runs."""
    if not any(output.kind == "jobs" and not output.jobs for output in outputs):
        return None
    user = re.search(r"(?:-u|--user)[= ]*([\w.-]+)", text)
    whose = f"of {user[1]} " if user and user[1] not in ("USER", "$USER") else ""
    name = user[1] if whose and user else "$USER"
    asked = spoken_id(text, words)
    gone = f"{FORGETS[outputs[0].scheduler]}" if asked else "it ended, was cancelled, or was never accepted"
    says = f"no job {whose}waits or runs now: the list is empty; {gone}"
    past = {
        "slurm": f"sacct -X {'-j <JOBID>' if asked else f'-u {name} -S now-2days'} "
        "-o JobID,JobName,State,ExitCode,Start,End,Reason",
        "pbs": "qstat -xf <JOBID>" if asked else f"qstat -xu {name}",
        "lsf": f"bjobs -a{' <JOBID>' if asked else ''}",
        "flux": f"flux jobs -a{' <JOBID>' if asked else ''}",
    }[outputs[0].scheduler]
    return made("none", "no-job", "depends", says, Step("how it ended is shown by", past))


# https://slurm.schedmd.com/slurm.conf.html (MinJobAge, 300 s), `qstat -x`, CLEAN_PERIOD of LSF (an hour), `flux jobs`.
FORGETS: Mapping[Scheduler, str] = {
    "slurm": "it most likely ended or was cancelled, and squeue drops such jobs after some minutes",
    "pbs": "it most likely ended or was deleted, and qstat shows such jobs only with -x",
    "lsf": "it most likely ended or was killed, and bjobs shows such jobs only with -a (an hour by default)",
    "flux": "it most likely ended or was cancelled, and flux jobs shows such jobs only with -a",
}


def nodes_out(outputs: Sequence[SchedulerOutput]) -> FoundReason | None:
    """sinfo -R: nodes that are out, and why."""
    rows = [dict(row) for output in outputs if output.command == "sinfo" for row in output.rows]
    if not rows or "REASON" not in rows[0] or "STATE" in rows[0]:
        return None
    out = listed([f"{row.get('NODELIST')} ({row['REASON']})" for row in rows])
    says = f"these nodes are out: {out}; staff bring them back. This says nothing of a job yet"
    return made("none", "no-job", "depends", says, Step("paste what this prints", ASK["slurm"]))


def nodes_shown(outputs: Sequence[SchedulerOutput], asked: bool) -> FoundReason | None:
    """sinfo alone: what is free, as a yes or no where that was `asked`; it says nothing of a job."""
    rows = [dict(row) for output in outputs if output.command == "sinfo" for row in output.rows]
    if not rows:
        return None
    totals: dict[str, int] = {}
    for row in rows:
        if "NODES(A/I/O/T)" in row:
            used, idle, out, _ = (count(part) for part in [*row["NODES(A/I/O/T)"].split("/"), "", "", ""][:4])
            for name, many in (("in use", used), ("idle", idle), ("out", out)):
                totals[name] = totals.get(name, 0) + many
            continue
        name = node_word(row.get("STATE", ""))
        totals[name] = totals.get(name, 0) + count(row.get("NODES", ""))
    told = listed([f"{many} {name}" for name, many in totals.items() if many], 9)
    free = totals.get("idle", 0)
    partly = totals.get("partly in use", 0)
    begin = "no: no node is idle"
    if free:
        begin = f"yes: {free} nodes are idle{idle_where(rows)}"
    elif partly:
        begin = "partly: no node is wholly free"
    begin = begin if asked else begin.partition(": ")[2]
    says = (
        f"{begin} ({told or 'nothing is listed'}). This says nothing of a job yet: its line of "
        "squeue or its id is needed"
    )
    return made("none", "no-job", "depends", says, Step("paste what this prints", ASK["slurm"]))


def idle_where(rows: Sequence[Mapping[str, str]]) -> str:
    """The partitions in which they are, where several are shown: ` (8 in dev, up to 4 h)`."""
    if len({row.get("PARTITION") for row in rows}) < 2:
        return ""
    idle: dict[str, int] = {}
    for row in rows:
        parts = row.get("NODES(A/I/O/T)", "").split("/")
        many = (
            count(parts[1])
            if len(parts) > 1
            else count(row.get("NODES", "")) * (node_word(row.get("STATE", "")) == "idle")
        )
        most = spoken_time(limit) if (limit := printed_seconds(row.get("TIMELIMIT", ""))) else "no limit told"
        name = f"in {row.get('PARTITION', '').rstrip('*')} (up to {most})"
        idle[name] = idle.get(name, 0) + many
    return ", " + listed([f"{many} {name}" for name, many in idle.items() if many])


def node_word(state: str) -> str:
    bare = state.lower().rstrip("*~#!%$@^-+")
    if bare.startswith("drain"):
        return "drained"
    if bare.startswith(OUT):
        return "down or out"
    return {
        "idle": "idle",
        "alloc": "in use",
        "allocated": "in use",
        "mix": "partly in use",
        "mixed": "partly in use",
        "resv": "reserved",
        "comp": "ending",
        "plnd": "kept for a planned job",
    }.get(bare, bare)


def queues_shown(outputs: Sequence[SchedulerOutput]) -> FoundReason | None:
    """Partitions, queues or reservations alone."""
    shown = next((output.command for output in outputs if output.rows), "")
    if not shown:
        return None
    look = Step("paste what this prints", ASK[outputs[0].scheduler])
    return made("none", "no-job", "depends", f"this is what `{shown}` prints; it speaks of no job yet", look)


ASK: Mapping[Scheduler, str] = tables()["ask"]


def nothing_told(scheduler: Scheduler, known: bool) -> FoundReason:
    """Words alone, with no reason in them: the one command whose output tells it; where none is named, each one's."""
    says = "why a job waits stands in what its scheduler prints, and none of that is here yet"
    if not known:
        says += ". Which scheduler is it? The one of these commands that your login node has tells it"
        each = [f"{SCHEDULER_TITLES[name]}: run this, and paste what it prints" for name in SCHEDULERS]
        do = (Step(text, ASK[name]) for text, name in zip(each, SCHEDULERS, strict=True))
        return made("none", "no-job", "depends", says, *do)
    ask = Step("on the login node run this, and paste what it prints", ASK[scheduler])
    estimate = good_answers().commands["estimate"][scheduler]
    planned = Step("when it is planned to start (an estimate, empty where none is made)", estimate)
    return made("none", "no-job", "depends", says, ask, planned)
