"""The jobs that a job waits for: each judged by its condition and by its own state, both as they stand in the paste."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graph.waiting.amounts import request_of
from graph.waiting.case import WaitCase, WaitingNote, filled, known_values, parent_ids
from graph.waiting.ended import ended_state, exit_note
from graph.waiting.meant import CONDITION_GIVEN, alike
from graph.waiting.spoken import listed, running_job, spoken_lines, time_to_end, until
from graph.waiting.verdict import reason_of
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers import lsf
from knowledge.schedulers.reasons import find_reason
from knowledge.schedulers.records import Phase, QueuedJob
from knowledge.schedulers.slurm import state_name
from knowledge.schedulers.times import spoken_time

Wanted = Literal["success", "end", "failure", "start", "unknown"]
# met: fulfilled; dead: can never be; blocked: not before somebody frees that job; open: it waits, runs or is not shown.
Verdict = Literal["met", "dead", "blocked", "open"]
WANTED: Mapping[str, Wanted] = tables()["wanted"]
TO_DO: Mapping[Wanted, str] = tables()["to_do"]
SPECIAL = {"aftercorr": ", task by task", "afterburstbuffer": " and to have its burst buffer copied out"}


@dataclass(frozen=True, slots=True)
class Parent:
    """A job that is waited for, what it has to do, and what is known of it."""

    id: str
    kind: str
    job: QueuedJob | None
    marked: bool = False
    """Slurm itself marks the condition as failed: it can never be met, whatever is known of the job."""
    tasks: tuple[QueuedJob, ...] = ()
    """All tasks that are known, where it is an array."""
    root: QueuedJob | None = None
    """The job at the head of its own chain, where that never starts as it is."""

    @property
    def wanted(self) -> Wanted:
        return WANTED.get(self.kind, "unknown")

    @property
    def verdict(self) -> Verdict:
        if self.marked:
            return "dead"
        if self.job is None:
            return "open"
        if self.root:
            return "blocked"
        if self.job.phase == "ended":
            return self.when_ended(ended_well(self.job)) if tells_how(self.job) else "open"
        if self.job.phase == "waiting" and self.job.reason:
            why = reason_of(self.job).reason
            return "open" if why.starts != "no" else "dead" if why.kind == "dependency" else "blocked"
        return "met" if self.wanted == "start" and self.job.phase in ("running", "ending", "suspended") else "open"

    def when_ended(self, well: bool) -> Verdict:
        if self.wanted == "unknown":
            return "open"
        return "met" if self.wanted in ("end", "start") or well == (self.wanted == "success") else "dead"


def parents(case: WaitCase) -> WaitingNote | None:
    """The jobs that it waits for, what they have to do, and what is known of them."""
    if case.found.reason.kind != "dependency":
        return None
    depends = depends_told(case)
    if "singleton" in depends and not parent_ids(depends):
        return twins(case)
    found = parents_of(case, depends)
    if not found:
        return told_otherwise(case)
    fill = {"PARENTS": ",".join(dict.fromkeys(one.id for one in found))}
    if case.found.reason.starts == "no":
        return never(case, found, fill)
    return judged(case, depends, found, fill)


def condition_of(job: QueuedJob) -> str:
    """The condition that is printed of a job; Flux prints it as the reason."""
    return job.depends or (job.reason if job.scheduler == "flux" else "")


def depends_told(case: WaitCase) -> str:
    """The condition as the scheduler prints it, else as the person gave it to the submission."""
    if printed := condition_of(case.job):
        return printed
    if of_lsf := re.search(r"Dependency condition of job <[^>\n]{1,40}> is not satisfied: *(.+)", case.text):
        return of_lsf[1].strip()
    said = (found[1] for found in CONDITION_GIVEN.finditer(case.text))
    return next((one for one in said if parent_ids(one) or "singleton" in one), "")


def parents_of(case: WaitCase, depends: str) -> list[Parent]:
    """Each job of the condition with its state; of LSF also those that bjdepinfo names."""
    others = [*case.others, *told_by_lsf(case).values(), *told_in_words(case).values()]
    clauses = dependency_clauses(depends)
    found = [worst_of(name, kind, mark == "failed", others) for kind, names, mark in clauses for name in names]
    found = [replace(one, root=stuck_root(one, others)) if one.verdict == "open" else one for one in found]
    named = {one.id for one in found}
    return [*found, *(Parent(name, "", job) for name, job in told_by_lsf(case).items() if name not in named)]


def stuck_root(parent: Parent, others: Sequence[QueuedJob]) -> QueuedJob | None:
    """The job at the head of a chain of waiting jobs, where somebody has to free or change it."""
    seen, at = set[str](), parent.job
    while at is not None and at.phase == "waiting" and at.id not in seen:
        seen.add(at.id)
        if Parent(at.id, "", at).verdict == "blocked":
            return at if at is not parent.job else None
        names = parent_ids(condition_of(at))
        at = next((job for job in others if job.id in names and job.phase == "waiting"), None)
    return None


def worst_of(name: str, kind: str, marked: bool, others: Sequence[QueuedJob]) -> Parent:
    """The parent with its state; of an array the task that keeps the condition from being met."""
    base = re.split(r"[_\[.]", name)[0]
    rows = [job for job in others if re.split(r"[_\[.]", job.id)[0] == base]
    tasks = tuple(job for job in rows if re.search(r"[_\[]", job.id)) if name == base else ()
    all_of = [Parent(name, kind, job, marked, tasks) for job in rows]
    order = ("dead", "blocked", "open", "met")
    # The mark is one of the whole condition: which task it was, only their own states tell.
    own = {one.job: replace(one, marked=False).verdict for one in all_of}
    worst = min(all_of, key=lambda one: order.index(own[one.job]), default=Parent(name, kind, None, marked))
    return replace(worst, job=None) if marked and own.get(worst.job) == "met" else worst


def told_by_lsf(case: WaitCase) -> dict[str, QueuedJob]:
    """The parents of a job of LSF with their states, by bjdepinfo."""
    rows = [row for row in case.rows("bjdepinfo") if row.get("PARENT") and row.get("JOBID") in ("", case.job.id)]
    return {
        row["PARENT"]: QueuedJob(
            "lsf",
            row["PARENT"],
            row.get("PARENT_NAME", ""),
            state=row.get("PARENT_STATUS", ""),
            phase=lsf.phase_of(row.get("PARENT_STATUS", "")),
            exit_code=exit_in_history(case, row["PARENT"]),
        )
        for row in rows
    }


def exit_in_history(case: WaitCase, name: str) -> str:
    """The exit code below a `bhist` of that job."""
    asked = re.search(rf"(?m)^.{{0,200}}\bbhist\b.{{0,200}}\b{re.escape(name)}\b", case.text)
    found = re.compile(r"Exited with exit code (\d+)").search(case.text, asked.end()) if asked else None
    return found[1] if found else ""


SAID: list[tuple[str, str, Phase]] = tables()["said"]


def told_in_words(case: WaitCase) -> dict[str, QueuedJob]:
    """What the person says of other jobs by number: `4410 failed`, `job 771 is still running`."""
    words, found = spoken_lines(case.words), dict[str, QueuedJob]()
    for pattern, state, phase in SAID:
        for said in re.finditer(
            rf"(?i)(?<![\w.-])(\d{{3,}}|f[1-9A-HJ-NP-Za-km-z]{{4,}}) (?:has |have |had )?(?:{pattern})\b", words
        ):
            found.setdefault(said[1], QueuedJob(case.job.scheduler, said[1], state=state, phase=phase))
    return {name: job for name, job in found.items() if name not in {job.id for job in case.others}}


def dependency_clauses(depends: str) -> list[tuple[str, list[str], str]]:
    """`afterok:71:72(unfulfilled),afterany:73` as condition, jobs, and the mark that Slurm puts behind."""
    found = []
    for clause in re.split(r"[,?]|&&|\|\|", depends.removeprefix("depends:")):
        kind = re.match(r"[ (]*([a-z_-]+)", clause)
        mark = re.search(r"\((\w+)\)", clause)
        if kind and (names := parent_ids(clause)):
            found.append((kind[1], names, mark[1] if mark else ""))
    return found


def judged(case: WaitCase, depends: str, found: Sequence[Parent], fill: Mapping[str, str]) -> WaitingNote:
    """What each of them has to do and how it stands, and what that makes of the job."""
    one_is_enough = bool(re.search(r"\?|\|\|", depends))
    waits = f"It waits for {'one of these: ' if one_is_enough else ''}{conditions(depends, found)}"
    waits += "; one is enough." if one_is_enough else "."
    dead = [one for one in found if one.verdict == "dead"]
    if dead and one_is_enough and len(dead) < len(found):
        return WaitingNote(f"{waits} {why_dead(dead)}; the others are still open.", fill)
    if dead:
        of_pbs = [exit_note(one.job) for one in dead if one.job and one.job.scheduler == "pbs"]
        return WaitingNote(
            " ".join([f"{waits} {why_dead(dead)}, so it never starts as it is.", *of_pbs]),
            fill,
            instead=f"{listed([one.id for one in dead])}, for which it waits, can never meet its condition any more",
            starts="no",
            only=True,
            do=never_satisfied(case, dead),
        )
    if blocked := [one for one in found if one.verdict == "blocked"]:
        return behind_a_hold(case, waits, blocked, fill)
    says = [waits, *if_it_fails(case, depends, found, one_is_enough), *(states(case, found))]
    sure = all(one.wanted in ("end", "start") for one in found)
    return WaitingNote(" ".join(says), fill, starts="yes" if sure else None)


def conditions(depends: str, found: Sequence[Parent]) -> str:
    """`71 and 72 to end with success and 73 to end, well or not`."""
    arrays = arrays_of(depends, found)
    kinds = dict.fromkeys(one.kind for one in found)
    told = []
    for kind in kinds:
        names = [f"every task of array {one.id}" if one.id in arrays else one.id for one in found if one.kind == kind]
        told.append(f"{listed(names)} {TO_DO[WANTED.get(kind, 'unknown')]}{SPECIAL.get(kind, '')}")
    return listed(told)


def arrays_of(depends: str, found: Sequence[Parent]) -> set[str]:
    """The parents that are arrays, of which every task counts."""
    return {*re.findall(r"(\d+)_\*", depends), *(one.id for one in found if one.tasks)}


def if_it_fails(case: WaitCase, depends: str, found: Sequence[Parent], one_is_enough: bool) -> list[str]:
    """What becomes of the job where the other one goes the wrong way."""
    end = {"flux": "is cancelled by Flux", "pbs": "is deleted by PBS"}.get(case.job.scheduler, "never starts")
    told = []
    arrays = arrays_of(depends, found)
    late = " or runs into its time limit" if case.job.scheduler != "flux" and len(found) == 1 else ""
    for wanted, verb in (("success", "fail"), ("failure", "end with success")):
        names = list(dict.fromkeys(one.id for one in found if one.wanted == wanted and one.verdict == "open"))
        if not names or one_is_enough:
            continue
        one = f"a task of {listed(names)}" if set(names) <= arrays else listed(names)
        verb = verb if len(names) > 1 else re.sub(r"^\w+", r"\g<0>s", verb)
        told.append(f"If {one} {verb}{late * (wanted == 'success')}, this one {end}.")
    return told


def states(case: WaitCase, found: Sequence[Parent]) -> list[str]:
    now = dict.fromkeys(
        tasks_now(one) if one.tasks else f"{one.id} is {told_state(one.job)}{time_left(case, one.job)}"
        for one in found
        if one.job
    )
    runs = any(one.job and one.job.phase == "running" for one in found)
    text = re.sub(r"^of array", "Of array", listed(list(now)))
    return [f"{text}.{' Then it still needs free nodes.' if runs else ''}"] if now else []


def tasks_now(parent: Parent) -> str:
    """`of array 71 tasks 3-9 are waiting itself (`Resources`), 1 and 2 are running now`."""
    by_state: dict[str, list[str]] = {}
    for job in parent.tasks:
        state = told_state(job).replace(" itself", "")
        by_state.setdefault(state, []).append(re.sub(r"^[^_\[]*_?\[?|(?:%\d+)?\].*$", "", job.id))
    each = [
        f"{listed(names, 8)} {'are' if len(names) > 1 or '-' in names[0] else 'is'} {state}"
        for state, names in by_state.items()
    ]
    return f"of array {parent.id} tasks {listed(each)}"


def why_dead(dead: Sequence[Parent]) -> str:
    """`71 failed (exit code 1:0)`; of a condition that wants a failure, that the job ended well."""
    told = []
    for one in dead:
        wants = f" where `{one.kind}` wants it {TO_DO[one.wanted]}" if one.wanted in ("failure", "start") else ""
        told.append(f"{one.job.id if one.job else one.id} {how_ended(one)}{wants}")
    return listed(list(dict.fromkeys(told)))


def behind_a_hold(case: WaitCase, waits: str, blocked: Sequence[Parent], fill: Mapping[str, str]) -> WaitingNote:
    """The other job is held, or asks for what it can never have: neither moves until somebody changes that one."""
    heads = {one.id: one.root or one.job for one in blocked}
    held = all(reason_of(job).reason.kind == "hold" for job in heads.values() if job)
    do: list[Step] = []
    told = []
    for one in blocked:
        job = heads[one.id]
        assert job is not None
        why = reason_of(job)
        values = known_values(job, why.named)
        state = "is itself held" if held else "can itself never start as it is"
        behind = f"{one.id} waits in turn, and at the head of that chain stands {job.id}, which" if one.root else job.id
        said = "" if one.root else f": {filled(why.reason.says, values)}"
        told.append(f"{behind} {state} (`{job.reason.split(',')[0]}`){said}")
        theirs = job.user if job.user and case.job.user and not alike(job.user, case.job.user) else ""
        if theirs:
            do.append(Step(f"{job.id} is a job of {theirs}: only {theirs} or staff can change it, ask there"))
        for remedy in () if theirs else why.reason.do:
            text = f"{job.id}: {filled(remedy.text, values)}"
            do.append(Step(text, filled(remedy.command, values)))
    names = listed(list(dict.fromkeys(job.id for job in heads.values() if job)))
    says = f"{waits} {'; '.join(told)}."
    free = (
        "is held itself: neither moves until {} is released"
        if held
        else "can itself never start as it is: change {} first"
    )
    through = "in the end for " if any(one.root for one in blocked) else ""
    instead = f"it waits {through or 'for '}{names}, which {free.format(names)}"
    return WaitingNote(says, fill, instead=instead, do=tuple(do), only=True, starts=None if held else "no")


def never(case: WaitCase, found: Sequence[Parent], fill: Mapping[str, str]) -> WaitingNote:
    """The scheduler says that the condition can never be met: which job, and by what."""
    dead = [one for one in found if one.verdict == "dead"]
    if not dead:
        return WaitingNote(
            f"It names {listed([one.id for one in found])}.", fill, do=never_satisfied(case, found), only=True
        )
    unwanted = [one for one in dead if one.wanted == "failure"]
    if not unwanted:
        codes = [exit_note(one.job) for one in dead if one.job and one.job.scheduler != "slurm"]
        codes = [f"{one} LSF sends USR2 at the run limit (`-W`)." if "USR2" in one else one for one in codes]
        return WaitingNote(" ".join([f"{why_dead(dead)}.", *codes]), fill, do=never_satisfied(case, dead), only=True)
    names = listed([one.id for one in unwanted])
    instead = f"`{unwanted[0].kind}` lets it run only if {names} fails, and {why_dead(unwanted)}"
    says = f"That is as meant for a job that cleans up after a failure: {names} did not fail, so it is not needed."
    return WaitingNote(says, fill, instead=instead.split(" where ")[0], do=never_satisfied(case, dead), only=True)


SINGLETON_LINE = re.compile(r"#SBATCH[^\n]*singleton")


def twins(case: WaitCase) -> WaitingNote:
    """A singleton: the jobs of the same name and user before it."""
    name = case.job.name
    same = [
        job for job in case.others if job.phase in ("running", "ending", "waiting") and name and alike(job.name, name)
    ]
    same = [job for job in same if job.user in ("", case.job.user)]
    run = [job for job in same if job.phase != "waiting"] or same
    of_script = request_of(case).get("time") if SINGLETON_LINE.search(case.text) else None  # both are of that script
    run = [replace(job, limit=job.limit or of_script) for job in run]
    who = f" {listed([running_job(job) for job in run])} has that name." if run else ""
    plain = job_name[0] if (job_name := re.fullmatch(r"[\w.-]+", name)) and case.job.scheduler == "slurm" else ""
    other = f"scontrol update jobid=<JOBID> JobName={plain}-2" if plain else ""
    called = f"is called {name}" if name else "has its name"
    return WaitingNote(
        f"Not for ever: it waits until no other job of yours {called}, however that ends.{who}",
        {"PARENTS": ",".join(job.id for job in run)},
        instead="singleton: one job of a name and user at a time",
        starts="yes",
        do=(Step("nothing; another job name, where both may run at once", other),),
        only=True,
    )


def told_otherwise(case: WaitCase) -> WaitingNote | None:
    """The condition is not printed: a number in the person's words, or a job of the paste that failed."""
    failed = [job for job in case.others if job.phase == "ended" and not ended_well(job) and "." not in job.id]
    if (spoken := other_ids(case)) and not failed:
        said = told_in_words(case)
        told = [
            f"{one} {how_ended(Parent(one, 'afterok', said[one]))}"
            for one in spoken
            if one in said and said[one].phase == "ended"
        ]
        ended = told or re.search(r"(?i)\b(failed|cancelled|canceled|timeout|out_of_memory|node_fail)\b", case.words)
        never_so = " If that one failed and the condition is afterok, this one never starts." if ended else ""
        return WaitingNote(f"As you say it, it waits for {listed(spoken)}.{never_so}", {"PARENTS": ",".join(spoken)})
    if not failed or case.found.reason.starts != "no":
        return None
    states = listed(
        [f"{job.id}{f' ({job.name})' if job.name else ''} {how_ended(Parent('', '', job))}" for job in failed]
    )
    success = ", which is no success" if len(failed) == 1 and ended_state(failed[0]) != "FAILED" else ""
    says = f"In what you pasted {states}{success}: that is the one it waits for, as far as can be seen."
    return WaitingNote(says, {"PARENTS": ",".join(job.id for job in failed)})


