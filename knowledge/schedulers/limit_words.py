"""Slurm's words for limits, read by their parts: whose limit (QOSGrp, AssocMax, ...), of what, counted how.

`QOSMaxGRESPerUser`, `AssocGrpCpuLimit`, `MaxNodeRunMinsPerAccount`: some 160 words of the table in
src/common/job_state_reason.c (Slurm 26.11, read 2026-11-22) are made of these parts, as will those of later releases.
https://slurm.schedmd.com/resource_limits.html tells what each limit counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice, product, takewhile
from pathlib import Path
from typing import Literal

from knowledge.data_file import read_data

RESOURCES: Mapping[str, str] = read_data(Path(__file__).with_name("slurm_columns.yaml"))["limited"]
HEADS = ("QOSGrp", "AssocGrp", "QOSMax", "AssocMax", "QOSMin", "Max")
COUNTED = ("RunMinutes", "RunMins", "Minutes", "")
PER = ("PerJob", "PerNode", "PerUser", "PerAccount", "")
TAILS = ("Limit", "NotSatisfied", "")
WORD = re.compile(
    rf"(?P<head>{'|'.join(HEADS)})(?P<what>{'|'.join(sorted(RESOURCES, key=len, reverse=True))})"
    rf"(?P<counted>{'|'.join(COUNTED)})(?P<per>{'|'.join(PER)})(?P<tail>{'|'.join(TAILS)})",
    re.IGNORECASE,
)
Counts = Literal["held", "minutes", "run-minutes", "minimum"]
Whose = Literal["user", "account", "qos", "job", "node"]


@dataclass(frozen=True, slots=True)
class LimitWord:
    """A limit: `gres` held together by the running jobs of a `user`, in the `qos`; or what one `job` may ask for."""

    word: str
    resource: str
    """A key of RESOURCES."""
    counts: Counts
    whose: Whose
    set_on: Literal["qos", "account"]

    @property
    def noun(self) -> str:
        return RESOURCES[self.resource]


# A word of a later release: the parts around a resource that is not known here.
FAMILY = re.compile(
    rf"(?P<head>QOSGrp|AssocGrp|QOSMax|AssocMax|QOSMin)(?P<what>[A-Z]\w*?)"
    rf"(?P<counted>{'|'.join(COUNTED)})(?P<per>{'|'.join(PER)})(?P<tail>{'|'.join(TAILS)})"
)


def limit_word(text: str) -> LimitWord | None:
    """The limit that a reason word names; None where it names none."""
    found = WORD.fullmatch(text)
    return of_parts(found, found["what"].lower()) if found and text.lower() != "maxmemperlimit" else None


def family_word(text: str) -> LimitWord | None:
    """The limit of a word whose resource is not known here, read by its other parts; None where it has no such form."""
    found = FAMILY.fullmatch(text)
    what = found["what"].lower() if found else ""
    # What begins as a resource that is known is a word of today that a column has cut.
    if not found or any(what.startswith(name) or name.startswith(what) for name in RESOURCES):
        return None
    return of_parts(found, "unknown")


def of_parts(found: re.Match[str], resource: str) -> LimitWord:
    head, counted, per = (found[part].lower() for part in ("head", "counted", "per"))
    set_on: Literal["qos", "account"] = "account" if head.startswith("assoc") else "qos"
    counts: Counts = "held"
    if head == "qosmin":
        counts = "minimum"
    elif counted.startswith("run"):
        counts = "run-minutes"
    elif counted or (resource == "wall" and head.endswith("grp")):
        counts = "minutes"
    return LimitWord(found.group(), resource, counts, whose(head, per, resource), set_on)


def whose(head: str, per: str, resource: str) -> Whose:
    """Whose jobs the limit counts together."""
    if per in ("perjob", "pernode"):
        return "job" if per == "perjob" else "node"
    if per == "peruser":
        return "user"
    if per == "peraccount" or head == "assocgrp":
        return "account"
    if head == "qosgrp":
        return "qos"
    if head == "qosmin" or resource == "wallduration":
        return "job"
    return "user"


@cache
def all_words() -> tuple[tuple[str, int, str], ...]:
    """Every word that the parts can make, for those that a narrow column has cut: in lower case, its place, itself.

    In order, so that those which begin alike stand together: a paste may hold thousands of cut words.
    """
    names = ("Cpu", "CPU", "Mem", "Memory", "Node", "GRES", "License", "BB", "Billing", "Energy", "Unknown", "Jobs")
    more = ("SubmitJobs", "SubmitJob", "WallDuration", "Wall")
    words = ("".join(parts) for parts in product(HEADS, (*names, *more), COUNTED, PER, TAILS) if is_made(*parts[:4]))
    return tuple(sorted((word.lower(), place, word) for place, word in enumerate(words)))


def is_made(head: str, what: str, counted: str, per: str) -> bool:
    """Whether Slurm has words of this form: what a group holds together is not counted per job, a duration only so."""
    if per and (head.endswith("Grp") or head == "QOSMin"):
        return False
    return not (what.startswith("Wall") and (counted or per in ("PerNode", "PerUser", "PerAccount")))


def beginning(begun: str) -> list[str]:
    """The words that begin so (lower case), in the order of the parts."""
    words = all_words()
    first = bisect_left(words, (begun, -1, ""))
    alike = takewhile(lambda word: word[0].startswith(begun), islice(words, first, None))
    return [word for _, _, word in sorted(alike, key=lambda word: word[1])]


@lru_cache(1024)
def cut_word(text: str) -> LimitWord | None:
    """The limit whose word begins so, where all such words mean the same limit: `AssocGrpCpuLim`."""
    begun = text.lower()
    if len(begun) < 9:
        return None
    meant = {
        (found.resource, found.counts, found.whose, found.set_on): found
        for found in (limit_word(word) for word in reversed(beginning(begun)))
        if found
    }
    return next(iter(meant.values())) if len(meant) == 1 else None
