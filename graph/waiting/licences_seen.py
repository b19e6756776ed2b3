"""Licences that Slurm counts, beside a job that waits for them: gone, in use, by whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limit_tables import LimitSeen, licence_totals
from graph.waiting.spoken import listed
from knowledge.document import Step


def licences(case: WaitCase) -> WaitingNote | None:
    """The licences that are used up, or gone."""
    if case.found.reason.word != "Licenses":
        return None
    asked = (case.job.printed("Licenses") or case.job.printed("LICENSES")).replace("(null)", "")
    wanted = licences_of(asked)
    # https://slurm.schedmd.com/sbatch.html: `a:1|b:1` is one or the other, `a:1,b:1` both.
    either = "|" in asked
    if gone := gone_licence(case, wanted, either):
        return gone
    says = [f"It asks for {asked}{' (one of them is enough)' if either else ''}."] if asked else []
    totals = [one for one in licence_totals(case) if one.used is not None and counts_here(one, wanted)]
    says += [in_use(one, wanted) for one in totals]
    over = [one for one in totals if wanted.get(one.owner, 1) > one.most]
    if over and (not either or len(over) == len(wanted)):
        most = Step(f"ask for at most {listed([f'{one.most:g} of {one.owner}' for one in over])} and submit again")
        there = listed([f"{one.most:g}" for one in over])
        says.append(f"It asks for more than there are ({there}), so it never starts as it is.")
        return WaitingNote(" ".join(says), starts="no", do=(most,), only=True)
    facts = [licence_fact(one, wanted) for one in totals]
    if holders := holders_of(case, wanted):
        held = f"By what you pasted they are held by {listed(holders)}; it starts when enough of them are given back."
        says.append(held)
        facts.append(Fact("running", ", ".join(holders)))
    elif facts:
        says.append("It starts when jobs that hold it end.")
    if not facts:
        return WaitingNote(" ".join(says)) if says else None
    # https://slurm.schedmd.com/squeue.html: %W licences, %L time left.
    who = Step("who holds licences, and how long at most", 'squeue -t R -o "%i %u %W %L"')
    do = (who, Step("leave out of `-L` what the job does not use"))
    return WaitingNote(" ".join(says), facts=tuple(facts), do=do, only=True)


def gone_licence(case: WaitCase, wanted: Iterable[str], either: bool) -> WaitingNote | None:
    """A licence of which there is none, or none that is not reserved: most often a file system that is down.

    Where it asks for one or the other (`either`), all of them have to be gone.
    """
    names = set(wanted)
    rows = [row for row in case.rows("scontrol show licenses") if not names or row["LicenseName"] in names]
    gone = [one for one in rows if one.get("Total") == "0" or is_reserved(one)]
    if not gone or (either and len(gone) < len(names)):
        return None
    row = gone[0]
    name, none = row["LicenseName"], row.get("Total") == "0"
    says = (
        f"The licence {name} has {'a total of 0' if none else 'none free: all are reserved'}. Where a file system is "
        f"counted as a licence (it is no program's then), that means that {name} is taken out or down; it starts "
        f"{'only when staff bring it back' if none else 'when that is back'}."
    )
    do = Step(f"wait for {name} (status page, support); leave `-L {name}` out only if the job does not use it")
    return WaitingNote(says, do=(do,), only=True, starts="depends" if none else None)


def is_reserved(row: Mapping[str, str]) -> bool:
    return row.get("Free") == "0" and row.get("Reserved") == row.get("Total")


def counts_here(limit: LimitSeen, wanted: Mapping[str, int]) -> bool:
    """Whether the job asks for it; where it prints nothing of that, what is used up."""
    return limit.owner in wanted or (not wanted and not limit.left)


def in_use(limit: LimitSeen, wanted: Mapping[str, int]) -> str:
    """`Of the licence vcs 3 of 4 are in use, 1 is free, 1 short.`"""
    used = "all" if limit.used == limit.most else f"{limit.used:g}"
    free, needs = limit.left or 0.0, wanted.get(limit.owner, 1)
    short = ""
    if needs > free and wanted:
        short = f", {free:g} {'is' if free == 1 else 'are'} free, {needs - free:g} short"
    return f"Of the licence {limit.owner} {used} of {limit.most:g} are in use{short}."


def licence_fact(limit: LimitSeen, wanted: Mapping[str, int]) -> Fact:
    free, needs = limit.left or 0.0, wanted.get(limit.owner, 1)
    numbers = {"asked": needs, "limit": limit.most, "used": limit.used, "left": free}
    numbers |= {"short": needs - free} if needs > free else {}
    return Fact("licence", limit.owner, tuple((name, f"{value:g}") for name, value in numbers.items()))


def licences_of(text: str) -> dict[str, int]:
    """`vcs:4,matlab@srv` as 4 of vcs and 1 of matlab@srv."""
    found = re.findall(r"([A-Za-z][\w.@-]*)(?:[:*=](\d+))?", text.replace("(null)", ""))
    return {name: int(number or 1) for name, number in found}


def holders_of(case: WaitCase, wanted: Mapping[str, int]) -> list[str]:
    """The running jobs that have some of these licences, where squeue printed them."""
    held = []
    for job in case.others:
        has = licences_of(job.printed("LICENSES") or job.printed("Licenses"))
        told = [f"{count} {name}" for name, count in has.items() if not wanted or name in wanted]
        if job.phase == "running" and told:
            held.append(f"{job.id}{f' of {job.user}' if job.user else ''} ({listed(told)})")
    return held