def other_ids(case: WaitCase) -> list[str]:
    """Numbers in the person's sentences that are as long as this job's id, and not it."""
    found = re.findall(r"(?<![\w.:/=-])\d{3,}(?![\w:/-])", spoken_lines(case.words))
    own = re.split(r"[_\[]", case.job.id)[0]
    return [one for one in dict.fromkeys(found) if one != own and (len(one) == len(own) or (not own and len(one) > 3))]


def never_satisfied(case: WaitCase, dead: Sequence[Parent]) -> tuple[Step, ...]:
    """What helps where the condition can never be met any more; Flux cancels such a job by itself."""
    if case.job.scheduler == "flux":
        return (Step("mend that one and submit both again: Flux cancels this one by itself"),)
    if case.job.scheduler == "slurm" and all(one.wanted == "failure" for one in dead):
        out = Step("take it out of the queue, where it stays otherwise: it is not needed", "scancel <JOBID>")
        return out, Step("next time Slurm takes such a job out by itself, with", "--kill-on-invalid-dep=yes")
    if case.job.scheduler == "pbs":
        drop = Step("drop the dependency, if it can run without the parent's result", 'qalter -W depend="" <JOBID>')
        return drop, Step("or run the parent again, and submit this one anew behind it", "qdel <JOBID>")
    said = {"slurm": "DependencyNeverSatisfied", "lsf": "Dependency condition invalid or never satisfied"}
    found = find_reason(case.job.scheduler, said.get(case.job.scheduler, ""))
    do = found.reason.do if found and case.job.scheduler in said else case.found.reason.do
    kind = dead[0].kind or "afterok"
    kept = kept_conditions(case, dead)
    return tuple(with_kept(one, kind, kept) for one in do)


