"""Other jobs in the same paste: those that it waits for, those that hold a limit, the tasks of its array."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graph.waiting.case import WaitCase, WaitingNote, parent_ids
from graph.waiting.limits_told import freed, running_of
from graph.waiting.spoken import listed, running_job, time_to_end
from knowledge.schedulers.reason_types import ReasonRemedy
from knowledge.schedulers.reasons import find_reason
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.slurm import state_name
from knowledge.schedulers.times import spoken_time

CONDITION = {
    "afterok": "to end with success",
    "afterany": "to end, well or not",
    "afternotok": "to fail",
    "aftercorr": "to end with success, task by task",
    "after": "to start",
    "afterburstbuffer": "to have its burst buffer copied out",
    "after-success": "to end with success",
    "after-start": "to start",
    "after-finish": "to end, well or not",
    "after-any": "to end, well or not",
    "after-failure": "to fail",
    "after-except": "to fail",
    "done": "to end with success",
    "ended": "to end, well or not",
    "exit": "to fail",
    "started": "to start",
    "singleton": "of the same name to end",
}


def parents(case: WaitCase) -> WaitingNote | None:
    """The jobs that it waits for, what they have to do, and what is known of them."""
    if case.found.reason.kind != "dependency":
        return None
    depends = case.job.depends or (case.job.reason if case.job.scheduler == "flux" else "")
    ids = parent_ids(depends)
    known = {re.split(r"[_\[.]", job.id)[0]: job for job in case.others}
    failed = [job for job in case.others if job.phase == "ended" and not ended_well(job)]
    if "singleton" in depends and not ids and case.job.name:
        same = [job for job in case.others if job.name == case.job.name and job.phase == "running"]
        who = f" {listed([running_job(job) for job in same])} has that name." if same else ""
        return WaitingNote(
            f"Not for ever: it waits until no other job of yours is called {case.job.name}, however that ends.{who}",
            {"PARENTS": ",".join(job.id for job in same)},
            instead="singleton: one job of a name at a time",
            starts="yes",
            do=(ReasonRemedy(text="nothing; another job name, where both may run at once"),),
            only=True,
        )
    if not ids and (spoken := other_ids(case)):
        ended = re.search(r"(?i)\b(failed|cancelled|canceled|timeout|out_of_memory|node_fail)\b", case.words)
        never = " If that one failed and the condition is afterok, this one never starts." if ended else ""
        return WaitingNote(f"As you say it, it waits for {listed(spoken)}.{never}", {"PARENTS": ",".join(spoken)})
    if not ids:
        # The paste does not name the parent; a job of the same user that failed is the likely one.
        ids = [job.id for job in failed if case.found.reason.starts == "no" and "." not in job.id]
        if not ids:
            return None
        states = listed([f"{job.id}{f' ({job.name})' if job.name else ''}" for job in failed])
        return WaitingNote(
            f"In what you pasted {states} failed: that is the one it waits for, as far as can be seen.",
            {"PARENTS": ",".join(ids)},
        )
    says, dead = outcome(case, depends, ids, known)
    fill = {"PARENTS": ",".join(ids)}
    if dead and case.found.reason.starts != "no":
        return WaitingNote(says, fill, starts="no", do=never_satisfied(case), only=True)
    return WaitingNote(says, fill)


def outcome(case: WaitCase, depends: str, ids: Sequence[str], known: Mapping[str, QueuedJob]) -> tuple[str, bool]:
    """What each of the jobs has to do and how it stands, and whether the condition can never be met any more."""
    clauses = dependency_clauses(depends)
    marked = [i for _, names, mark in clauses if mark == "failed" for i in names]
    if case.found.reason.starts == "no":
        told = [f"{i} {how_ended(known.get(i))}" for i in marked or ids]
        return (f"{listed(told)}." if marked or any(i in known for i in ids) else f"It names {listed(ids)}."), True
    conditions = [f"{listed(names)} {CONDITION.get(kind, 'to be done')}" for kind, names, _ in clauses]
    waits = f"It waits for {listed(conditions)}."
    needed = [i for kind, names, _ in clauses if kind in MUST_SUCCEED for i in names]
    failed = [i for i in needed if (job := known.get(i)) and job.phase == "ended" and not ended_well(job)]
    stuck = [i for i in ids if (job := known.get(i)) and job.phase == "waiting" and never_starts(job)]
    if dead := list(dict.fromkeys([*failed, *stuck, *marked])):
        return f"{waits} {listed([f'{i} {how_ended(known.get(i))}' for i in dead])}, so it never starts as it is.", True
    if needed:
        end = {"flux": "is cancelled by Flux", "pbs": "is deleted by PBS"}.get(case.job.scheduler, "never starts")
        waits += f" If {listed(needed)} {'fail' if len(needed) > 1 else 'fails'}, this one {end}."
    now = [f"{i} is {told_state(job)} now{time_left(job)}" for i in ids if (job := known.get(i))]
    return (f"{waits} {listed(now)}." if now else waits), False


MUST_SUCCEED = ("afterok", "after-success", "aftercorr", "done")


def dependency_clauses(depends: str) -> list[tuple[str, list[str], str]]:
    """`afterok:71:72(unfulfilled),afterany:73` as condition, jobs, and the mark that Slurm puts behind."""
    found = []
    for clause in re.split(r"[,?]|&&|\|\|", depends.removeprefix("depends:")):
        kind = re.match(r"[ (]*([a-z-]+)", clause)
        mark = re.search(r"\((\w+)\)", clause)
        if kind and (names := parent_ids(clause)):
            found.append((kind[1], names, mark[1] if mark else ""))
    return found


def other_ids(case: WaitCase) -> list[str]:
    """Job ids in the person's words that are not this job's."""
    found = re.findall(r"(?<![\w.:/=-])\d{4,}(?![\w:/-])", case.words)
    own = re.split(r"[_\[]", case.job.id)[0]
    return [one for one in dict.fromkeys(found) if one != own]


def never_satisfied(case: WaitCase) -> tuple[ReasonRemedy, ...]:
    """What helps where the condition can never be met any more; Flux cancels such a job by itself."""
    said = {"slurm": "DependencyNeverSatisfied", "lsf": "Dependency condition invalid or never satisfied"}
    if case.job.scheduler == "flux":
        return (ReasonRemedy(text="mend that one and submit both again: Flux cancels this one by itself"),)
    found = find_reason(case.job.scheduler, said.get(case.job.scheduler, ""))
    return found.reason.do if found and case.job.scheduler in said else case.found.reason.do


def never_starts(job: QueuedJob) -> bool:
    found = find_reason(job.scheduler, job.reason) if job.reason else None
    return bool(
        found and found.reason.starts == "no" and found.reason.kind in ("dependency", "limit-request", "config")
    )


def how_ended(job: QueuedJob | None) -> str:
    """`failed (exit code 1:0, after 3 min 12 s)`; of one that waits itself that it can never start."""
    if job is None or job.phase != "ended":
        waits = job and job.phase == "waiting"
        return f"can itself never start (`{job.reason.split(',')[0]}`)" if job and waits else "has failed"
    parts = [f"exit code {job.exit_code}"] if job.exit_code else []
    parts += [f"after {spoken_time(job.elapsed)}"] if job.elapsed else []
    state = state_name(job.state) if job.scheduler == "slurm" else job.state
    word = "failed" if state == "FAILED" else f"ended as {state}"
    return word + (f" ({', '.join(parts)})" if parts else "")


def ended_well(job: QueuedJob) -> bool:
    return state_name(job.state) in ("COMPLETED", "DONE", "CD") or job.exit_code in ("0", "0:0")


def time_left(job: QueuedJob) -> str:
    """How long a running job may still take: from its limit, else the command that tells it."""
    if job.phase != "running":
        return ""
    if (left := time_to_end(job)) is not None:
        return f", for {spoken_time(left)} at most"
    return f", at most as long as `squeue -j {job.id} -h -o %L` prints" if job.scheduler == "slurm" else ""


def told_state(job: QueuedJob) -> str:
    return {"waiting": "waiting", "running": "running", "ended": "over", "ending": "ending"}.get(job.phase, job.state)


def array_tasks(case: WaitCase) -> WaitingNote | None:
    """The array's own throttle, and its tasks that run."""
    if case.found.reason.word not in ("JobArrayTaskLimit", "subjobs", "array limit"):
        return None
    throttle = re.search(r"%(\d+)", case.job.id) or re.search(r"()\b", "")
    most = throttle[1] if throttle and throttle[1] else case.job.printed("ArrayTaskThrottle")
    base = re.split(r"[_\[]", case.job.id)[0]
    tasks = [job for job in case.others if job.phase == "running" and re.split(r"[_\[]", job.id)[0] == base]
    says = f"The array's own `%{most}` lets {most} tasks run at once" if most else "The array's own throttle"
    running = f"; running now: {listed([job.id for job in tasks], 8)}" if tasks else ""
    return WaitingNote(f"{says}{running}.") if most else None


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
    whose = limit.whose if limit else "user"
    own = running_of(case, "user")
    if whose == "user":
        return own_note(case, own, throttle) if own else WaitingNote(throttle.strip()) if throttle else None
    if not running:
        return WaitingNote(COUNTED[whose]) if whose in COUNTED else None
    together = sum(job.nodes or 0 for job in running)
    users = listed(
        [
            f"{user or 'one'}: {listed([running_job(j) for j in running if j.user == user])}"
            for user in dict.fromkeys(j.user for j in running)
        ]
    )
    says = (
        f"Running now in what you pasted: {users}{f'; {together} nodes together' if together else ''}, "
        f"if they are of the same {'QOS' if whose == 'qos' else 'account'}."
    )
    names = listed([job.id for job in running])
    return WaitingNote(
        f"{COUNTED[whose]} {says} It starts when enough of them ({names}) end.{freed(case, running)}",
        do=talk_to(case, running),
    )


COUNTED = {
    "account": "Jobs of everybody in the account count, so it waits also while you have no other job running.",
    "qos": "Jobs of everybody in the QOS count, so all its users wait.",
}


def talk_to(case: WaitCase, running: Sequence[QueuedJob]) -> tuple[ReasonRemedy, ...]:
    people = [user for user in dict.fromkeys(job.user for job in running) if user and user != case.job.user]
    return (ReasonRemedy(text=f"or agree with {listed(people)} on who runs when"),) if people else ()


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
    holds = f"Yours that run: {told}."
    return WaitingNote(f"{holds} It starts {when}.{freed(case, own)}{more}")


def one_is_enough(case: WaitCase) -> bool:
    limit = case.found.limit
    return limit.resource == "jobs" if limit else "limit" in case.found.reason.word


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
    return WaitingNote(f"In what you pasted {many} before it by priority ({told}); its own is {own:g}.")


def priority(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else 0.0
