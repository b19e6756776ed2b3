"""The limit beside the request: what is asked for, what is allowed, what is in use, who holds it, when enough is free.

One way for every scheduler: the limits that are pasted (limit_tables.py) and the request (amounts.py) are laid side by
side, and what does not fit is said with its numbers. Which resource the reason speaks of stands with the reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from graph.waiting.amounts import (
    bare_amount,
    held_in,
    noun_of,
    on_one_node,
    request_of,
    resource_of,
    spoken_amount,
)
from graph.waiting.budgets import LESS, budget_note, whole
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_tables import SERVER, LimitSeen, balances, limits_pasted
from graph.waiting.limits_said import each_said, used_by_each
from graph.waiting.spoken import listed, spoken_lines, time_to_end
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers.limit_words import Counts
from knowledge.schedulers.reason_types import Starts
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import asked_time, slurm_time

OPTION: Mapping[str, str] = tables()["option"]


def limit_note(case: WaitCase) -> WaitingNote | None:
    """The one limit that the reason speaks of, beside the request; without its number what the job asks for of it."""
    kept = case.found.reason.kind in ("ended", "not-waiting", "no-job", "hold", "dependency")
    if kept or case.found.reason.word == "queue-not-exec":  # there the queues behind it decide
        return None
    reason, (of, _, _), asked, limits = case.found.reason, spoken_of(case), request_of(case), limits_meant(case)
    if not limits:
        return asked_only(case, of, asked) if reason.kind.startswith("limit") or case.found.named.get("res") else None
    value = amount_asked(limits[0], asked, case)
    note = beside(case, limits[0], value)
    says = f"{note.says} {set_on(case, limits[0])}".strip()
    if is_of_user(case, limits[0]) and not note.instead:
        whose = f"your own running jobs in the account and this one would together have more {noun_of(of)}"
        note = replace(note, instead=f"{whose} than is set for you there")
    return replace(note, says=says, facts=(fact_of(case, limits[0], value),))


def limits_meant(case: WaitCase) -> list[LimitSeen]:
    """The limits that the reason speaks of, those that are overstepped first."""
    reason, (of, whose, counts), asked = case.found.reason, spoken_of(case), request_of(case)
    limits = [limit for limit in limits_pasted(case) if limit.per != "licence" and limit.counts in (counts, "minimum")]
    if of and reason.kind.startswith("limit"):
        # A site's own balance is printed in its own unit, whatever the word counts.
        same = [one for one in limits if one.of == of and counts_for(one, whose, case)]
        limits = same or [one for one in limits if one.counts == "minutes"]
        if any(is_of_user(case, one) for one in limits):  # that which is full; else the lower, which is reached first
            room = {one: one.most - (held_together(case, one) or 0) - asked.get(of, one.most) for one in limits}
            limits = sorted(limits, key=lambda one: (room[one] >= 0, one.most))
        # What is overstepped decides; what is in use may stand in another output than the limit itself.
        limits = sorted(limits, key=lambda one: (not overstepped(one, asked), one.used is None))
    else:
        full = [one for one in limits if one.left is not None and one.left < asked.get(one.of, 1)]
        limits = [one for one in limits if overstepped(one, asked)] or (full if reason.kind.startswith("limit") else [])
    return [with_use(case, limit) for limit in limits]


def is_of_user(case: WaitCase, limit: LimitSeen) -> bool:
    """Whether it is set on the person in the account, where Slurm's word names the account: only own jobs count."""
    return limit.per == "user" and case.found.limit is not None and case.found.limit.whose == "account"


def with_use(case: WaitCase, limit: LimitSeen) -> LimitSeen:
    """A limit on the time that running jobs may still take, with what those of the paste hold of it."""
    if limit.counts != "run-minutes" or limit.used is not None or limit.per == "job":
        return limit
    return replace(limit, used=held_together(case, limit))


