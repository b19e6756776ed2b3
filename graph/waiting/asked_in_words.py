"""What people ask or suppose beside a job, and the line that answers it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_sum import limit_sum
from graph.waiting.limits_said import each_said
from graph.waiting.limits_told import spoken_of
from graph.waiting.spoken import listed, moment_of, spoken_date, spoken_lines
from graph.waiting.windows_seen import ahead
from graph.waiting.words import tables
from knowledge.schedulers.reason_types import WaitKind
from knowledge.schedulers.reasons import find_reason
from knowledge.schedulers.times import spoken_time

BLOCKED: tuple[WaitKind, ...] = ("limit-request", "limit-budget", "dependency", "hold", "config")
IDLE, TROUBLE, LONG, NEXT, EMPTY, TERMINAL, INTERACTIVE, HOW_LONG = map(re.compile, tables()["beside"].values())


def answers(case: WaitCase) -> WaitingNote | None:
    """The lines for what the words ask; a table pasted beside them asks nothing."""
    said = spoken_lines(case.words)
    found = [one for one in tables()["asked"] if answers_it(one, case) and re.search(one["asks"], said)]
    told, facts = [one["says"] for one in found], [Fact(one["label"]) for one in found]
    if IDLE.search(said) and (idle := idle_nodes(case)):
        told.append(idle)
        facts += [Fact("free-no-help")] if idle == NO_HELP else []
    if HOW_LONG.search(said) and (unknown := when_is_open(case)):
        told.append(unknown)
        facts.append(Fact("when-open"))
    if TERMINAL.search(said) and case.job.phase == "waiting":
        label = "terminal-no" if INTERACTIVE.search(case.text) else "terminal-yes"
        told.append(CLOSED[label])
        facts.append(Fact(label))
    told += list(
        filter(
            None,
            (look(case) for look in (only_its_name, too_long, no_output_yet, others_end, its_own_time, its_letter)),
        )
    )
    whole = tuple(facts) if len(facts) == len(told) else ()
    return WaitingNote(" ".join(told), facts=whole) if told else None


def answers_it(one: Mapping[str, Any], case: WaitCase) -> bool:
    """Whether a row of the table speaks of such a reason."""
    reason = case.found.reason
    fits = one.get("of", reason.of) == reason.of and reason.starts in one.get("starts", (reason.starts,))
    fits = fits and reason.word in one.get("words", (reason.word,)) and one.get("reason", "") in case.job.reason
    # Where the parts of its priority are printed, they tell why.
    told = one.get("label") == "normal" and bool(case.rows("sprio"))
    return fits and reason.kind in one["kinds"] and not told


# What ends with its terminal: srun, salloc (https://slurm.schedmd.com/salloc.html), `qsub -I`, `bsub -I`, `flux run`.
CLOSED = {
    "terminal-no": "No, keep that terminal open: the request belongs to the command in it and ends with it. A batch "
    "job, or the same command inside tmux or screen, waits on without it.",
    "terminal-yes": "The terminal may be closed: a job that was handed in waits in the queue without it (only one of "
    "srun, salloc or another interactive command ends with its terminal).",
}


def when_is_open(case: WaitCase) -> str:
    """That nothing in the paste tells when it starts; empty where something does, or it is no question of time."""
    reason = case.found.reason
    if reason.kind not in ("wait", "limit-aggregate") or reason.starts != "yes" or reason.of == "time":
        return ""
    if moment_of(case.job.start) or "eta" in case.found.named or re.search(r"\d-\d\dT\d\d:\d", case.words):
        return ""
    reckoned = case.found.limit and case.found.limit.counts == "run-minutes" and each_said(case, spoken_of(case)[0])[0]
    return "" if reckoned or limit_sum(case).at_the_latest() else WHEN_OPEN


WHEN_OPEN = (
    "When that will be does not stand in what you pasted: running jobs have to end, at the latest at their time limits."
)
NO_HELP = "Free nodes do not help: they are not what it waits for."


def idle_nodes(case: WaitCase) -> str:
    """What free nodes mean for it: by what the reason is about, not by the words that asked."""
    reason = case.found.reason
    if reason.kind in ("limit-aggregate", *BLOCKED) or (reason.kind == "wait" and reason.of not in ("", "node")):
        return NO_HELP
    kept = reason.word in ("reservation", "dedicated-time")
    if (window := ahead(case)) and window[1] < 0 and (kept or reason.kind == "node"):
        return "Idle nodes are no sign of a fault: what goes on now keeps them."
    if kept or (reason.kind == "node" and reason.starts == "yes"):
        return "Idle nodes are no sign of a fault: the job has to fit on them until what keeps them begins."
    if reason.kind != "wait" or reason.of != "node" or case.rows("sinfo", "pbsnodes", "scontrol show node"):
        return ""
    return "Nodes that look idle may be kept for a job that stands before it, or lack what it asks for."


def only_its_name(case: WaitCase) -> str:
    """A job that runs or ends is called after a trouble: its name is taken for its state."""
    named = TROUBLE.search(case.job.name)
    if case.found.reason.kind != "not-waiting" or not named or named[0].lower() not in case.words.lower():
        return ""
    return f"`{case.job.name}` is only its name: nothing here shows such a trouble, and nobody holds it."


def too_long(case: WaitCase) -> str:
    """The end of a job that takes hours."""
    if case.job.phase != "ending" or not (said := LONG.search(case.words)):
        return ""
    where = f" on {case.job.where}" if case.job.where else " on a node"
    rest = (
        " Your next job waits for it only where it needs that node or depends on it." if NEXT.search(case.words) else ""
    )
    return (
        f"{said[0]} is too long for that (a minute or two is usual): as a rule a process hangs{where}, often in its "
        f"file system; scancel does not help, staff have to look at the node.{rest}"
    )


def no_output_yet(case: WaitCase) -> str:
    """A running job whose output is empty: how soon lines are to be expected."""
    if case.job.phase != "running" or not EMPTY.search(case.words):
        return ""
    soon = case.job.elapsed is not None and case.job.elapsed < SOON
    late = not soon and case.job.elapsed is not None
    begun = f"After {spoken_time(case.job.elapsed)} an" if soon and case.job.elapsed is not None else "An"
    normal = "is normal" if soon else "may still be normal"
    return (
        f"{begun} empty file {normal}: modules and data are being loaded, and Python keeps its lines back "
        "(`python -u` or PYTHONUNBUFFERED=1 lets them through at once)."
    ) + (hangs(case) if late else "")


def hangs(case: WaitCase) -> str:
    """How to tell a run that hangs from one that only keeps its lines back."""
    inside = {"slurm": f"`srun --jobid={case.job.id} --overlap -n 1 nvidia-smi` (or `top -bn1`)"}.get(
        case.job.scheduler
    )
    look = inside or f"`nvidia-smi` or `top`{f' on {case.job.where}' if case.job.where else ' on its node'}"
    return f" It may hang all the same: {look} shows whether it computes."


# Seconds in which loading a program and its data is nothing unusual.
SOON = 900.0


def reason_left_over(case: WaitCase) -> WaitingNote | None:
    """The reason that the accounting prints beside a job that is over, taken for one that holds it."""
    left = case.job.printed("Reason")
    if case.job.phase != "ended" or left in ("", "None") or case.job.scheduler != "slurm":
        return None
    if case.job.elapsed == 0 or (case.job.elapsed is None and case.job.state.startswith("CANC")):  # it never ran
        return None
    known = find_reason("slurm", left)
    meant = f" (then: {known.reason.says})" if known and known.reason.kind not in ("ended", "not-waiting") else ""
    return WaitingNote(
        f"{waited(case)}`{left}` holds nothing any more: that column keeps the last reason for which it waited before "
        f"it started{meant}."
    )


def waited(case: WaitCase) -> str:
    """How long it stood in the queue, where both ends of that are printed."""
    begun, start = moment_of(case.job.submitted or case.job.printed("Submit")), moment_of(case.job.start)
    if not begun or not start or start <= begun:
        return ""
    long = spoken_time((start - begun).total_seconds())
    return f"It waited {long}, until {spoken_date(start.isoformat())}. "


def others_end(case: WaitCase) -> str:
    """Another job, of which the words suppose that its end helps."""
    ids = [job.id for job in case.others if job.phase == "running" and len(job.id) > 2 and job.id in case.words]
    if case.found.reason.kind not in ("limit-request", "config", "hold") or not ids:
        return ""
    return f"The end of {listed(ids)} changes nothing for it."


# States whose letter is easily taken for another word, with the word that it stands for.
LETTERS = {
    ("flux", "D"): "DEPEND: it waits for a condition, and is not done",
    ("flux", "S"): "SCHED: it waits for nodes",
}


def its_letter(case: WaitCase) -> str:
    """What the letter of its state stands for, where the words ask about it."""
    meant, state = LETTERS.get((case.job.scheduler, case.job.state), ""), case.job.state
    asked = re.search(rf"(?<![\w'\u2019]){state}(?![\w'\u2019.])", spoken_lines(case.words)) if meant else None
    return f"{state} is {meant}." if asked else ""


def its_own_time(case: WaitCase) -> str:
    """The time that it asks for, taken for the time that it waits (a column of Flux)."""
    asked = case.job.printed("TIME")
    waits = case.job.scheduler == "flux" and case.job.phase == "waiting" and len(asked) > 1
    return (
        f"{asked} is the time that it asks for, not how long it waits."
        if waits and (asked in case.words or HOW_LONG.search(spoken_lines(case.words)))
        else ""
    )
