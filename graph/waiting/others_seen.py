"""Other jobs in the same paste: those that it waits for, those that hold a limit, the tasks of its array."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.waiting.case import Fact, WaitCase, WaitingNote, filled
from graph.waiting.limits_told import freed, is_own, running_of
from graph.waiting.spoken import listed, running_job, spoken_lines
from knowledge.schedulers.accounting import host_names
from knowledge.schedulers.reason_types import ReasonRemedy
from knowledge.schedulers.reasons import message_reason
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import spoken_time

SUBMITTING = ("sbatch", "srun", "salloc", "qsub", "bsub", "flux")


def refused_beside(case: WaitCase) -> WaitingNote | None:
    """A submission of the same paste that was refused: no job stands for it among those that are listed."""
    told = [
        found
        for output in case.outputs
        if output.kind == "refusal" and output.command in SUBMITTING
        if (found := message_reason(output.scheduler, output.message)) and found.reason.kind == "client-error"
    ]
    exact = [found for found in told if found.reason.word != "refused"] or told
    if not exact or case.found.reason.kind == "client-error":
        return None
    named = {key.upper(): value for key, value in exact[-1].named.items()}
    why = filled(exact[-1].reason.says, named).removeprefix("refused at submission, so no job waits: ")
    return WaitingNote(f"Another submission in what you pasted was refused, so there is no job of it: {why}.")


def own_beside(case: WaitCase) -> WaitingNote | None:
    """Behind a submission that was refused: the jobs of the same paste, which are not touched by that."""
    own = [job for job in case.others if job.phase in ("running", "waiting")]
    if case.found.reason.kind != "client-error" or not own:
        return None
    runs = [job.id for job in own if job.phase == "running"]
    names = listed([job.id for job in own], 8)
    states = f"{len(runs)} running" + (f" and {len(own) - len(runs)} waiting" if len(own) > len(runs) else "")
    return WaitingNote(
        f"The jobs that are listed ({names}; {states}) were taken before and go on; the refused one is not among them."
    )


def parts_of_one(case: WaitCase) -> WaitingNote | None:
    """The other parts of a heterogeneous job: `8812001+1` beside `8812001+0`."""
    base, part, _ = case.job.id.partition("+")
    others = [job.id for job in case.others if part and job.id.startswith(f"{base}+")]
    if case.job.phase != "waiting" or not others:
        return None
    return WaitingNote(
        f"It is one part of a heterogeneous job (with {listed(others)}): the parts start together, when there is room "
        "for all of them at the same time, so room for one alone does not help."
    )


def others_wait(case: WaitCase) -> WaitingNote | None:
    """Beside a job that does not wait: those of the same paste that do."""
    waiting = [job.id for job in case.others if job.phase == "waiting" and is_own(job, case)]
    if case.found.reason.kind != "not-waiting" or not waiting:
        return None
    return WaitingNote(f"In what you pasted {listed(waiting)} {'waits' if len(waiting) == 1 else 'wait'}.")


def put_aside_for(case: WaitCase) -> WaitingNote | None:
    """The running job of the paste that has the nodes of one that is suspended."""
    own = set(host_names(case.job.where)) if case.job.phase == "suspended" else set()
    there = [job for job in case.others if job.phase == "running" and own & set(host_names(job.where))]
    if not own or not there:
        return None
    names = listed([f"{running_job(job)}{f' of {job.user}' if job.user else ''}" for job in there])
    ids, one = listed([job.id for job in there]), len(there) == 1
    runs, that, ends = ("runs", "that", "ends") if one else ("run", "those", "end")
    return WaitingNote(
        f"{names} {runs} on its nodes now: it was put aside for {that} (preemption, or time shared in turns) and goes "
        f"on when {ids} {ends}. Nothing is lost, and there is nothing to do; do not cancel it."
    )


def next_in_line(case: WaitCase) -> WaitingNote | None:
    """Of a job behind others: the waiting jobs of its partition that are next, and held ones that hold nobody up."""
    if case.found.reason.word != "Priority" or case.job.scheduler != "slurm":
        return None
    waiting = [job for job in case.others if job.phase == "waiting" and job.queue in ("", case.job.queue)]
    first = [job for job in waiting if job.reason == "Resources"]
    held = [job for job in waiting if job.reason.startswith(("JobHeld", "JobHold"))]
    says = []
    if first:
        one = len(first) == 1
        whose = listed([f"{job.id}{f' of {job.user}' if job.user not in ('', case.job.user) else ''}" for job in first])
        says.append(
            f"{whose} (`Resources`) {'is' if one else 'are'} next and {'stands' if one else 'stand'} before it."
        )
    if held:
        theirs = [job for job in held if job.user and job.user != case.job.user]
        if theirs:
            says.append(f"{listed([job.id for job in theirs])} is held by its own user and has nothing to do with it.")
    facts = (
        (Fact("ahead", ", ".join(f"{job.id}{f' ({job.user})' if job.user else ''}" for job in first)),) if first else ()
    )
    return WaitingNote(" ".join(says), facts=facts) if says else None


def array_tasks(case: WaitCase) -> WaitingNote | None:
    """The array's own throttle, and its tasks that run."""
    if case.found.reason.word not in ("JobArrayTaskLimit", "subjobs", "array limit") and case.job.state != "B":
        return None
    own = re.escape(re.split(r"[_\[]", case.job.id)[0])
    throttle = re.search(r"%(\d+)", case.job.id) or re.search(
        rf"-J \S*%(\d+)|Job <{own}(?:\[\d+\])?>, Job Name <[^>]*%(\d+)>|max_run_subjobs = (\d+)", case.text
    )
    most = next(filter(None, throttle.groups()), "") if throttle else case.job.printed("ArrayTaskThrottle")
    base = re.split(r"[_\[]", case.job.id)[0]
    tasks = [job for job in case.others if job.phase == "running" and re.split(r"[_\[]", job.id)[0] == base]
    if not most:
        return None
    says = f"The array's own `%{most}` lets {most} tasks run at once"
    running = f"; running now: {listed([job.id for job in tasks], 8)}" if tasks else ""
    left = tasks_in(case.job.id)
    wait = (
        f" {left} task{'s' if left > 1 else ''} of it still wait{'s' * (left == 1)}{rounds(case, left, int(most))}."
        if left
        else ""
    )
    more = re.search(
        r"(?i)\b(?:run|start|have|allow|let|up to|raise|increase)\b[^\n.]{0,40}?(?<![\d_:])(\d{1,4})"
        r"(?![\d_:])(?! ?(?:h|min|day|hour))",
        spoken_lines(case.words),
    )
    number = {"N": more[1]} if more and more[1] != most else {}
    facts = [Fact("at-once", most)] + ([Fact("tasks", f"{left}{rounds(case, left, int(most))}")] if left else [])
    facts += [Fact("running", ", ".join(job.id for job in tasks[:8]))] if tasks else []
    return WaitingNote(f"{says}{running}.{wait}", number, facts=tuple(facts))


