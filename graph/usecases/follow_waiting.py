"""A question that goes on from a waiting job: who, how much, when, which first, what if; out of what was pasted there.

What the paste does not hold is said, with the one command that shows it (followups.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from graph.answering.job_values import called_in_short
from graph.conversing.said import in_digits
from graph.usecases.explain_pending import cases_of
from graph.waiting import case as cases
from graph.waiting.amounts import bare_amount, on_one_node, request_of, spoken_amount
from graph.waiting.budgets import LESS
from graph.waiting.case import WaitCase, WaitingNote, parent_ids
from graph.waiting.evidence import good_answers, notes_of
from graph.waiting.limit_sum import limit_sum
from graph.waiting.limit_tables import LimitSeen
from graph.waiting.limits_said import AMOUNT, UNITS, read
from graph.waiting.limits_seen import in_hours, maintenance_begins
from graph.waiting.limits_told import held_together, limits_meant, spoken_of
from graph.waiting.meant import named_by
from graph.waiting.nodes_seen import FREE, node_counts
from graph.waiting.others_seen import in_order
from graph.waiting.parents_seen import WANTED, condition_of, dependency_clauses
from graph.waiting.spoken import listed
from knowledge.cluster import Cluster
from knowledge.data_file import read_data
from knowledge.document import Document, Paragraph, Step, Steps
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import asked_time

MOST_WORDS = 30
# Parts of a message that may each speak of another job.
PARTS = re.compile(r"[,;.?!\n]\s|\s(?:and|und|et|y|e|och)\s")
PATH = Path(cases.__file__).with_name("followups.yaml")


@cache
def data() -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_data(PATH)
    return found


@dataclass(frozen=True, slots=True)
class FollowUp:
    """An answer, and a command that does it or shows what is not known here."""

    text: str = ""
    command: str = ""
    does: str = ""


def follow_waiting(text: str, words: str, machine: Cluster | None = None) -> Document | None:
    """The answer from what was pasted before; None where the words ask nothing of it."""
    if len(words.split()) > MOST_WORDS:
        return None
    cases, words = cases_of(text, machine=machine)[0], in_digits(words)
    named = next((one for one in cases if meant_by([one.job], words)), None)
    case = named or cases[0]
    told = [said for name, answer in ANSWERS if (said := answer(case, words) if asks(name, words) else None)]
    told = told[:1] if told and told[0].text.startswith("**") else told
    if len(told) == 1 and asks("when", words) and told[0] == when(case, words) and not named:
        more = [(one.job.id, said) for one in cases[1:] if (said := when(one, words))]
        told += [replace(said, text=f"{job}: {said.text}" if said.text != told[0].text else "") for job, said in more]
    if not told:
        return None
    says = dict.fromkeys(one.text for one in told if one.text)
    steps = dict.fromkeys(Step(one.does, one.command) for one in told if one.command)
    return Document((Paragraph(" ".join(says)), *((Steps(tuple(steps)),) if steps else ())))


def asks(name: str, words: str) -> bool:
    return bool(re.search(data()["asks"][name], words))


def case_of(text: str, machine: Cluster | None) -> WaitCase:
    """The job that was told of first, with what was pasted beside it."""
    return cases_of(text, machine=machine)[0][0]


def filled_in(template: str, case: WaitCase) -> str:
    """A command with the job's own number and place; empty where the paste does not tell one that it needs."""
    values = {"job": case.job.id.strip(), "queue": case.job.queue}
    if any(f"{{{name}}}" in template and not value for name, value in values.items()):
        return ""
    name = case.found.named.get("name", "")
    return re.sub(r"\{(\w+)\}", lambda m: {**values, "name": f" -n {name}" if name else ""}.get(m[1], ""), template)


def say(name: str, **values: object) -> str:
    text: str = data()["says"][name]
    return text.format(**values)


