"""A budget beside the request: size x time, what is left of it, and the time that fits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.waiting.amounts import gpus_each, held_by, noun_of, request_of, spoken_amount
from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.limit_tables import LimitSeen
from graph.waiting.limits_said import each_said
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers.reason_types import Starts
from knowledge.schedulers.times import asked_time, spoken_time

LESS: Mapping[tuple[str, str], str] = {
    (name, of): command for name, each in tables()["less"].items() for of, command in each.items()
}
# A limit without what is used of it tells nothing of what is left.
UNUSED = {"minutes": "what is used of it is not shown", "run-minutes": "what running jobs take of it is not shown"}


def budget_note(case: WaitCase, limit: LimitSeen, asked: float | None) -> WaitingNote:
    """Size x time beside what is left of a budget (or of what running jobs may have together still to run)."""
    if is_spent(limit):
        return spent(case, limit)
    if asked is None:
        return left_alone(limit)
    return enough(case, limit, asked) if asked <= left_of(limit) else too_little(case, limit, asked)


def is_spent(limit: LimitSeen) -> bool:
    """Whether all of a budget is used; of what running jobs may still take, it comes back by itself."""
    return limit.counts == "minutes" and limit.per != "job" and limit.left == 0


def spent(case: WaitCase, limit: LimitSeen) -> WaitingNote:
    """Nothing is left: no size and no time fits, so neither is advised."""
    scale = scale_of(limit)
    numbers = f"{limit.used:,.0f} of {limit.most:,.0f} minutes ({whole(limit.most / scale)} {unit_of(limit.of)})"
    says = f"Used are {numbers}: " if limit.used and scale == 60 else ""
    says += "no shorter or smaller job fits; it starts only when the budget is renewed or raised, or charged elsewhere."
    command = "scontrol update jobid=<JOBID> Account=<OTHER_ACCOUNT>" if case.job.scheduler == "slurm" else ""
    other = Step("charge it to another account, if you have one", command)
    return WaitingNote(
        f"{says[0].upper()}{says[1:]}", instead="the time budget of the account is used up", do=(other,), only=True
    )


def is_in_all(limit: LimitSeen) -> bool:
    """Whether only the whole of it is printed, and not what is used."""
    return limit.left is None and limit.per != "job"


def of_all(limit: LimitSeen) -> str:
    return f" of {whole(limit.most / scale_of(limit))}" if limit.used else ""


def left_alone(limit: LimitSeen) -> WaitingNote:
    """What is left, where the request is not told."""
    left, unit = whole(left_of(limit) / scale_of(limit)), unit_of(limit.of)
    if is_in_all(limit):
        name = "budget" if limit.counts == "minutes" else "limit"
        return WaitingNote(f"The {name} is {left} {unit} in all; {UNUSED[limit.counts]}.")
    return WaitingNote(f"By what is printed {left}{of_all(limit)} {unit} are left.")


def enough(case: WaitCase, limit: LimitSeen, asked: float) -> WaitingNote:
    """It fits what is left, or what is allowed in all."""
    says, left = size_by_time(case, limit, asked), whole(left_of(limit) / scale_of(limit))
    if limit.unit_unread:
        return WaitingNote(f"{says}; {left} hours are told as left: enough, if they are {unit_of(limit.of)}.")
    allowed = "is what one job may have at most" if limit.per == "job" else "are left"
    allowed = f"are allowed in all, and {UNUSED[limit.counts]}" if is_in_all(limit) else allowed
    # Alone it fits: it is the others' that has to shrink.
    starts: Starts | None = "yes" if limit.counts == "run-minutes" and limit.per != "job" else None
    return WaitingNote(f"{says}; {left}{of_all(limit)} {allowed}.", starts=starts, sure=bool(starts))


def too_little(case: WaitCase, limit: LimitSeen, asked: float) -> WaitingNote:
    """More than is left: by how much, and what fits."""
    says, scale, left = size_by_time(case, limit, asked), scale_of(limit), left_of(limit)
    fit = left / scale / (1 if limit.of == "time" else request_of(case).get(limit.of, 1))
    if limit.per == "job":
        return above_minutes(case, limit, f"{says} ({asked:,.0f} minutes)", fit)
    do = (smaller(case, limit, fit),) if fit >= 0.25 else ()
    if limit.unit_unread:
        told = f"{says}; {whole(left / scale)} hours are told as left: too few, if they are {unit_of(limit.of)}."
        return WaitingNote(told, do=do)
    minutes = f" ({left:,.0f} minutes)" if counts_minutes(case, limit) else ""
    most = f"{says}, more than the {whole(left / scale)}{of_all(limit)} that are left{minutes}"
    short = f"{most} ({whole((asked - left) / scale)} short)"
    if limit.counts == "run-minutes":
        return too_much_to_run(case, limit, asked, f"{says}", short, do)
    held = case.found.reason.kind == "limit-budget"
    end = ": as it is it never starts, until the allocation is filled up" if held else ""
    return WaitingNote(f"{short}{end}.", do=do, only=bool(do))


def too_much_to_run(
    case: WaitCase, limit: LimitSeen, asked: float, says: str, short: str, do: tuple[Step, ...]
) -> WaitingNote:
    """More than running jobs leave of a limit on time still to run: for now, or alone more than all of it."""
    if asked <= limit.most:
        jobs, each = each_said(case, limit.of)
        over = (asked - left_of(limit)) * 60
        rate = (
            f", by {jobs * each:,.0f} minutes in each minute: about {spoken_time(over / jobs / each)}" if jobs else ""
        )
        rate += " until it fits" if jobs else ""
        return WaitingNote(f"{short}; that shrinks by itself as they run on{rate}.", do=do, starts="yes", sure=True)
    most = whole(limit.most / scale_of(limit))
    alone = f"alone it asks for more {noun_of(limit.of)} x time than all jobs that count may have together"
    return WaitingNote(
        f"{says}, more than the {most} that are allowed in all, whatever runs now.",
        do=do,
        starts="no",
        sure=True,
        instead=alone,
    )


def size_by_time(case: WaitCase, limit: LimitSeen, asked: float) -> str:
    """`2 nodes x 4 GPUs x 24 h = 192 GPU hours`."""
    of, request = limit.of, request_of(case)
    nodes, size, hours = request.get("node", 1), request.get(of, 1), request.get("time", 0) / 3600
    each = f" x {size / nodes:g} {noun_of(of)}" if of not in ("node", "time") else ""
    says = f"{spoken_amount('node', nodes)}{each} x {hours:g} h = {whole(asked / scale_of(limit))} {unit_of(of)}"
    whole_nodes = of == "gpu" and "gpu" not in held_by(case.job) and not gpus_each(case)
    return f"{says} (if it takes all GPUs of its nodes)" if whole_nodes else says


def scale_of(limit: LimitSeen) -> int:
    """What makes hours of it: limits count minutes, of time alone seconds."""
    return 3600 if limit.of == "time" else 60


def unit_of(of: str) -> str:
    return "hours" if of == "time" else f"{noun_of(of).removesuffix('s')} hours"


def left_of(limit: LimitSeen) -> float:
    return limit.most if limit.left is None else limit.left


def counts_minutes(case: WaitCase, limit: LimitSeen) -> bool:
    """Whether the person reckons in the scheduler's minutes."""
    return limit.of != "time" and bool(re.search(r"(?i)\bmin(?:ute)?", case.words))