def kept_conditions(case: WaitCase, dead: Sequence[Parent]) -> list[str]:
    """`afterok:7712045`: what Slurm's condition wants of the other parents, which stays; those of `?` need no more."""
    depends = depends_told(case)
    if case.job.scheduler != "slurm" or "?" in depends:
        return []
    gone = {one.id for one in dead}
    left = ((kind, [name for name in names if name not in gone]) for kind, names, _ in dependency_clauses(depends))
    return [":".join([kind, *names]) for kind, names in left if names]


def with_kept(remedy: Step, kind: str, kept: Sequence[str]) -> Step:
    """The remedy for the parent that is dead, with the other parents still in its command."""
    command = remedy.command.replace("afterok:", f"{kind}:")
    if not kept or "Dependency=" not in command:
        return Step(remedy.text, command)
    joint = "" if command.endswith("=") else ","
    text = remedy.text.replace("drop the dependency", "drop this dependency")
    return Step(text, f"{command}{joint}{','.join(kept)}")


def how_ended(parent: Parent) -> str:
    """`failed (exit code 1:0, after 3 min 12 s)`; of one that waits itself that it can never start."""
    job = parent.job
    if job is None or job.phase not in ("ended", "waiting"):
        failed = "failed or was cancelled" if parent.wanted in ("success", "unknown") else "is over"
        return f"{failed} (Slurm marks the condition as failed)" if parent.marked else "has failed"
    if job.phase == "waiting":
        return f"can itself never start (`{job.reason.split(',')[0]}`)"
    parts = [f"exit code {job.exit_code}"] if job.exit_code else []
    parts += [f"after {spoken_time(job.elapsed)}"] if job.elapsed else []
    state = ended_state(job)
    word = "failed" if state == "FAILED" else f"ended as {state}"
    return word + (f" ({', '.join(parts)})" if parts else "")


