"""Numbers, dates and lists as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds, spoken_time

MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


def spoken_date(printed: str) -> str:
    """`23 November 04:10` of an ISO date; the text as it is where it is none."""
    moment = moment_of(printed) if len(printed) > len("2026-11-22") else None
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment:%H:%M}" if moment else printed


def date_of_epoch(seconds: float) -> str:
    """`20 November 2026 05:00 UTC`."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year} {moment:%H:%M} UTC"


def moment_of(printed: str) -> datetime | None:
    """The moment of an ISO date as printed, without its zone."""
    for read in (datetime.fromisoformat, lambda text: datetime.strptime(text, "%a %b %d %H:%M:%S %Y")):
        with suppress(ValueError):
            return read(printed).replace(tzinfo=None)
    return None


def listed(words: Sequence[str], most: int = 5) -> str:
    """`a, b and c`; of many the first few, and how many more."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def running_job(job: QueuedJob) -> str:
    """`4407750 (4 nodes, running for 11 h 42 min)`."""
    parts = [f"{job.nodes} node{'s' if job.nodes > 1 else ''}"] if job.nodes else []
    if job.elapsed:
        parts.append(f"running for {spoken_time(job.elapsed)}")
    if (left := time_to_end(job)) is not None:
        parts.append(f"at most {spoken_time(left)} left")
    name = f" {job.name}" if job.name else ""
    return f"{job.id}{name}" + (f" ({', '.join(parts)})" if parts else "")


def time_to_end(job: QueuedJob) -> float | None:
    """Seconds that a running job may still take by its limit; None where that is not printed."""
    if job.elapsed is not None and job.limit:
        return max(0.0, job.limit - job.elapsed)
    return printed_seconds(job.printed("TIME_LEFT"))