def cancelled(case: WaitCase, words: str) -> FollowUp | None:
    """What becomes of the limit, of those that wait for it and of itself when a job is cancelled."""
    jobs = [case.job, *case.others]
    part = next((one for one in PARTS.split(words) if asks("cancel", one)), words)
    job = next(iter(named_in(jobs, part) or meant_by(jobs, words)), None)
    if job is None:
        return None
    said = [freed_by(case, job), *(set_free(case, job, other) for other in jobs)]
    if job.phase in ("running", "suspended"):
        said.append(say("lost", job=job.name or job.id))
    elif job.phase == "waiting":
        said.append(say("not-run", job=job.id))
    command = f"{data()['cancel'][case.job.scheduler]} {job.id}"
    if kept := repointed(job, jobs):
        return FollowUp(" ".join(filter(None, said)), kept, f"before that, if this is not wanted (then `{command}`)")
    return FollowUp(" ".join(filter(None, said)), command, "it is yours to run") if any(said) else None


def freed_by(case: WaitCase, job: QueuedJob) -> str:
    """What its end gives back of the limit, and whether that is enough."""
    sums = limit_sum(case)
    short = sums.short_without([job.id])
    frees = next((one.amount for one in sums.holders if one.job.id == job.id), None)
    if short is None or frees is None or sums.limit is None or sums.used is None:
        return ""
    used, asked = sums.used - frees, short + sums.limit.most - sums.used + frees
    parts = [bare_amount(sums.of, value) for value in (used, asked, used + asked, sums.limit.most)]
    gives = f"cancelling {job.id} frees {spoken_amount(sums.of, frees)}: {'{} + {} = {} of {}'.format(*parts)}"
    over = bare_amount(sums.of, short)
    return say("cancel-enough" if short <= 0 else "cancel-short", gives=gives, job=case.job.id, short=over)


