"""On which host a rank was: by the launcher's words on its tasks, by NCCL's, by what stands in front of lines."""

from __future__ import annotations

import re

from graph.debugging.events import Event
from graph.debugging.together import numbers

HOST = r"[a-z][\w-]*\d[\w.-]*"
# What a line tells of its own host, before what it says.
OF_LINE = re.compile(
    rf"^(?:\[?\w{{0,8}}\d+\]?:? )?(?:(?:srun|slurmstepd|jsrun): error: (?P<host>{HOST}): "
    rf"|(?P<host2>{HOST}):\d+:\d+ \[\d+\] |(?P<host3>{HOST}): rank \d+ (?:exited|died))"
    rf"|(?:^|\s)(?P<host6>{HOST}):? (?:kernel: )?(?:\[ *[\d.]+\] )?NVRM: Xid"
    rf"|\bon (?:node|host) (?P<host4>{HOST})\b|\b(?:node|host) (?P<host5>{HOST}), "
)
# The global rank and its host, as a library or torchrun's summary names both.
OF_RANK = re.compile(
    rf"(?P<host>{HOST}):\d+:\d+ \[\d+\] NCCL INFO .{{0,120}}?\brank (?P<rank>\d+) nranks"
    rf"|\bhost +: (?P<host2>{HOST})\s+rank +: (?P<rank2>\d+) "
    rf"|\b[Rr]ank (?P<rank3>\d+),? (?:on )?(?:node|host) (?P<host3>{HOST})"
    rf"|(?m:^(?P<host4>{HOST}): rank (?P<rank4>\d+) (?:exited|died))"
)
# Tasks of a launcher are ranks where it starts every process itself.
OF_TASK = re.compile(rf"\berror: (?P<host>{HOST}): tasks? (?P<tasks>\d[\d,-]*): ")
OF_AGENT = re.compile(r"torch/distributed/(?:elastic|run|launcher)|\blocal_rank: ")
# A list of hosts in short: there are more than are named.
MANY = re.compile(r"\w\[\d+[-,][\d,-]+\]")


def host_of(event: Event, text: str) -> str:
    """The host of an event's line or ranks; empty where the log does not tell one, or tells several. text: the log."""
    shown = (line[:400] for line in text.split("\n") if event.text[:80] in line)
    for line in (event.raw.decode("utf-8", "replace")[:400], *shown):
        if own := OF_LINE.search(line):
            return _first(own, "host")
    ranks = event.ranks or ({event.rank} if event.rank is not None else set())
    at = _hosts(text) if ranks else {}
    found = {at.get(rank, "") for rank in ranks}
    return found.pop() if len(found) == 1 else ""


def _hosts(text: str) -> dict[int, str]:
    """The host of each rank that the log names with one."""
    at: dict[int, str] = {}
    if not OF_AGENT.search(text):
        for found in OF_TASK.finditer(text):
            at |= dict.fromkeys(numbers(found["tasks"]), found["host"])
    return at | {int(_first(found, "rank")): _first(found, "host") for found in OF_RANK.finditer(text)}


def only_host(text: str) -> str:
    """The one host that a log names; empty where it names more, or none."""
    if MANY.search(text):
        return ""
    named = {_first(found, "host") for line in text.split("\n") if (found := OF_LINE.search(line[:400]))}
    return named.pop() if len(named) == 1 else ""


def _first(found: re.Match[str], name: str) -> str:
    """The first group that matched of those named so, with a number behind or without."""
    return next(v for k, v in found.groupdict().items() if v and k.rstrip("0123456789") == name)
