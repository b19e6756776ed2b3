"""The numbers in a comment of PBS's scheduler: R asked, A free now, T in all."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from graph.waiting.amounts import request_of, resource_of, size, spoken_amount
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_tables import LimitSeen, limits_pasted
from graph.waiting.limits_seen import in_hours, shortened, since_when
from graph.waiting.moments_said import now_before
from graph.waiting.spoken import listed, moment_of, seen_at
from graph.waiting.windows_seen import windows
from knowledge.document import Step
from knowledge.schedulers.times import spoken_time

NUMBERS = re.compile(
    r"resource: (?P<res>\S+) \(\s*R: (?P<asked>[^)]*?) A: (?P<free>[^)]*?)(?: T: (?P<total>[^)]*?))?\)"
)


def shortage(case: WaitCase) -> WaitingNote | None:
    """What is short, by how much, and whether it can ever be had."""
    found = NUMBERS.search(case.job.reason)
    if case.found.reason.word not in ("insufficient-resource", "pool-used-up") or not found:
        return None
    resource, asked, free, total = found["res"], found["asked"], found["free"], found["total"] or ""
    wanted, has = size(asked, bare=1), size(total, bare=1)
    if resource.startswith("filesystems_"):
        return file_system(resource.removeprefix("filesystems_"), free, total)
    never = case.found.reason.starts == "no"
    has_free, short = size(free, bare=1), ""
    if wanted is not None and has_free is not None and wanted > has_free:
        short = f"{wanted - has_free:g}" if asked.isdigit() else f"{(wanted - has_free) / 2**30:.4g} GB"
    numbers = [("asked", asked), ("left", free), ("limit", total), ("short", short)]
    numbers = [(name, value) for name, value in numbers if value]
    facts = (Fact(resource_of(resource), parts=tuple(numbers)),)
    if never or (wanted is not None and has is not None and wanted > has > 0):
        return replace(never_fits(case, resource, asked, total), facts=facts)
    if pool := case.found.named.get("pool"):
        return WaitingNote(
            f"Of {resource} it asks for {asked}; the {pool} has {free} left now of {total or 'its pool'}.",
            starts="yes",
            facts=facts,
        )
    together = ""
    if wanted and size(free, bare=1) and wanted <= (size(free, bare=1) or 0):
        together = (
            " That free amount is counted over the machine: the nodes that one chunk needs may each have too little."
        )
        if parts := chunk_parts(case):
            together += f" One node has to have {parts} free at the same time; less of any of these fits sooner."
    says = (
        f"Of {resource} it asks for {asked} (R); {free} are free now (A){f', {short} too few' if short else ''}; "
        f"{total or 'an unknown number'} exist in all (T).{together}"
    )
    return WaitingNote(says, instead=f"not enough {resource} is free now", facts=facts)


def chunk_parts(case: WaitCase) -> str:
    """`60 ncpus, 2 ngpus and 480gb mem`: what one chunk asks of one node; empty where it asks for one thing only."""
    found = re.search(r"select *= *(\S+)", case.text)
    first = (found[1] if found else case.job.printed("Resource_List.select")).split("+")[0]
    parts = re.findall(r"(?<=:)(ncpus|ngpus|mem)=(\w+)", first)
    return listed([f"{value} {name}" for name, value in parts]) if len(parts) > 1 else ""


def never_fits(case: WaitCase, resource: str, asked: str, total: str) -> WaitingNote:
    """More than there is: of one chunk beside a node, or of the whole job beside the machine, as its select tells."""
    select = re.search(r"select=([^\s,]+)|select = (\S+)", case.text)
    shape = next((part for part in select.groups() if part), "") if select else case.job.printed("Resource_List.select")
    pool = case.found.named.get("pool")
    one = not pool and (
        (not shape and case.job.nodes == 1) or bool(re.search(rf"\b{re.escape(resource)}={asked}\b", shape))
    )
    most = f"{total} {resource}" if total else f"less {resource}"
    if one:
        smaller = re.sub(rf"\b{re.escape(resource)}=\w+", f"{resource}={total}", shape) if total else shape
        do = Step(f"ask for at most {most} a chunk and submit again", f"#PBS -l select={smaller}" if smaller else "")
        says = f"Each chunk asks for {asked} {resource}, and no node that it may use has more than {total or 'less'}."
        instead = (
            f"it asks for {asked} {resource} a chunk and no node has more than {total}, so it can never run as it is"
        )
    else:
        where = f"the {pool} as a whole has" if pool else "the nodes that it may use have"
        do = Step(f"ask for at most {most} and submit again, or take another queue")
        says = f"It asks for {asked} {resource}; {where} {total or 'fewer'} in all."
        instead = f"it asks for {asked} {resource} and {where} {total or 'fewer'}, so it can never run as it is"
    return WaitingNote(says, instead=instead, kind="limit-request", starts="no", do=(do,), only=True)


ROUTES = re.compile(r"(?m)^[^\S\n]*route_destinations = (.+)$")


def routed(case: WaitCase) -> WaitingNote | None:
    """Of a job in a routing queue: whether a queue to which that passes jobs on takes its nodes and its time."""
    found = ROUTES.search(case.text) if case.found.reason.word == "queue-not-exec" else None
    if not found:
        return None
    names, asked = [one.strip() for one in found[1].split(",")], request_of(case)
    limits = [one for one in limits_pasted(case) if one.owner in names and one.of in asked]
    shown = list(dict.fromkeys(one.owner for one in limits))
    against = {name: [one for one in limits if one.owner == name and refuses(one, asked[one.of])] for name in shown}
    says = f"{case.job.queue or 'It'} only passes jobs on to {listed(names)}."
    if not shown or not all(against.values()):
        taken = [name for name in shown if not against[name]]
        fits_there = f" By its nodes and its time it fits {listed(taken)}: it goes on when that takes more jobs."
        return WaitingNote(f"{says}{fits_there if taken else ''}")
    why = [f"{name} takes {'no fewer than' if one.counts == 'minimum' else 'at most'} {spoken_amount(one.of, one.most)}"
           for name in shown for one in against[name]]  # fmt: skip
    size = listed([spoken_amount(of, value) for of, value in asked.items() if of in ("node", "time")])
    rest = [name for name in names if name not in shown]
    # A queue that is not shown may take a longer or larger job, but none below the least of the first.
    sure = not rest or all(any(one.counts == "minimum" for one in against[name]) for name in shown)
    open_ones = f" What {listed(rest)} {'takes' if len(rest) == 1 else 'take'} is not shown." if rest else ""
    least = {one.of: one.most for name in shown for one in against[name] if one.counts == "minimum"}
    move = "move it to a queue that takes such a job (`qstat -Qf` lists their limits)"
    more = (
        f"or ask for {listed([spoken_amount(of, most) for of, most in least.items()])}, only if it has work for so many"
    )
    do = (Step(move, "qmove <OTHER_QUEUE> <JOBID>"), *([Step(more)] if least else []))
    return WaitingNote(
        f"{says} It asks for {size}, and {listed(why)}.{open_ones}",
        instead="it stands in a routing queue, and no queue that is shown behind that takes it, so it stays there",
        kind="limit-request" if sure else None, starts="no" if sure else "depends", do=do, only=True, sure=sure,
    )  # fmt: skip


def refuses(limit: LimitSeen, asked: float) -> bool:
    return asked < limit.most if limit.counts == "minimum" else asked > limit.most


def file_system(name: str, free: str, total: str) -> WaitingNote:
    """A file system that the site counts as a resource."""
    do = (
        Step(f"wait for {name}: the site's status page tells when it is back"),
        Step(
            f"or take {name} out of `-l filesystems=`, only if the job does not use it",
            "qalter -l filesystems=<OTHERS> <JOBID>",
        ),
    )
    says = f"The site counts file systems as resources: {free} of {total} means that {name} is marked as not available."
    instead = (
        f"the {name} file system is marked as not available ({free} of "
        f"{total}), and the job says that it needs it; it starts when that is back"
    )
    return WaitingNote(says, instead=instead, do=do, only=True)


# `Mon Nov 30 08:00`, as pbs_rstat prints it.
WHEN = re.compile(r"(?P<day>\w{3}) (?P<month>\w{3}) +(?P<date>\d{1,2}) (?P<clock>\d\d:\d\d)")


def year_less(printed: str, seen: str) -> datetime | None:
    """The moment in that of the years in which the date is that weekday which is nearest to when it was seen."""
    found = WHEN.search(printed)
    if not found:
        return None
    day, month, date, clock = found.groups()
    year = (moment_of(seen) or datetime.now()).year
    told = (moment_of(f"{day} {month} {date} {clock}:00 {one}") for one in (year, *range(year + 1, year - 7, -1)))
    return next((moment for moment in told if moment and f"{moment:%a}" == day), None)


def reservation_in_the_way(case: WaitCase) -> WaitingNote | None:
    """When the reservation in its way begins and ends, by pbs_rstat, and the walltime that ends before it."""
    row = re.search(r"(?m)^(\w\S*)(?:[ \t]+\S+){3}[ \t]+(\w[^/\n]*?) / (\d+) / (\S.*?)[ \t]*$", case.text)
    name = case.found.named.get("name") if case.found.reason.word == "reservation" else None
    if name and not row and next(windows(case), None) is None:
        return WaitingNote(f"It is the reservation {name}: `pbs_rstat -F {name}` prints when it begins and ends.")
    if not row or case.found.reason.word not in ("reservation-or-top", "reservation"):
        return None
    begins = year_less(row[2], seen_at(case) or case.job.submitted)
    now = now_before(begins, case) if begins else None
    left = (begins - now).total_seconds() if begins and now else 0.0
    ahead = f", {in_hours(left)} from {since_when(case)}" if left > 0 else ""
    long = f", before its {spoken_time(case.job.limit)} would be over" if case.job.limit else ""
    # OpenPBS names maintenance reservations M<number> (man pbs_rsub).
    kind = " (a maintenance)" if re.match(r"M\d", row[1]) else ""
    says = f"Reservation {row[1]}{kind} begins {row[2]}{ahead}{long}, and ends {row[4]}."
    less = shortened(case, left) if left > 0 else WaitingNote()
    do = Step(f"a walltime that ends before {row[2]}", "qalter -l walltime=<TIME_UNTIL_MAINTENANCE> <JOBID>")
    after = less.says or "It starts by itself after that, or before it with less time."
    says += f" Free nodes do not help a job of that length. {after}"
    return replace(less, says=says, do=less.do or (do,), only=True)