def fact_of(case: WaitCase, limit: LimitSeen, asked: float | None) -> Fact:
    """The numbers of a limit beside the request, without words."""
    budget = limit.counts in ("minutes", "run-minutes")
    scale = (3600 if limit.of == "time" else 60) if budget else 1.0
    used = limit.used if limit.used is not None or budget else held_together(case, limit)
    left = limit.most - used if used is not None else limit.most if budget and limit.per == "job" else None
    least = limit.counts == "minimum"
    values = {
        "asked": asked,
        "least" if least else "limit": limit.most if used != 0 or not budget else None,
        "used": used or None,
        "left": max(0.0, left) if left is not None and not least else None,
        "short": asked - left if asked is not None and left is not None and asked > left and not least else None,
    }
    parts = tuple(
        (name, bare_of(limit.of, value / scale, budget)) for name, value in values.items() if value is not None
    )
    return Fact(f"{limit.of} hours" if budget and limit.of != "time" else limit.of, parts=parts)


def bare_of(of: str, value: float, budget: bool = False) -> str:
    """The number with a unit that needs no language: `12`, `384 GB`, `72 h`."""
    if of == "time":
        return f"{value:,.4g} h" if budget else f"{value / 3600:,.4g} h"
    return whole(value) if budget else bare_amount(of, value).removesuffix(" of memory")


def counts_for(limit: LimitSeen, whose: str, case: WaitCase) -> bool:
    """Whether it is the limit that Slurm's word names: another's number beside it would be a wrong one."""
    if case.found.limit is None:
        if limit.per == "job":
            return case.found.reason.kind != "limit-aggregate"
        return limit.per != "node" and (not whose or limit.per == whose) and in_place(limit, case)
    minimum = case.found.limit.counts == "minimum"
    if is_of_user(case, limit):
        return limit.counts == case.found.limit.counts
    return (limit.counts == "minimum") == minimum and (limit.per == whose or minimum or "facts of" in limit.owner)


def in_place(limit: LimitSeen, case: WaitCase) -> bool:
    """Whether it is set where the comment of PBS says: on that queue, or on the server (`in complex`)."""
    if case.job.scheduler != "pbs" or not limit.owner:
        return True
    if queue := case.found.named.get("q"):
        return limit.owner == queue
    return case.found.reason.word.endswith("queue") or limit.owner == SERVER


def set_on(case: WaitCase, limit: LimitSeen) -> str:
    """Whose limit it is: the QOS or account of Slurm's word, who PBS names, or the facts that tell it."""
    word, named = case.found.limit, case.found.named
    if "facts of" in limit.owner:
        return f"That is the longest in {limit.owner}."
    if (who := named.get("who")) and case.found.reason.word != "active-limit":  # that names it itself
        return f"It is that of {who.removesuffix(chr(39) + 's')}{' in queue ' + named['q'] if 'q' in named else ''}."
    if "name" in named and "on" in named:
        which = f"; the line does not tell which, `blimits -w -n {named['name']}` does" if " or " in named["on"] else ""
        return f"It is the limit {named['name']} (on {named['on']}{which})."
    kind, name = ("QOS", case.job.qos) if word and word.set_on == "qos" else ("account", case.job.account)
    name = name or limit.owner
    if is_of_user(case, limit):
        return f"It is set on {case.job.user} in the account {name.rstrip('+')}: jobs of others do not count."
    # https://slurm.schedmd.com/resource_limits.html: a job has to keep to the limits of both.
    both = " and counts also where the partition allows more" if limit.of == "time" else ""
    return f"It is set on the {kind} {name.rstrip('+')}{both}." if word and name else ""


def spoken_of(case: WaitCase) -> tuple[str, str, Counts]:
    """The resource, whose limit, and how it counts: by the parts of Slurm's word, else as the reason's data say."""
    if limit := case.found.limit:
        of = resource_of(limit.resource)
        return of, limit.whose, limit.counts
    reason = case.found.reason
    return resource_of(case.found.named.get("res", "") or reason.of), reason.whose, "held"


def overstepped(limit: LimitSeen, asked: Mapping[str, float]) -> bool:
    value = asked.get(limit.of)
    if value is None or limit.counts not in ("held", "minimum") or limit.per == "node":
        return False
    return value < limit.most if limit.counts == "minimum" else value > limit.most