def smaller(case: WaitCase, limit: LimitSeen, hours: float) -> Step:
    """The time that fits this size, or less of what is counted."""
    nodes = request_of(case).get("node", 1)
    fewer = "fewer nodes" if nodes > 1 or limit.of in ("node", "time") else f"fewer {noun_of(limit.of)}"
    # The whole time on so many nodes.
    fit = int(nodes * hours * 3600 / time) if (time := request_of(case).get("time")) else 0
    fewer = f"at most {spoken_amount('node', fit)}" if nodes > 1 and fit else fewer
    least = int(request_of(case).get(limit.of, 0) * hours * 3600 / time) if nodes == 1 and time else 0
    fewer = f"at most {spoken_amount(limit.of, least)} for the whole time" if least and limit.of != "node" else fewer
    sure = f"if those are {unit_of(limit.of)}: " if limit.unit_unread else ""
    text = f"{sure}with {spoken_amount('node', nodes)} ask for at most {in_quarters(hours) / 3600:g} h, or take {fewer}"
    return Step(text, shorter(case, hours))


def in_quarters(hours: float) -> int:
    """The seconds of so many hours, in whole hours or where those are few in quarters of one."""
    return int(hours) * 3600 if hours >= 10 else int(hours * 4) * 900


def shorter(case: WaitCase, hours: float) -> str:
    """The command that sets a time of so many hours; empty where none is known."""
    time = asked_time(case.job.scheduler, in_quarters(hours))
    return LESS[case.job.scheduler, "time"].format(time) if case.job.id.strip() else ""


def above_minutes(case: WaitCase, limit: LimitSeen, says: str, hours: float) -> WaitingNote:
    """Size x time of this one job above what one job may have: the time that fits this size."""
    place = case.found.limit.set_on if case.found.limit else "account"
    most = f"{whole(limit.most / 60)} ({limit.most:,.0f} minutes)"
    text = f"with this size ask for at most {in_quarters(hours) / 3600:g} h, or take a smaller size"
    do = Step(text, shorter(case, hours))
    says = f"{says}; the {'QOS' if place == 'qos' else place} allows one job {most}."
    return WaitingNote(says, starts="no", do=(do,) if hours >= 0.25 else (), only=hours >= 0.25)


def whole(value: float) -> str:
    """`100,000`, `14.7`: a number of hours without needless digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