def tells_how(job: QueuedJob) -> bool:
    """Whether its state says how it ended: PBS's F and Flux's I only say that it is over."""
    if job.scheduler == "pbs":
        return bool(job.exit_code)
    return job.state.upper() not in ("I", "INACTIVE", "ZOMBI", "UNKWN")


def ended_well(job: QueuedJob) -> bool:
    """By the state where it tells how: a TIMEOUT has exit code 0:0 too."""
    if job.scheduler == "slurm":
        return state_name(job.state) == "COMPLETED"
    return job.state in ("DONE", "CD", "COMPLETED") or job.exit_code == "0"


def time_left(case: WaitCase, job: QueuedJob) -> str:
    """How long a running job may still take: from its limit, else the command that tells it."""
    if job.phase != "running":
        return ""
    if (left := time_to_end(job)) is not None:
        return f", for {spoken_time(left)} at most{until(case, left)}"
    return f", at most as long as `squeue -j {job.id} -h -o %L` prints" if job.scheduler == "slurm" else ""


def told_state(job: QueuedJob) -> str:
    """`running now`, `waiting itself (Resources)`."""
    if job.phase == "waiting":
        return f"waiting itself{f' (`{job.reason}`)' if job.reason else ' now'}"
    if job.phase == "ended":
        how = {"pbs": f"`qstat -xf {job.id} | grep Exit_status` tells how it ended"}.get(job.scheduler, "")
        return f"over ({ended_state(job)})" if tells_how(job) else f"over{f' ({how})' if how else ''}"
    return f"{job.phase if job.phase in ('running', 'ending', 'suspended') else job.state} now"