def amount_asked(limit: LimitSeen, asked: Mapping[str, float], case: WaitCase) -> float | None:
    """What the job asks for of it; of budgets resource x minutes."""
    if limit.counts in ("minutes", "run-minutes"):
        value, time = asked.get(limit.of), asked.get("time")
        if limit.of == "time":
            return time
        return value * time / 60 if value and time else None
    return on_one_node(case).get(limit.of) if limit.per == "node" else asked.get(limit.of)


def asked_only(case: WaitCase, of: str, asked: Mapping[str, float]) -> WaitingNote | None:
    """What it asks for, where the limit itself was not pasted and no machine is known that tells it."""
    value = asked.get(of)
    if (
        value is None
        or of == "jobs"
        or case.found.named.get("asked")
        or "R:" in case.job.reason
        or (case.machine and of == "time")
        or (of == "node" and not case.found.limit)
    ):
        return None
    _, _, counts = spoken_of(case)
    hours = asked.get("time", 0) / 3600
    if counts in ("minutes", "run-minutes") and of != "time" and hours:
        noun = noun_of(of).removesuffix("s")
        says = f"It counts with {spoken_amount(of, value)} x {hours:g} h = {whole(value * hours)} {noun} hours"
        less = f"; with half the time only {whole(value * hours / 2)}" if counts == "run-minutes" else ""
        return WaitingNote(f"{says}{less}.", facts=(Fact(f"{of} hours", parts=(("asked", whole(value * hours)),)),))
    return WaitingNote(
        f"It asks for {spoken_amount(of, value)}.", facts=(Fact(of, parts=(("asked", bare_of(of, value)),)),)
    )


def beside(case: WaitCase, limit: LimitSeen, asked: float | None) -> WaitingNote:
    if limit.counts in ("minutes", "run-minutes"):
        return budget_note(case, limit, asked)
    most = bare_amount(limit.of, limit.most)
    if limit.counts == "minimum":
        return minimum_note(case, limit, asked)
    if asked is not None and asked > limit.most:
        return above(case, limit, asked)
    used = limit.used if limit.used is not None else held_together(case, limit)
    now = f", of which {bare_amount(limit.of, used)} {'is' if used == 1 else 'are'} in use" if used is not None else ""
    left = max(0.0, limit.most - used) if used is not None else None
    if asked is None or limit.of == "jobs":
        allowed = spoken_amount(limit.of, limit.most)
        free = limit.most if left is None else left
        fill = {"N": f"{free:g}"} if limit.of != "jobs" and free >= 1 else {}
        fill |= {"MAXTIME": slurm_time(limit.most)} if limit.of == "time" else {}
        jobs, each = each_said(case, limit.of) if not running_of(case, limit.per) else (0, 0.0)
        ends = f" It can start when one of your {jobs} jobs ends, if it needs no more than " if jobs > 1 else ""
        ends += f"{spoken_amount(limit.of, free + each)} itself." if ends else ""
        return WaitingNote(f"The limit is {allowed}{now}.{ends}", fill)
    request = f"It asks for {spoken_amount(limit.of, asked)}; the limit is {most}{now}"
    if left is None or left >= asked:
        # What it asks for is below the limit: it is the others that hold it, not its own size.
        return WaitingNote(f"{request}.", sure=True)
    do = fits(case, limit.of, left, asked) if left else ()
    smaller = others_that_fit(case, limit, left)
    jobs, each = each_said(case, limit.of) if not running_of(case, limit.per) else (0, 0.0)
    one = "your running job" if jobs == 1 else "one of them"
    smaller += f" The end of {one} is enough." if jobs and each >= asked - left else ""
    says = (
        f"{request}, so {bare_amount(limit.of, left)} {'is' if left == 1 else 'are'} left, "
        f"{bare_amount(limit.of, asked - left)} short.{smaller}"
    )
    return WaitingNote(says, {"N": f"{left:g}"} if left and limit.of in ("slot", "node") else {}, do=do, sure=True)


