"""A budget beside the request: size x time, what is left of it, and the time that fits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graph.waiting.amounts import gpus_each, held_by, noun_of, request_of, spoken_amount
from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.limit_tables import LimitSeen
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers.times import asked_time

LESS_TIME: Mapping[str, str] = {name: each["time"] for name, each in tables()["less"].items()}
# A limit without what is used of it tells nothing of what is left.
UNUSED = {"minutes": "what is used of it is not shown", "run-minutes": "what running jobs take of it is not shown"}


def budget_note(case: WaitCase, limit: LimitSeen, asked: float | None) -> WaitingNote:
    """Size x time beside what is left of a budget (or of what running jobs may have together still to run)."""
    in_all = limit.left is None and limit.per != "job"
    scale, unit = scale_of(limit), unit_of(limit.of)
    left, of_all = left_of(limit), f" of {whole(limit.most / scale)}" if limit.used else ""
    if asked is None and in_all:
        name = "budget is" if limit.counts == "minutes" else "limit is"
        return WaitingNote(f"The {name} {whole(left / scale)} {unit} in all; {UNUSED[limit.counts]}.")
    if asked is None:
        return WaitingNote(f"By what is printed {whole(left / scale)}{of_all} {unit} are left.")
    says = size_by_time(case, limit, asked)
    if limit.unit_unread and asked <= left:
        return WaitingNote(f"{says}; {whole(left / scale)} hours are told as left: enough, if they are {unit}.")
    if asked <= left:
        allowed = "is what one job may have at most" if limit.per == "job" else "are left"
        allowed = f"are allowed in all, and {UNUSED[limit.counts]}" if in_all else allowed
        # Alone it fits: it is the others' that has to shrink.
        starts = "yes" if limit.counts == "run-minutes" and limit.per != "job" else None
        return WaitingNote(f"{says}; {whole(left / scale)}{of_all} {allowed}.", starts=starts, sure=bool(starts))
    fit = left / scale / (1 if limit.of == "time" else request_of(case).get(limit.of, 1))
    if limit.per == "job":
        return above_minutes(case, limit, f"{says} ({asked:,.0f} minutes)", fit)
    do = (smaller(case, limit, fit),) if fit >= 0.25 else ()
    if limit.unit_unread:
        says = f"{says}; {whole(left / scale)} hours are told as left: too few, if they are {unit}."
        return WaitingNote(says, do=do)
    minutes = f" ({left:,.0f} minutes)" if counts_minutes(case, limit) else ""
    short = f"{says}, more than the {whole(left / scale)}{of_all} that are left{minutes} ({{}} short)".format(
        whole((asked - left) / scale)
    )
    if limit.counts == "run-minutes":
        return too_much_to_run(limit, asked, says, short, do)
    held = case.found.reason.kind == "limit-budget"
    end = ": as it is it never starts, until the allocation is filled up" if held else ""
    return WaitingNote(f"{short}{end}.", do=do, only=bool(do))


def too_much_to_run(limit: LimitSeen, asked: float, says: str, short: str, do: tuple[Step, ...]) -> WaitingNote:
    """More than running jobs leave of a limit on time still to run: for now, or alone more than all of it."""
    if asked <= limit.most:
        return WaitingNote(f"{short}; that shrinks by itself as they run on.", do=do, starts="yes", sure=True)
    most = whole(limit.most / scale_of(limit))
    return WaitingNote(f"{says}: alone more than the {most} that are allowed in all.", do=do, starts="no", sure=True)


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
    sure = f"if those are {unit_of(limit.of)}: " if limit.unit_unread else ""
    text = f"{sure}with {spoken_amount('node', nodes)} ask for at most {int(hours * 4) / 4:g} h, or take {fewer}"
    return Step(text, shorter(case, hours))


def shorter(case: WaitCase, hours: float) -> str:
    """The command that sets a time of so many hours, in quarters of one; empty where none is known."""
    seconds = int(hours) * 3600 if hours >= 10 else int(hours * 4) * 900
    time = asked_time(case.job.scheduler, seconds)
    return LESS_TIME[case.job.scheduler].format(time) if case.job.id.strip() else ""


def above_minutes(case: WaitCase, limit: LimitSeen, says: str, hours: float) -> WaitingNote:
    """Size x time of this one job above what one job may have: the time that fits this size."""
    place = case.found.limit.set_on if case.found.limit else "account"
    most = f"{whole(limit.most / 60)} ({limit.most:,.0f} minutes)"
    text = f"with this size ask for at most {int(hours * 4) / 4:g} h, or take a smaller size"
    do = Step(text, shorter(case, hours))
    says = f"{says}; the {'QOS' if place == 'qos' else place} allows one job {most}."
    return WaitingNote(says, starts="no", do=(do,) if hours >= 0.25 else (), only=hours >= 0.25)


def whole(value: float) -> str:
    """`100,000`, `14.7`: a number of hours without needless digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