TASK_TIME = re.compile(
    r"(?i)\b(?:each|a|every|one|per|jede\w*|chaque|cada|ogni)\b[^\n.]{0,30}?"
    r"(?<![\d:])(\d+(?:\.\d+)?) ?(h|hours?|hrs?|min\w*|m)\b"
)


def tasks_in(name: str) -> int:
    """The tasks in `6_[5-9,12,20-30:2%4]`; 0 where it lists none."""
    found = re.search(r"\[([\d,:-]+)", name)
    if not found or name.endswith("..."):
        return 0
    told = 0
    for part in found[1].split(","):
        span = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part)
        if not span:
            return 0
        told += (int(span[2] or span[1]) - int(span[1])) // int(span[3] or 1) + 1
    return told


def rounds(case: WaitCase, left: int, at_once: int) -> str:
    """How long they take, by what one task is said (or allowed) to take."""
    said = TASK_TIME.search(spoken_lines(case.words))
    each = float(said[1]) * (3600 if said[2][0].lower() == "h" else 60) if said else case.job.limit
    if not each or not at_once:
        return ""
    turns = -(-left // at_once)
    longest = "" if said else " at most, by the time limit"
    told = f"{turns} rounds of {at_once} x {spoken_hours(each)} = {spoken_hours(turns * each)}"
    return f": {told}{longest} once the next ones start"


def spoken_hours(seconds: float) -> str:
    """`58 h`: two lengths in one unit are multiplied more easily."""
    return f"{seconds / 3600:g} h" if seconds >= 3600 else spoken_time(seconds)


def running_jobs(case: WaitCase) -> WaitingNote | None:
    """The running jobs that hold the limit, as far as they were pasted."""
    reason, limit = case.found.reason, case.found.limit
    if reason.kind != "limit-aggregate":
        return None
    running = running_of(case, "")
    if array := re.match(r"(\d+)_\[", case.job.id):
        throttle = (
            f" It is not the array's own `%N`: only staff can raise a limit, array {array[1]} goes on as tasks end."
        )
    else:
        throttle = ""
    whose = limit.whose if limit else reason.whose
    own = running_of(case, "user")
    if whose == "user":
        return own_note(case, own, throttle) if own else WaitingNote(throttle.strip()) if throttle else None
    if not running:
        return WaitingNote(counted(case, whose)) if whose in COUNTED else None
    together = sum(job.nodes or 0 for job in running)
    users = listed(
        [
            f"{user or 'one'}: {listed([running_job(j) for j in running if j.user == user])}"
            for user in dict.fromkeys(j.user for j in running)
        ]
    )
    told = whose == "account" and case.job.account and all(job.account for job in running)
    told = told or (whose == "qos" and case.job.qos and all(job.qos for job in running))
    unsure = "" if told else f", {in_words(case, COUNT_IF.get(whose, 'as far as the limit counts them'))}"
    nodes = f"; {together} nodes together" if together else ""
    says = f"Running now in what you pasted: {users}{nodes}{unsure}."
    names = listed([job.id for job in running if job.id])
    which = f" ({names})" if names else ""
    return WaitingNote(
        f"{counted(case, whose)} {says} It can start when enough of those that count{which} end."
        f"{freed(case, running) if whose in COUNT_IF else ''}".strip(),
        do=talk_to(case, running) if whose == "account" else (),
    )


def counted(case: WaitCase, whose: str) -> str:
    """Whose jobs count against the limit; PBS counts groups and projects where Slurm counts accounts."""
    return in_words(case, COUNTED.get(whose, ""))


def in_words(case: WaitCase, says: str) -> str:
    return says if case.job.scheduler == "slurm" else says.replace("account", "group or project")


COUNT_IF = {"qos": "if they are of the same QOS", "account": "if they are of the same account"}
COUNTED = {
    "queue": "Jobs of everybody in the queue count.",
    "system": "Jobs of everybody on the system count.",
    "account": "Jobs of everybody in the account count, so it waits also while you have no other job running.",
    "qos": "Jobs of everybody in the QOS count, so all its users wait.",
}


def talk_to(case: WaitCase, running: Sequence[QueuedJob]) -> tuple[ReasonRemedy, ...]:
    people = [user for user in dict.fromkeys(job.user for job in running) if user and user != case.job.user]
    return (
        (ReasonRemedy(text=f"or, where their jobs count too, agree with {listed(people)} on who runs when"),)
        if people
        else ()
    )


def own_note(case: WaitCase, own: Sequence[QueuedJob], more: str) -> WaitingNote:
    """Own running jobs hold it; the first to end lets it start."""
    told = listed([running_job(job) for job in own])
    ids = listed([job.id for job in own])
    when = (
        f"when {ids} ends"
        if len(own) == 1
        else f"when one of {ids} ends"
        if one_is_enough(case)
        else f"when enough of {ids} end"
    )
    limit = case.found.limit
    known = not limit or not case.job.qos or all(job.qos for job in own)
    same = "" if known or not limit or limit.set_on != "qos" else ", as far as they are in the same QOS"
    return WaitingNote(f"Yours that run{same}: {told}. It can start {when}.{freed(case, own)}{more}")


def one_is_enough(case: WaitCase) -> bool:
    limit = case.found.limit
    return limit.resource == "jobs" if limit else case.found.reason.of == "jobs"


def ahead(case: WaitCase) -> WaitingNote | None:
    """The waiting jobs that stand before it by priority, where squeue or sprio printed priorities."""
    if case.found.reason.of != "node" or case.job.scheduler != "slurm":
        return None
    rows = {row.get("JOBID", ""): row for row in case.rows("sprio")}
    jobs = [job for job in (case.job, *case.others) if job.phase == "waiting"]
    places = {
        job.id: (priority(job.printed("PRIORITY") or job.printed("Priority")), job.user, job.queue) for job in jobs
    }
    places |= {i: (priority(row["PRIORITY"]), row.get("USER", ""), row.get("PARTITION", "")) for i, row in rows.items()}
    own = places.pop(case.job.id, (0.0, "", ""))[0]
    before = sorted(
        (
            (place, i, user)
            for i, (place, user, queue) in places.items()
            if place > own and queue in ("", case.job.queue)
        ),
        reverse=True,
    )
    if not own or not before:
        return None
    told = listed([f"{i}{f' of {user}' if user else ''} with {place:g}" for place, i, user in before], 4)
    many = "1 job stands" if len(before) == 1 else f"{len(before)} jobs stand"
    less = f", {before[-1][0] - own:g} less{' than the lowest of them' if len(before) > 1 else ''}"
    facts = (Fact("ahead", ", ".join(f"{i} ({place:g})" for place, i, _ in before[:4]), (("own", f"{own:g}"),)),)
    says = f"In what you pasted {many} before it by priority ({told}); its own is {own:g}{less}."
    return WaitingNote(says, facts=facts)


def priority(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else 0.0
