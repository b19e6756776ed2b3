"""`And on Frontier?`, `for a 13B model`: a question that goes on from the one before it."""

from __future__ import annotations

import re

from graph.answering.machines import named
from knowledge.cluster import Cluster
from knowledge.types import JobRequest

LONGEST = 80
GOES_ON = re.compile(
    r"^\W*(?:(?:ok|okay|hm+|so)\W+)*(?:and|what about|how about|same(?: question)? for|what if)\b", re.I
)
ADDS = re.compile(r"^\W*(?:for|with|on|in|at)\b", re.I)
# Of these one may be new in such a message; with anything else it is a wish.
ABOUT = ("machine", "model", "node_type")
WISHES = (
    "framework",
    "strategy",
    "nodes",
    "gpus_per_node",
    "total_gpus",
    "walltime",
    "account",
    "entry",
    "args",
)


def followed(text: str, last: str, before: JobRequest, now: JobRequest, *, writing: bool) -> str:
    """The whole question; empty where the message stands for itself. writing: there is a script that it may change."""
    goes_on = GOES_ON.match(text) or (ADDS.match(text) and not writing)
    if not last or not goes_on or len(text) > LONGEST:
        return ""
    machine = named(text)
    new = machine or any(getattr(before, name) != getattr(now, name) for name in ABOUT)
    if not new or any(getattr(before, name) != getattr(now, name) for name in WISHES):
        return ""
    start = without(last, named(last)) if machine else last
    return f"{start.rstrip(' ?.!')} {GOES_ON.sub('', text).strip(' ?.,!')}?"


def without(text: str, machine: Cluster | None) -> str:
    """The question before, without the machine that it was about."""
    names = sorted({machine.title, machine.id, *machine.names}, key=len, reverse=True) if machine else []
    for name in names:
        text = re.sub(rf"\s*\b(?:on|of|at|for|in)?\s*\b{re.escape(name)}\b(?:'s)?", "", text, flags=re.I)
    return text
