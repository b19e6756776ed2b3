"""Other jobs in the same paste: those that it waits for, those that hold a limit, the tasks of its array."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.waiting.amounts import bare_amount, held_in
from graph.waiting.case import Fact, WaitCase, WaitingNote, filled, parent_ids
from graph.waiting.limit_sum import LimitSum, limit_sum
from graph.waiting.limit_tables import limits_pasted
from graph.waiting.limits_told import is_own
from graph.waiting.own_fields import FACTORS, number
from graph.waiting.spoken import listed, running_job, spoken_lines
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers.accounting import host_names
from knowledge.schedulers.reasons import find_reason, message_reason
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
    waiting = [
        f"{job.id}{f' (`{job.reason}`)' if job.reason else ''}"
        for job in case.others
        if job.phase == "waiting" and is_own(job, case)
    ]
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
        return not_the_throttle(case)
    own = re.escape(re.split(r"[_\[]", case.job.id)[0])
    throttle = re.search(r"%(\d+)", case.job.id) or re.search(
        rf"-J \S*%(\d+)|Job <{own}(?:\[\d+\])?>, Job Name <[^>]*%(\d+)>|max_run_subjobs = (\d+)", case.text
    )
    most = next(filter(None, throttle.groups()), "") if throttle else case.job.printed("ArrayTaskThrottle")
    base = re.split(r"[_\[]", case.job.id)[0]
    tasks = [job for job in case.others if job.phase == "running" and re.split(r"[_\[]", job.id)[0] == base]
    if not most:
        return None
    says = f"The array's own `%{most}` lets {most} task{'s' * (most != '1')} run at once, which is no limit of the site"
    running = f"; running now: {listed([job.id for job in tasks], 8)}" if tasks else ""
    left = tasks_in(case.job.id)
    wait = (
        f" {left} task{'s' if left > 1 else ''} of it still wait{'s' * (left == 1)}{rounds(case, left, int(most))}."
        if left
        else ""
    )
    numbers = [int(n) for n in re.findall(OTHER_NUMBER, spoken_lines(case.words)) if int(n) > int(most)]
    numbers = [n for n in numbers if not left or n < left]  # more than wait is no number of tasks at once
    number = {"N": str(numbers[0])} if len(set(numbers)) == 1 else {}
    facts = [Fact("at-once", most)] + ([Fact("tasks", f"{left}{rounds(case, left, int(most))}")] if left else [])
    more = f" (+{len(tasks) - 8})" if len(tasks) > 8 else ""
    facts += [Fact("running", f"{', '.join(job.id for job in tasks[:8])}{more}")] if tasks else []
    return WaitingNote(f"{says}{running}.{wait}", number, facts=tuple(facts))


def not_the_throttle(case: WaitCase) -> WaitingNote | None:
    """Of an array that waits for its turn while fewer of its tasks run than it may have at once."""
    throttle, base = re.search(r"%(\d+)", case.job.id), re.split(r"[_\[]", case.job.id)[0]
    runs = sum(job.phase == "running" and re.split(r"[_\[]", job.id)[0] == base for job in case.others)
    if not throttle or not 0 < runs < int(throttle[1]) or case.found.reason.kind != "wait":
        return None
    tasks = "task runs" if runs == 1 else "tasks run"
    return WaitingNote(f"Its own `{throttle[0]}` does not hold it: {runs} {tasks}, and {throttle[1]} may at once.")


# A number of the words that is no id, clock or time.
OTHER_NUMBER = r"(?i)(?<![A-Za-z0-9_:.%\[-])(\d{1,4})(?![\d_:.\]-])(?! ?(?:h|std|min|days?|hours?|stunden|小时|時間)\b)"
# The tasks of a submission, and a number printed below a command that counts the jobs in the queue.
ARRAY_ASKED = re.compile(r"(?:--array[= ]|\s-a )(?P<first>\d+)-(?P<last>\d+)(?:%\d+)?(?=\s)")
COUNTED_JOBS = re.compile(r"(?m)^.*\bsqueue\b.*\| *wc -l *\n *(\d+) *$")


def submit_room(case: WaitCase) -> WaitingNote | None:
    """Behind a submission that was refused for their number: the jobs in the queue, those asked for, what is left."""
    limits = limits_pasted(case) if case.found.reason.word == "submit limit" else []
    limit = next((one for one in limits if one.of == "submit" and one.per != "job"), None)
    printed, array = COUNTED_JOBS.search(case.text), ARRAY_ASKED.search(case.text)
    here = [job for job in case.others if job.phase in ("running", "waiting", "starting", "ending")]
    queued = int(printed[1]) if printed else sum(tasks_in(job.id) or 1 for job in here)
    if limit is None or not (printed or here):
        return None
    asked = int(array["last"]) - int(array["first"]) + 1 if array else 1
    left, whole = max(0, int(limit.most) - queued), queued + asked
    says = f"The limit is {limit.most:g} jobs queued and running; {queued} + {asked} = {whole}"
    says += f", {whole - limit.most:g} too many"
    counts = ", each task of the array counts, and it is refused as a whole" if array else ""
    run = next((f"; of all of them {one.most:g} run at once" for one in limits if one.of == "jobs"), "")
    end = int(array["first"]) + left - 1 if array else 0
    first = f"sbatch --array={array['first']}-{end} SCRIPT" if array and left else ""
    do = (Step(text="what fits now; the rest later", command=first),) if first else ()
    return WaitingNote(f"{says}{counts}. {left} more can be handed in now{run}.", do=do)


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
    """The running jobs that hold the limit, as far as they were pasted, and whose end frees enough."""
    reason, limit = case.found.reason, case.found.limit
    if reason.kind != "limit-aggregate":
        return None
    array, sums = re.match(r"(\d+)_\[", case.job.id), limit_sum(case)
    goes_on = f"only staff can raise a limit, array {array[1]} goes on as tasks end" if array else ""
    throttle = f" It is not the array's own `%N`: {goes_on}." if array else ""
    whose = sums.limit.per if sums.limit and sums.limit.per == "user" else limit.whose if limit else reason.whose
    if whose == "user":
        places = {one.job.queue for one in sums.holders} - {"", case.job.queue}
        known = all(one.job.qos for one in sums.holders) if case.job.qos else not places
        same = "" if known or not limit or limit.set_on != "qos" else ", as far as they are in the same QOS"
        says = f"Yours that run{same}: {sums.holder_words(people=False)}. {sums.when(case)}" if sums.holders else ""
        inside = room_inside(case, sums)
        return WaitingNote(f"{says}{throttle}".strip(), do=inside) if says or throttle else None
    if not sums.holders:
        return WaitingNote(counted(case, whose)) if whose in COUNTED else None
    running = [one.job for one in sums.holders]
    together = sum(job.nodes or 0 for job in running)
    told = whose == "account" and case.job.account and all(job.account for job in running)
    told = told or sums.used is not None or (whose == "qos" and case.job.qos and all(job.qos for job in running))
    unsure = "" if told else f", {in_words(case, COUNT_IF.get(whose, 'as far as the limit counts them'))}"
    nodes = f"; {together} nodes together" if together and len(running) > 1 else ""
    says = (
        f"Running now in what you pasted: {sums.holder_words(people=True)}{nodes}{unsure}.{me_or_others(case, running)}"
    )
    return WaitingNote(
        f"{counted(case, whose)} {says} {sums.when(case)}".strip(),
        do=talk_to(case, running) if whose == "account" else (),
    )


def room_inside(case: WaitCase, sums: LimitSum) -> tuple[Step, ...]:
    """Where one running job takes the only place and lasts longer than this one asks for: the run inside that one."""
    one = sums.holders[0] if len(sums.holders) == 1 and sums.of == "jobs" else None
    if not one or case.job.scheduler != "slurm" or not one.left or not case.job.limit or case.job.limit > one.left:
        return ()
    text = (
        f"or run it inside {one.job.id}, where that has room for it; end that one only if you do not need it any more"
    )
    return (Step(text, f"srun --jobid={one.job.id} --overlap --pty bash"),)


def me_or_others(case: WaitCase, running: Sequence[QueuedJob]) -> str:
    """Whether the person's own jobs are among those that hold a limit that counts everybody's."""
    if not case.job.user or not all(job.user for job in running):
        return ""
    own = [job.id for job in running if is_own(job, case)]
    if not own:
        return f" None of them is a job of {case.job.user}: it is the others' that hold it."
    return "" if len(own) == len(running) else f" Of {case.job.user} itself: {listed(own)}."


def one_by_one(case: WaitCase, alike: Sequence[QueuedJob]) -> str:
    """That it and the others that wait for the same limit do not fit below it together."""
    sums = limit_sum(case)
    sizes = [sums.asked, *(held_in(case, job).get(sums.of) for job in alike)]
    told = sorted(filter(None, sizes))
    if sums.limit is None or not sums.limit.most or sums.limit.counts != "held" or len(told) < len(sizes):
        return ""
    # Where the two smallest do not fit together, no two do.
    most, both = sums.limit.most, sum(told[:2])
    if both <= most:
        return ""
    least = " of the two smallest" if len(told) > 2 and told[0] != told[-1] else ""
    together = f"{bare_amount(sums.of, told[0])} + {bare_amount(sums.of, told[1])} = {bare_amount(sums.of, both)}"
    return f"They run one after the other: {together}{least} together is more than {bare_amount(sums.of, most)}."


def counted(case: WaitCase, whose: str) -> str:
    """Whose jobs count against the limit; PBS counts groups and projects where Slurm counts accounts."""
    return in_words(case, COUNTED.get(whose, ""))


def in_words(case: WaitCase, says: str) -> str:
    return says if case.job.scheduler == "slurm" else says.replace("account", "group or project")


COUNT_IF: Mapping[str, str] = tables()["count_if"]
COUNTED: Mapping[str, str] = tables()["counted"]


def talk_to(case: WaitCase, running: Sequence[QueuedJob]) -> tuple[Step, ...]:
    people = [user for user in dict.fromkeys(job.user for job in running) if user and user != case.job.user]
    return (Step(f"or, where their jobs count too, agree with {listed(people)} on who runs when"),) if people else ()


def ahead(case: WaitCase) -> WaitingNote | None:
    """The waiting jobs that stand before it by priority, where squeue or sprio printed priorities."""
    if case.found.reason.of != "node" or case.job.scheduler != "slurm":
        return None
    places = priorities(case)
    own = places.get(case.job.id, 0.0)
    jobs = {job.id: job for job in case.others}
    before = [one for one in places if own and places[one] > own]
    if not before:
        says = in_order(case) if own and len(places) > 1 and case.rows("sprio") else ""
        return WaitingNote(says) if says else None
    users = {one: f" of {jobs[one].user}" if one in jobs and jobs[one].user else "" for one in before}
    told = listed([f"{one}{users[one]} with {places[one]:g}" for one in before], 4)
    many = "1 job stands" if len(before) == 1 else f"{len(before)} jobs stand"
    less = f", {places[before[-1]] - own:g} less{' than the lowest of them' if len(before) > 1 else ''}"
    facts = (Fact("ahead", ", ".join(f"{one} ({places[one]:g})" for one in before[:4]), (("own", f"{own:g}"),)),)
    rows, last = {row["JOBID"]: row for row in case.rows("sprio") if row.get("JOBID")}, before[-1]
    if last in rows and case.job.id in rows:
        name = largest_gap(rows[last], rows[case.job.id])
        of = f"{rows[last].get(name)} against {rows[case.job.id].get(name)}"
        less += f", above all by {FACTORS[name]}: {of}, which the rest does not make up"
    says = f"In what you pasted {many} before it by priority ({told}); its own is {own:g}{less}."
    held = [one for one in before if one in jobs and jobs[one].reason and held_otherwise(jobs[one])]
    if held:
        why, left = listed([f"{one} (`{jobs[one].reason}`)" for one in held]), len(before) - len(held)
        says += f" Held by something of its own: {why}; so in effect {left} stand{'s' * (left == 1)} before it."
    return WaitingNote(says, facts=facts)


def held_otherwise(job: QueuedJob) -> bool:
    """Whether a waiting job waits for something else than its turn."""
    found = find_reason(job.scheduler, job.reason)
    return found is not None and found.reason.of != "node" and found.reason.kind != "wait"


def priorities(case: WaitCase) -> dict[str, float]:
    """The waiting jobs of its partition with their priority, the highest first."""
    waiting = [job for job in (case.job, *case.others) if job.phase == "waiting"]
    found = {job.id: (number(job.printed("PRIORITY") or job.printed("Priority")), job.queue) for job in waiting}
    rows = [row for row in case.rows("sprio") if row.get("JOBID")]
    found |= {row["JOBID"]: (number(row.get("PRIORITY", "")), row.get("PARTITION", "")) for row in rows}
    own = found.get(case.job.id, (0.0, case.job.queue))[1]
    places = [(one, value) for one, (value, queue) in found.items() if queue in ("", own) and value]
    return dict(sorted(places, key=lambda pair: pair[1], reverse=True))


def largest_gap(first: Mapping[str, str], other: Mapping[str, str]) -> str:
    """The part of the priority by which the first is most ahead."""
    return max(FACTORS, key=lambda one: number(first.get(one, "")) - number(other.get(one, "")))


def in_order(case: WaitCase) -> str:
    """Which of the waiting jobs goes first, and which then: by what waits for what, else by priority."""
    here = [job for job in (case.job, *case.others) if job.phase == "waiting"]
    waiting = {job.id: parent_ids(job.depends or job.reason) for job in here}
    if any(set(parents) & set(waiting) for parents in waiting.values()):
        order = [one for one in waiting if not set(waiting[one]) & set(waiting)] or [next(iter(waiting))]
        while later := [one for one in waiting if one not in order and set(waiting[one]) & set(waiting) <= set(order)]:
            order += later
        return f"**{order[0]} goes first**, then, each behind the job that it waits for, {listed(order[1:])}."
    places, rows = priorities(case), {row["JOBID"]: row for row in case.rows("sprio") if row.get("JOBID")}
    if len(places) < 2:
        return ""
    (first, most), *rest = places.items()
    why = ""
    if first in rows and rest[0][0] in rows:
        name = largest_gap(rows[first], rows[rest[0][0]])
        why = f", by {FACTORS[name]}: {rows[first].get(name)} where the next has {rows[rest[0][0]].get(name)}"
    then = listed([f"{one} ({value:g})" for one, value in rest])
    gap = "That is no strict order: a smaller or shorter one may fit a gap before the others (backfill)."
    return f"**{first} is first by priority** ({most:g}){why}; then {then}. {gap}"
