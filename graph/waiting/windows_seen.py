"""What takes nodes for a while, whichever command printed it: a maintenance, a reservation, a job that is planned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from graph.waiting.case import WaitCase
from graph.waiting.moments_said import now_before
from graph.waiting.spoken import moment_of

MAINTENANCE = "It begins"  # how a window is told that is one


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when, and whose it is."""

    begins: datetime
    ends: datetime | None = None
    job: str = ""
    """The waiting job for which nodes are kept; empty: a reservation."""
    what: str = MAINTENANCE
    active: bool = False
    """Whether it is shown as going on."""


# The hours of one day, as LSF's time windows have them.
HOURS = re.compile(r"(\d?\d):(\d\d)-(\d?\d):(\d\d)")
# `brsvs`: month/day/hour/minute at both ends of a reservation.
LSF_WINDOW = re.compile(r"(?m)^\S+ +sys\b.*?\b(\d+)/(\d+)/(\d+)/(\d+)-(\d+)/(\d+)/(\d+)/(\d+)")
PBS_WINDOW = re.compile(r"(?m)^[^\S\n]*reserve_(start|end) = (\S.*?)[^\S\n]*$")


def windows(case: WaitCase) -> Iterator[Window]:
    """The reservations of the paste, then the jobs with a planned start for which nodes are kept."""
    for row in case.rows("scontrol show reservation"):
        name, flags = row.get("ReservationName", ""), row.get("Flags", "")
        place = row.get("PartitionName", "").replace("(null)", "")
        if place and case.job.queue and place not in case.job.queue.split(","):
            continue  # it takes nodes of another partition
        if ("MAINT" in flags or "aint" in name) and (begins := moment_of(row.get("StartTime", ""))):
            yield Window(begins, moment_of(row.get("EndTime", "")), active=row.get("State") == "ACTIVE")
    for first, second in pairwise(PBS_WINDOW.findall(case.text)):
        begins = moment_of(first[1])
        if begins and (first[0], second[0]) == ("start", "end"):
            yield Window(begins, moment_of(second[1]), what="The reservation begins")
    for found in LSF_WINDOW.finditer(case.text):
        at = [int(part) for part in found.groups()]
        year = (moment_of(case.job.submitted) or datetime.now()).year
        begins = moment_of(f"{year}-{at[0]:02d}-{at[1]:02d}T{at[2]:02d}:{at[3]:02d}")
        ends = moment_of(f"{year}-{at[4]:02d}-{at[5]:02d}T{at[6]:02d}:{at[7]:02d}")
        if begins:
            yield Window(begins, ends, what="A reservation of hosts begins")
    kept = [job for job in case.others if job.phase == "waiting" and job.start and job.reason.startswith("Resources")]
    for job in kept if "May be reserved" in case.job.reason.replace("_", " ") else ():
        if begins := moment_of(job.start):
            yield Window(begins, job=f"{job.id} ({job.nodes} nodes)" if job.nodes else job.id)


def ahead(case: WaitCase) -> tuple[Window, float] | None:
    """The first window that is not over, and the seconds until it begins: below 0 it goes on now, 0 is not told."""
    found = []
    for window in windows(case):
        now = now_before(window.begins, case)
        left = (window.begins - now).total_seconds() if now else -1.0 if window.active else 0.0
        others = window.what != MAINTENANCE and not window.job and left < 0  # somebody's hosts, now
        if not others and not (now and window.ends and now >= window.ends):
            found.append((window, left))
    return min(found, key=lambda pair: pair[0].begins, default=None)