def fits(
    case: WaitCase, of: str, left: float, asked: float, text: str = "with at most {} it fits what is left now"
) -> tuple[Step, ...]:
    """So much as a request that fits: of GPUs, cores and memory also in whole nodes."""
    fewer = LESS.get((case.job.scheduler, of), "").format(f"{left / 2**30:.0f}G" if of == "mem" else f"{left:g}")
    most, nodes, each = spoken_amount(of, left), case.job.nodes or 1, asked / (case.job.nodes or 1)
    if of == "mem" and nodes > 1:  # that command sets what each node gives
        fewer = ""
    if of in ("gpu", "cpu", "mem") and nodes > 1 and left >= each:
        every = " each" if left // each > 1 else ""
        most = f"{most}, which is {spoken_amount('node', left // each)} with {spoken_amount(of, each)}{every},"
        told = on_one_node(case).get(of) == each
        fewer = LESS.get((case.job.scheduler, "node"), "").format(f"{left // each:g}") if told else ""
    own = fewer if case.job.id.strip() else ""
    return (Step(text.format(most).rstrip(","), own),)


def others_that_fit(case: WaitCase, limit: LimitSeen, left: float) -> str:
    """The person's other jobs with the same reason that ask for no more than is left."""
    same = [
        job for job in case.others if job.phase == "waiting" and job.reason == case.job.reason and is_own(job, case)
    ]
    asked = ((job.id, request_of(replace(case, job=job)).get(limit.of)) for job in same[:MOST_OTHERS])
    told = [f"{name} ({spoken_amount(limit.of, value)})" for name, value in asked if value and value <= left]
    if not told:
        return ""
    one = "" if len(told) == 1 else "one of "
    return f" Of those that wait for the same, what is left is enough for {one}{listed(told)}."


# Jobs of one reason that are looked at one by one.
MOST_OTHERS = 50


def closed(case: WaitCase, limit: LimitSeen) -> WaitingNote:
    """A limit of 0, by which staff close an account or a QOS, or keep one resource from it: nothing fits below it."""
    place = "account" if case.found.limit and case.found.limit.set_on == "account" else "QOS"
    place = place if case.job.scheduler == "slurm" else "place"
    name, key = case.job.account if place == "account" else case.job.qos, "Account" if place == "account" else "QOS"
    every = limit.of in ("jobs", "cpu", "node", "time", "billing")
    who = "none of its jobs may run, whatever it asks for" if every else f"no job with {noun_of(limit.of)} starts there"
    says = f"{f'the {place} {name}'.rstrip()} allows 0 {noun_of(limit.of)}, so {who}"
    other = f"scontrol update jobid=<JOBID> {key}=<OTHER_{key.upper()}>" if case.job.scheduler == "slurm" else ""
    do = Step(f"another {place} of yours, if the work belongs to it", other)
    gone = "a project that has expired or ended" if place == "account" else "it"
    why = f"That is how staff close {gone}: it has to be renewed."
    return WaitingNote(why if every else "", instead=says, starts="no", do=(do,), only=True, sure=True)


