"""The numbers in a comment of PBS's scheduler: R asked, A free now, T in all."""

from __future__ import annotations

import re

from graph.waiting.case import WaitCase, WaitingNote
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
    if case.found.reason.word != "insufficient-resource" or not found:
        return None
    resource, asked, free, total = found["res"], found["asked"], found["free"], found["total"] or ""
    wanted, has = amount(asked), amount(total)
    if resource.startswith("filesystems_"):
        return file_system(resource.removeprefix("filesystems_"), free, total)
    never = case.found.reason.starts == "no"
    if never or (wanted is not None and has is not None and wanted > has > 0):
        select = re.search(r"select=([^\s,]+)|select = (\S+)", case.text)
        shape = (
            next((part for part in select.groups() if part), "") if select else case.job.printed("Resource_List.select")
        )
        smaller = re.sub(rf"\b{re.escape(resource)}=\w+", f"{resource}={total}", shape) if total else shape
        do = ReasonRemedy(
            text=f"ask for at most {total} {resource} a chunk and submit again",
            command=f"#PBS -l select={smaller}" if smaller else "",
        )
        return WaitingNote(
            f"Each chunk asks for {asked} {resource}, and a node has {total}.",
            instead=(
                f"it asks for {asked} {resource} a chunk and no node "
                f"has more than {total}, so it can never run as it is"
            ),
            kind="limit-request",
            starts="no",
            do=(do,),
            only=True,
        )
    together = (
        " That free amount is counted over the machine: the nodes that one chunk needs may each have too little."
        if wanted and amount(free) and wanted <= (amount(free) or 0)
        else ""
    )
    return WaitingNote(
        f"Of {resource} it asks for {asked}; {free} are free now, {total or 'an unknown number'} exist.{together}",
        instead=f"not enough {resource} is free now",
    )


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
