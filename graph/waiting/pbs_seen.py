"""The numbers in a comment of PBS's scheduler: R asked, A free now, T in all."""

from __future__ import annotations

import re
from dataclasses import replace

from graph.waiting.amounts import resource_of
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.spoken import listed
from knowledge.schedulers.reason_types import ReasonRemedy

NUMBERS = re.compile(
    r"resource: (?P<res>\S+) \(\s*R: (?P<asked>[^)]*?) A: (?P<free>[^)]*?)(?: T: (?P<total>[^)]*?))?\)"
)
SIZE = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}


def amount(text: str) -> float | None:
    """A count or a size (`512gb`); None where it is neither."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?b?)", text.strip().lower())
    return float(found[1]) * SIZE.get(found[2], 1) if found else None


def shortage(case: WaitCase) -> WaitingNote | None:
    """What is short, by how much, and whether it can ever be had."""
    found = NUMBERS.search(case.job.reason)
    if case.found.reason.word not in ("insufficient-resource", "pool-used-up") or not found:
        return None
    resource, asked, free, total = found["res"], found["asked"], found["free"], found["total"] or ""
    wanted, has = amount(asked), amount(total)
    if resource.startswith("filesystems_"):
        return file_system(resource.removeprefix("filesystems_"), free, total)
    never = case.found.reason.starts == "no"
    numbers = (("asked", asked), *((("left", free),) if free else ()), *((("limit", total),) if total else ()))
    facts = (Fact(resource_of(resource), parts=numbers),)
    if never or (wanted is not None and has is not None and wanted > has > 0):
        return replace(never_fits(case, resource, asked, total), facts=facts)
    if pool := case.found.named.get("pool"):
        return WaitingNote(
            f"Of {resource} it asks for {asked}; the {pool} has {free} left now of {total or 'its pool'}.",
            starts="yes",
            facts=facts,
        )
    together = ""
    if wanted and amount(free) and wanted <= (amount(free) or 0):
        together = (
            " That free amount is counted over the machine: the nodes that one chunk needs may each have too little."
        )
        if parts := chunk_parts(case):
            together += f" One node has to have {parts} free at the same time; less of any of these fits sooner."
    return WaitingNote(
        f"Of {resource} it asks for {asked}; {free} are free now, {total or 'an unknown number'} exist.{together}",
        instead=f"not enough {resource} is free now",
        facts=facts,
    )


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
        do = ReasonRemedy(
            text=f"ask for at most {most} a chunk and submit again",
            command=f"#PBS -l select={smaller}" if smaller else "",
        )
        says = f"Each chunk asks for {asked} {resource}, and no node that it may use has more than {total or 'less'}."
        instead = (
            f"it asks for {asked} {resource} a chunk and no node has more than {total}, so it can never run as it is"
        )
    else:
        where = f"the {pool} as a whole has" if pool else "the nodes that it may use have"
        do = ReasonRemedy(text=f"ask for at most {most} and submit again, or take another queue")
        says = f"It asks for {asked} {resource}; {where} {total or 'fewer'} in all."
        instead = f"it asks for {asked} {resource} and {where} {total or 'fewer'}, so it can never run as it is"
    return WaitingNote(says, instead=instead, kind="limit-request", starts="no", do=(do,), only=True)


def file_system(name: str, free: str, total: str) -> WaitingNote:
    """A file system that the site counts as a resource."""
    do = (
        ReasonRemedy(text=f"wait for {name}: the site's status page tells when it is back"),
        ReasonRemedy(
            text=f"or take {name} out of `-l filesystems=`, only if the job does not use it",
            command="qalter -l filesystems=<OTHERS> <JOBID>",
        ),
    )
    return WaitingNote(
        f"The site counts file systems as resources: {free} of {total} means that {name} is marked as not available.",
        instead=(
            f"the {name} file system is marked as not available ({free} of "
            f"{total}), and the job says that it needs it; it starts when that is back"
        ),
        do=do,
        only=True,
    )