def above(case: WaitCase, limit: LimitSeen, asked: float) -> WaitingNote:
    """Alone it asks for more than is allowed: never, with the request that fits."""
    of, most = limit.of, limit.most
    if most == 0:
        return closed(case, limit)
    printed = slurm_time(most) if of == "time" else f"{most:g}"
    numbers = {"MAXTIME": printed} if of == "time" else {"N": printed} if of == "node" else {}
    says = f"It asks for {as_said(case, of, asked)}; the limit is {as_said(case, of, most, bare_amount)}."
    if of == "time" and (meant := minutes_meant(case, asked)):
        form = "hours:minutes" if case.job.scheduler == "lsf" else "hours:minutes:seconds"
        right = asked_time(case.job.scheduler, meant)
        command = LESS.get((case.job.scheduler, of), "").format(right) if case.job.id.strip() else ""
        do = Step(
            f"{asked / 3600:g} minutes are `{right}`: in the queue so, and in the script for the next time", command
        )
        says = f"{says} The time is read as {form}: these are {asked / 3600:g} HOURS, not minutes."
        return WaitingNote(says, {"MAXTIME": right}, do=(do,), only=True, sure=True)
    if limit.owner.startswith("the ") and limit.owner not in (SERVER, "the partition"):
        says = f"It asks for {spoken_amount(of, asked)}, and {limit.owner} has {bare_amount(of, most)}."
        command = LESS.get((case.job.scheduler, of), "").format(printed) if case.job.id.strip() else ""
        again = "" if command else " and submit again"
        do = Step(f"ask for at most {spoken_amount(of, most)}{again}", command)
        return WaitingNote(says, numbers, kind="limit-request", starts="no", do=(do,), only=True)
    if limit.per == "node":
        return above_a_node(case, limit, asked)
    if of == "time" or case.found.reason.kind in ("limit-request", "client-error"):
        never: Starts | None = "no" if case.found.reason.kind.startswith("limit-agg") else None
        # The word alone leaves open whether it is too many, too few, or nodes that are down.
        instead = ""
        if case.found.reason.word == "PartitionNodeLimit":
            instead = f"it asks for more nodes than the partition {case.job.queue} allows one job".replace("  ", " ")
            place = limit.owner.removeprefix("the partition") or "the partition"
            says = (
                f"It asks for {spoken_amount(of, asked)}; {place} gives one job at most {most:g} (MaxNodes), however "
                "many nodes it has."
            )
        smaller = fits(case, of, most, asked, "ask for at most {}") if of in ("gpu", "cpu", "mem") else ()
        if of == "time" and case.found.reason.kind == "client-error":
            option = f" (`-t {printed}`)" if case.job.scheduler == "slurm" else ""
            smaller = (Step(f"ask for at most {spoken_amount(of, most)} there{option}, and submit again"),)
        return WaitingNote(says, numbers, starts=never, sure=True, instead=instead, do=smaller)
    group = {"account": "account", "queue": "queue", "system": "system"}.get(limit.per, "QOS")
    group = "account" if case.found.limit and case.found.limit.set_on == "account" else group
    group = "queue" if case.job.scheduler != "slurm" and group != "system" else group
    group = "bank" if case.job.scheduler == "flux" and "queue" not in case.found.reason.word else group
    (less,) = fits(case, of, most, asked, "ask for at most {}")
    command = less.command or (LESS.get((case.job.scheduler, of), "").format(printed) if case.job.id.strip() else "")
    again = "" if command else f"{',' * (',' in less.text)} and submit again"
    move = {"lsf": "bswitch <OTHER_QUEUE> <JOBID>", "pbs": "qmove <OTHER_QUEUE> <JOBID>"}.get(case.job.scheduler, "")
    there = Step(
        f"or take {'an' if group == 'account' else 'a'} {group} with a higher limit", move * (group == "queue")
    )
    steps = (Step(f"{less.text}{again}", command), there)
    more = f"alone it asks for more than is allowed: {spoken_amount(of, asked)}"
    one = " to one user" if limit.per == "user" else ""
    says = f"{more}, and the {group} allows {bare_amount(of, most)}{one}; no other job has a part in that"
    return WaitingNote(instead=says, starts="no", do=steps, only=True)


def minutes_meant(case: WaitCase, asked: float) -> float | None:
    """The time that was meant, in seconds, where the person speaks of as many minutes as it asks for hours."""
    number, said = re.escape(f"{asked / 3600:g}"), spoken_lines(case.words)
    minutes, hours = (re.search(rf"(?i)(?<![\d.:]){number}[ -]?{unit}", said) for unit in ("min", r"h(?:ours?|rs?)?\b"))
    # Only what was typed so: of a limit of `1-06:00:00` nobody meant thirty minutes.
    typed = re.search(rf"(?<![\d:-]){number}:00(?::00)?(?![\d:])", f"{case.text}\n{case.words}")
    return asked / 60 if typed and minutes and not hours else None


def as_said(case: WaitCase, of: str, value: float, spoken: Callable[[str, float], str] = spoken_amount) -> str:
    """The amount; a time also in the hours in which the person tells it: `3 days (72 h)`."""
    hours = f"{value / 3600:g}"
    in_hours = of == "time" and value >= 86400 and re.search(rf"(?i)(?<![\d.]){re.escape(hours)} ?-?h", case.words)
    return f"{spoken(of, value)}{f' ({hours} h)' if in_hours else ''}"