def named_in(jobs: Sequence[QueuedJob], words: str) -> list[QueuedJob]:
    """The jobs that the words name: by number or name, by their place in the list, as the one that runs."""
    if named := meant_by(jobs, words) or called_in_short(words, jobs):
        return named
    running = [job for job in jobs if job.phase == "running"]
    ordered = sorted(jobs, key=lambda job: job.id)
    at = next((place for place in ("middle", "first", "second", "last") if asks(place, words)), "")
    if at and len(jobs) > 1:
        return [ordered[{"middle": len(jobs) // 2, "first": 0, "second": 1, "last": -1}[at]]]
    if len(jobs) == 2 and asks("other", words):  # of more than two any may be the other
        return [jobs[1]]
    return running if len(running) == 1 and asks("running", words) else []


def meant_by(jobs: Sequence[QueuedJob], words: str) -> list[QueuedJob]:
    """The jobs whose number or name stands in the words."""
    return named_by(jobs, words, "id") or named_by(jobs, words, "name")


def set_free(case: WaitCase, job: QueuedJob, other: QueuedJob) -> str:
    """What a job that waits for the cancelled one does then."""
    for kind, names, _ in dependency_clauses(condition_of(other)):
        if job.id in names and other.phase == "waiting":
            end = {"flux": "is cancelled by Flux", "pbs": "is deleted by PBS"}.get(case.job.scheduler, "never starts")
            rest = [one for one in dict.fromkeys(parent_ids(condition_of(other))) if one != job.id]
            early = f", even before {listed(own)} has run" if (own := parent_ids(condition_of(job))) else ""
            wanted = WANTED.get(kind, "unknown")
            name = "success" if wanted in ("success", "start", "unknown") else "other" if rest else "free"
            values = {"end": end, "rest": listed(rest), "early": early}
            return say(f"cancel-{name}", other=other.id, job=job.id, kind=kind, **values)
    return ""


def repointed(job: QueuedJob, jobs: Sequence[QueuedJob]) -> str:
    """The command that lets one behind the cancelled job wait for what that one waited for."""
    behind = next((other for other in jobs if job.id in parent_ids(condition_of(other))), None)
    before = parent_ids(condition_of(job))
    if behind is None or not before or job.scheduler != "slurm":
        return ""
    kind = dependency_clauses(condition_of(behind))[0][0]
    return f"scontrol update jobid={behind.id} Dependency={kind}:{':'.join(before)}"


def left_alone(case: WaitCase, words: str) -> FollowUp:
    """Whether it starts when nothing is done, and when."""
    notes, starts = judged(case)
    if starts == "no":
        return FollowUp(say("leave-never"))
    after = " after the maintenance" if case.found.reason.kind == "node" and maintenance_begins(case) else ""
    name = "leave-depends" if starts == "depends" else "leave"
    return FollowUp(f"{say(name, why=case.found.reason.says, after=after)} {planned(notes)}".strip())


def judged(case: WaitCase) -> tuple[list[WaitingNote], str]:
    notes = notes_of(case)
    return notes, next((note.starts for note in notes if note.starts), case.found.reason.starts)


def planned(notes: Sequence[WaitingNote], part: str = "estimate") -> str:
    return " ".join(note.says for note in notes if note.part == part and note.says)


def when(case: WaitCase, words: str) -> FollowUp | None:
    """By the plan, by the end of those that hold it or that it waits for; else what would tell."""
    notes, starts = judged(case)
    if case.found.reason.kind in ("not-waiting", "ended", "no-job", "client-error") or not case.job.id:
        return None
    if starts == "no":
        return FollowUp(say("never", why=case.found.reason.says))
    sums = limit_sum(case) if case.found.reason.kind == "limit-aggregate" else None
    by_limit = sums.at_the_latest().strip() if sums else ""
    if told := " ".join(filter(None, (by_limit, planned(notes), planned(notes, "parents")))):
        return FollowUp(told)
    if sums and sums.holders:
        left = filled_in(data()["left"][case.job.scheduler], case)
        return FollowUp(f"{sums.when().strip()} {say('then-free')}", left, "shows how long each may still run at most")
    if case.found.reason.kind == "dependency":
        return FollowUp(say("after-parent"))
    nothing = ", N/A where it has not planned it yet" if case.job.scheduler == "slurm" else ""
    return FollowUp(say("not-known"), estimate_of(case), f"prints the estimate{nothing}")


def estimate_of(case: WaitCase) -> str:
    return good_answers().commands["estimate"][case.job.scheduler].replace("<JOBID>", case.job.id.strip())


def whose_limit(case: WaitCase, words: str) -> FollowUp | None:
    """Whether it counts one user, an account, or everybody."""
    reason, limit = case.found.reason, case.found.limit
    whose = limit.whose if limit else reason.whose
    if not reason.kind.startswith("limit") or whose == "node":
        return None
    if not whose:
        on = f" ({named})" if (named := case.found.named.get("on")) else ""
        command = filled_in(data()["whose_command"][case.job.scheduler], case)
        return FollowUp(say("not-told", on=on), command, "shows it")
    names = {name: f" {value.rstrip('+')}" if (value := getattr(case.job, name)) else "" for name in PLACES}
    on = f" in the QOS{names['qos']}" if limit and limit.set_on == "qos" else ""
    return FollowUp("**{}**:{}".format(*data()["whose"][whose].format(on=on, **names).split(":", 1)))


PLACES = ("account", "qos", "queue")


def holders(case: WaitCase, words: str) -> FollowUp | None:
    """The running jobs that count, by person; else the command that lists them."""
    reason, limit, sums = case.found.reason, case.found.limit, limit_sum(case)
    if reason.kind not in ("limit-aggregate", "limit-budget", "wait", "limit"):
        return None
    whose = limit.whose if limit else reason.whose
    if sums.holders and reason.kind == "limit-aggregate":
        return FollowUp(f"**{sums.holder_words(people=whose != 'user')}.** {sums.when()}")
    known = data()["holders"][case.job.scheduler]
    command = filled_in(known.get(whose) or known["any"], case)
    return FollowUp(say("not-seen"), command, "lists them, with what each holds")


def over(case: WaitCase, words: str) -> FollowUp | None:
    says = planned(notes_of(case), "limit")
    return FollowUp(says) if says else None


def priority(case: WaitCase, words: str) -> FollowUp:
    """What one can do for one's place; nothing of it helps against a limit that many share."""
    if case.found.reason.kind == "limit-aggregate":
        held = holders(case, words) or FollowUp()
        listed_by = held.command and FollowUp(held.text, held.command, "lists the jobs that count")
        return replace(
            listed_by or held, text=say("not-priority", word=case.found.reason.word or case.found.reason.says)
        )
    return FollowUp(data()["priority"][case.job.scheduler])


def first(case: WaitCase, words: str) -> FollowUp | None:
    says = in_order(case)
    return FollowUp(says) if says else None


def ahead(case: WaitCase, words: str) -> FollowUp | None:
    """Its place, by what was pasted."""
    if case.found.reason.of != "node":
        return None
    says = planned(notes_of(case), "place")
    command = filled_in(data()["ahead"][case.job.scheduler], case)
    return FollowUp(says) if says else FollowUp(say("not-seen"), command, "lists those before it")


def instead(case: WaitCase, words: str) -> FollowUp | None:
    """Another amount than is asked for: against the limit, the nodes that are free, the time that is left."""
    asked = {**request_of(case), **on_one_node(case)} if case.job.nodes == 1 else request_of(case)
    wanted = amounts_in(case, words, asked)
    if not wanted or case.found.reason.kind in ("ended", "not-waiting", "no-job", "hold", "dependency", "client-error"):
        return None
    if all(asked.get(of) == value for of, value in wanted.items()):
        return unchanged(case, wanted)
    if says := against_limit(case, wanted, asked):
        return FollowUp(says)
    makes = changed_to(case, *next(iter(wanted.items()))) if len(wanted) == 1 else ""
    if case.found.reason.kind.startswith("limit"):
        counts = spoken_of(case)[2] == "held" and list(wanted) == ["time"]
        command = filled_in(data()["whose_command"][case.job.scheduler], case)
        if counts:
            return FollowUp(say("time-not-counted"))
        does = "makes it in place, so it keeps its turn" if makes else "shows it"
        return FollowUp(say("limit-unknown"), makes or command, does)
    known = {of: value for of, value in wanted.items() if asked.get(of)}
    if known:
        return tried(case, known, asked)
    does = f"makes it in place, so it keeps its turn; then `{estimate_of(case)}`" if makes else "the estimate then"
    return FollowUp(say("size-unknown"), makes or estimate_of(case), does)


def changed_to(case: WaitCase, of: str, value: float) -> str:
    """The command that makes a waiting job ask for less of it; empty where there is none."""
    amount, job = asked_time(case.job.scheduler, value) if of == "time" else f"{value:g}", case.job.id.strip()
    return LESS.get((case.job.scheduler, of), "").format(amount).replace("<JOBID>", job) if job else ""


def amounts_in(case: WaitCase, words: str, asked: Mapping[str, float]) -> dict[str, float]:
    """`2 nodes`, `24h`, `800` (of what its limit or its node is short of), `half the time`."""
    half = re.search(data()["half"], words)
    if half and (part := next(name for name, said in half.groupdict().items() if said)) in asked:
        return {part: asked[part] / 2}
    found: dict[str, float] = {}
    words = re.sub(data()["single"], "1", re.sub(r"\b\d{5,}\b", " ", words))
    said = list(re.finditer(rf"(?i){AMOUNT}", words))
    for one in [each for each in said if any(each[unit] for unit in UNITS)] or said:
        bare = next((of for of in ("mem", "gpu", "cpu", "node") if as_printed(of, asked.get(of)) == one["n"]), "")
        name, value = read(one, bare or spoken_of(case)[0])
        if name == "mem" and not one["mem"]:  # a bare number: GB
            value = float(one["n"]) * 2**30
        if name and value:
            found.setdefault(name, value)
    return found


def as_printed(of: str, value: float | None) -> str:
    return "" if value is None else f"{value / 2**30:g}" if of == "mem" else f"{value:g}"


def unchanged(case: WaitCase, wanted: Mapping[str, float]) -> FollowUp | None:
    """It needs what it asks for: what is left to do then."""
    notes, starts = judged(case)
    of, value = next(iter(wanted.items()))
    limit = next((one for one in limits_meant(case) if one.of == of), None)
    if starts == "no":
        if of != "time" or limit is None:
            return None
        chain = data()["chain"][case.job.scheduler].format(asked_time(case.job.scheduler, limit.most))
        says = say("chain", parts=-(-int(value) // int(limit.most)), most=in_hours(limit.most))
        return FollowUp(says, chain, "the next one of the chain (FIRST: the number of the one before)")
    nodes = planned(notes, "nodes")
    only = nodes[nodes.find("Only") :] if "Only" in nodes else ""
    single = of in ("mem", "cpu", "gpu") and case.job.nodes == 1
    split = say("split", half=spoken_amount(of, value / 2)) if single else ""
    return FollowUp(say("as-it-is", only=only, planned=planned(notes), split=split))


def against_limit(case: WaitCase, wanted: Mapping[str, float], asked: Mapping[str, float]) -> str:
    """The other amount against the limit that holds the job; empty where no such limit was printed."""
    if not case.found.reason.kind.startswith("limit"):
        return ""
    scaled = {**asked, **wanted}
    for of in ("gpu", "cpu", "mem", "billing"):  # what a node brings along grows with their number
        if "node" in wanted and of in asked and of not in wanted:
            scaled[of] = asked[of] / asked.get("node", 1) * wanted["node"]
    said = (against(case, one, scaled[one.of]) for one in limits_meant(case) if scaled.get(one.of) != asked.get(one.of))
    return next(filter(None, said), "")


def against(case: WaitCase, limit: LimitSeen, value: float) -> str:
    of, most = limit.of, bare_amount(limit.of, limit.most)
    size = spoken_amount(of, value)
    if limit.counts == "minutes" and limit.left is not None and of != "time":
        hours, minutes = divmod(int(limit.left / value), 60)
        return say("minutes", size=size, hours=hours, minutes=minutes, left=limit.left, value=value)
    if limit.counts == "minimum" or (limit.counts == "held" and limit.per in ("job", "node")):
        fits = value >= limit.most if limit.counts == "minimum" else value <= limit.most
        return say("fits-limit" if fits else "over-limit", size=size, most=most)
    used = limit.used if limit.used is not None else held_together(case, limit)
    if used is None or limit.counts != "held":
        return ""
    total = f"{bare_amount(of, used)} in use + {bare_amount(of, value)} = {bare_amount(of, used + value)}"
    return say("fits-now" if used + value <= limit.most else "too-many", size=size, total=total, most=most)


def tried(case: WaitCase, wanted: Mapping[str, float], asked: Mapping[str, float]) -> FollowUp:
    """Where no limit decides: what a smaller or larger request is worth, and how to try it."""
    less = [of for of, value in wanted.items() if value < asked[of]]
    size = listed([spoken_amount(of, value) for of, value in wanted.items()])
    begins, of = maintenance_begins(case), next(iter(wanted))
    if "time" in wanted and begins and begins.left:
        name = "before" if wanted["time"] < begins.left else "into"
        return FollowUp(say(name, left=in_hours(begins.left), size=size))
    if not less:
        return FollowUp(say("more", size=size))
    idle = sum(node_counts(case).get(name, 0) for name in FREE)
    now = f" {idle} are idle now." if list(wanted) == ["node"] and idle >= wanted["node"] else ""
    text = say("less", size=size, now=now) if len(less) == len(wanted) else say("mixed")
    if case.job.scheduler == "flux" and "node" in wanted:
        return FollowUp(text + say("anew"), "flux queue list", "shows it")
    value = asked_time(case.job.scheduler, wanted[of]) if of == "time" else f"{wanted[of]:g}"
    test = data()["test"].get(of, "").format(value) if case.job.scheduler == "slurm" else ""
    text += say("test", command=test) if test else ""
    change = changed_to(case, of, wanted[of])
    done = f"makes it in place, so it keeps its turn; then `{estimate_of(case)}`"
    return FollowUp(text, change, done) if change else FollowUp(text)


ANSWERS: tuple[tuple[str, Callable[[WaitCase, str], FollowUp | None]], ...] = (
    ("cancel", cancelled), ("leave", left_alone), ("ahead", ahead), ("holds", holders), ("whose", whose_limit),
    ("instead", instead), ("first-of", first), ("pass", priority), ("priority", priority),
    ("over", over), ("when", when),
)  # fmt: skip