def above_a_node(case: WaitCase, limit: LimitSeen, asked: float) -> WaitingNote:
    """More on one node than a node has (or than its partition gives of one)."""
    of, most = limit.of, limit.most
    each = "core" if of == "core-mem" else "node"
    has = f"{limit.owner} allows at most" if limit.owner else "no node shown has more than"
    says = f"It asks for {spoken_amount(of, asked)} a {each}, and {has} {bare_amount(of, most)}."
    do = Step(f"ask for at most {most_of_a_node(case, limit)}, {AGAIN}")
    if case.found.reason.kind == "client-error":
        return WaitingNote(says, starts="no", do=(do,), only=True)
    more = Step("or a partition that gives a node's whole memory", "scontrol update jobid=<JOBID> Partition=<OTHER>")
    there = (more,) if case.found.reason.word == "MaxMemPerLimit" and of == "mem" and case.rows("sinfo") else ()
    instead = (
        ""
        if limit.owner or case.job.phase == "ended"
        else f"it asks for more {noun_of(of)} on one node than the nodes have"
    )
    return WaitingNote(says, kind="limit-request", starts="no", do=(do, *there), only=True, instead=instead)


AGAIN = "on more nodes, and submit again"


def most_of_a_node(case: WaitCase, limit: LimitSeen) -> str:
    """`4 GPUs a node (`--gpus-per-node=4`)`."""
    of, most, each = limit.of, limit.most, "core" if limit.of == "core-mem" else "node"
    option = f" (`{OPTION[of]}={most / 2**20:.0f}M`)" if "mem" in of else f" (`{OPTION[of]}={most:g}`)"
    return f"{spoken_amount(of, most)} a {each}{option if case.job.scheduler == 'slurm' else ''}"


def minimum_note(case: WaitCase, limit: LimitSeen, asked: float | None) -> WaitingNote:
    """Less than a QOS or a partition demands of one job."""
    least, place = spoken_amount(limit.of, limit.most), "QOS" if case.found.limit else "partition"
    if asked is None or asked >= limit.most:
        return WaitingNote(f"The least is {least}.")
    number = {"N": f"{limit.most:g}"}
    bare = bare_amount(limit.of, limit.most)
    says = f"It asks for {spoken_amount(limit.of, asked)}; the {place} takes no job below {bare}."
    if place == "partition":
        return WaitingNote(
            says, number, sure=True, instead=f"it asks for fewer {noun_of(limit.of)} than the partition takes"
        )
    command = LESS.get((case.job.scheduler, limit.of), "").format(number["N"])
    small = Step("take a QOS for small jobs", "scontrol update jobid=<JOBID> QOS=<OTHER_QOS>")
    more = Step(f"or ask for {least}, only if the job has work for so many", command)
    return WaitingNote(says, do=(small, more), only=True)


def budget_beside(case: WaitCase) -> WaitingNote | None:
    """The hours asked for beside a balance of the same paste, where it is not the budget that holds the job."""
    if case.found.reason.kind not in ("wait", "node", "limit-aggregate"):
        return None
    limit = next(iter(balances(case)), None)
    asked = amount_asked(limit, request_of(case), case) if limit else None
    if limit is None or asked is None:
        return None
    note = budget_note(case, limit, asked)
    return WaitingNote(f"Beside that, the budget: {note.says}", do=note.do, facts=(fact_of(case, limit, asked),))


def held_together(case: WaitCase, limit: LimitSeen) -> float | None:
    """What the person's own running jobs that were pasted hold of it; None where one of them does not tell."""
    names = {job.account for job in (case.job, *running_of(case, "account"))}
    # A listing narrowed to one account beside a row that prints none: it is that account's.
    accounts = limit.per == "account" and "" not in names - (
        {""} if len(names) == 2 and not case.job.account else set()
    )
    running = running_of(case, limit.per)
    # A listing narrowed to the QOS or the account of the limit holds all that counts.
    narrowed = bool(limit.owner) and all(limit.owner == getattr(job, limit.per, "") for job in running)
    if case.found.reason.kind != "limit-aggregate" or not (limit.per == "user" or accounts or narrowed):
        return None
    each = [counted_of(job, limit, held_in(case, job).get(limit.of)) for job in running]
    if not each:
        return used_by_each(case, limit.of)
    return sum(one for one in each if one is not None) if None not in each else None


def counted_of(job: QueuedJob, limit: LimitSeen, held: float | None) -> float | None:
    """What counts of a running job: what it holds, or that x the minutes that it may still run."""
    if limit.counts != "run-minutes" or held is None:
        return held
    left = time_to_end(job)
    return None if left is None else held * left / 60


def running_of(case: WaitCase, whose: str) -> list[QueuedJob]:
    """The running jobs that were pasted and count against the limit; those without a user are taken for own ones."""
    limit = case.found.limit
    running = [job for job in case.others if job.phase == "running" and "." not in job.id]
    whose = whose or (limit.whose if limit else case.found.reason.whose)
    if limit and limit.set_on == "qos" and case.job.qos:
        running = [job for job in running if job.qos in ("", case.job.qos)]
    if (whose == "account" or (limit and limit.set_on == "account")) and case.job.account:
        running = [job for job in running if job.account in ("", case.job.account)]
    if case.found.reason.whose == "queue" and case.job.queue:
        running = [job for job in running if job.queue in ("", case.job.queue)]
    return [job for job in running if whose != "user" or is_own(job, case)]


def is_own(job: QueuedJob, case: WaitCase) -> bool:
    """Whether it is a job of the same user, as far as users are printed."""
    if job.user and case.job.user:
        return job.user == case.job.user
    return not any(one.user for one in (job, case.job))


def too_large_for_a_node(case: WaitCase) -> WaitingNote | None:
    """More GPUs, memory or cores on one node than any node that is shown has."""
    if case.found.reason.kind in ("ended", "not-waiting"):
        return None
    asked = on_one_node(case)
    sizes = [one for one in limits_pasted(case) if one.per == "node"]
    over = {one.of: one for one in reversed(sizes) if asked.get(one.of, 0) > one.most}
    if not over:
        return None
    notes = [above(case, one, asked[of]) for of, one in over.items()]
    facts = tuple(
        Fact(f"{of} per-node", parts=(("asked", bare_of(of, asked[of])), ("limit", bare_of(of, one.most))))
        for of, one in over.items()
    )
    # All of it in one step: with only one of them mended it is refused again.
    again = AGAIN if set(over) - {"core-mem"} else "and submit again"
    if "gpu" in over:
        gpus = asked["gpu"] * (case.job.nodes or 1)
        nodes = math.ceil(gpus / over["gpu"].most)
        each = f'-n {nodes} -R "span[ptile=1]" -gpu "num={over["gpu"].most:g}"'
        option = {"slurm": f" (`--nodes={nodes}`)", "lsf": f" (`{each}`)"}.get(case.job.scheduler, "")
        again = f"on {nodes} nodes{option} for {gpus:g} GPUs in all, and submit again"
    do = Step(f"ask for at most {listed([most_of_a_node(case, one) for one in over.values()])}, {again}")
    more = more_cores(case, over["core-mem"].most, asked["core-mem"]) if "core-mem" in over else ()
    return replace(notes[0], says=" ".join(note.says for note in notes), do=(*more, do, *notes[0].do[1:]), facts=facts)


def more_cores(case: WaitCase, most: float, each: float) -> tuple[Step, ...]:
    """The cores on which the same memory stays below what one core may have: of each task, to which both options go."""
    tasks = case.job.tasks or 1
    cores = held_in(case, case.job).get("cpu", 1) / tasks
    enough = math.ceil(cores * each / most)
    # `--mem` stays as it is, and excludes `--mem-per-cpu`.
    whole_node = case.job.printed("MinMemoryNode") or re.search(r"--mem[= ]", case.text)
    fewer = "" if whole_node else f" --mem-per-cpu={cores * each / enough / 2**20:.0f}M"
    option = f" (`--cpus-per-task={enough}{fewer}`)" if case.job.scheduler == "slurm" else ""
    memory, of = spoken_amount("mem", cores * each), "" if tasks == 1 else " a task"
    text = f"for the same {memory}{of} take {enough} cores{of} in place of {cores:g}{option}, and submit again"
    return (Step(text),)
