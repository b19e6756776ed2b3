"""Numbers, dates and lists as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from knowledge.schedulers.command_lines import prompted
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.times import printed_seconds, spoken_time

if TYPE_CHECKING:
    from graph.waiting.case import WaitCase

MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


def spoken_date(printed: str) -> str:
    """`23 November 2026 04:10` of an ISO date, with UTC where it is told in that; the text as it is where it is none.

    The year is always said: a start that was mistyped by a year reads like tomorrow's without it.
    """
    moment = moment_of(printed) if len(printed) > len("2026-11-22") else None
    zone = " UTC" if printed.endswith("+00:00") else ""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment:%Y %H:%M}{zone}" if moment else printed


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


# `Mon Nov 23 08:00:10 CET 2026`, what `date` prints; squeue -l prints it above its table without the zone.
DATE = re.compile(r"(?m)^(?:date: *)?(\w{3} \w{3} +\d+ \d\d:\d\d)(:\d\d)? (?:[AP]M )?(?:[A-Z]{2,5} )?(\d{4})$")
# A clock that a person tells: `it is Nov 23 10:00 now`, `now 2026-11-23 10:00`, `jetzt ist es der 23.11. 10:00`.
CLOCK = (
    r"(?P<iso>20\d\d-\d\d-\d\d)?[T ,]*(?P<day>[A-Z][a-z]{2}\w* \d{1,2}|\d{1,2} [A-Z][a-z]{2})?,? *(?P<time>\d\d?:\d\d)"
)
NOW_WORD = r"(?i:\b(?:now|jetzt|maintenant|ahora|agora|adesso|ora|nu|teraz)\b)"
TOLD_NOW = (
    re.compile(rf"{NOW_WORD}(?: (?:is|it is|it's|ist|ist es|es))?:? *(?:der )?{CLOCK}"),
    re.compile(rf"\b(?:it is|it's|es ist|il est|time is) *{CLOCK}(?=[^\n]{{0,12}}{NOW_WORD})"),
)
NOW_EPOCH = re.compile(rf"{NOW_WORD} *(?:is|=|:)? *(\d{{10}})\b")
YEAR = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)")


def seen_at(case: WaitCase) -> str:
    """When all this was printed: by `date`, by the person's words, else by the scheduler's last look; ISO, or empty."""
    printed = DATE.search(case.text)
    if told := moment_of(f"{printed[1]}{printed[2] or ':00'} {printed[3]}") if printed else None:
        return told.isoformat()
    if epoch := NOW_EPOCH.search(case.text):
        return datetime.fromtimestamp(float(epoch[1]), UTC).replace(tzinfo=None).isoformat()
    said = next((found for pattern in TOLD_NOW for found in pattern.finditer(case.words)), None)
    return (said and told_now(said, case.text)) or case.job.printed("LastSchedEval")


def told_now(said: re.Match[str], text: str) -> str:
    """The told clock with the date that it lacks taken from the dates of the paste; empty where none stands there."""
    dates = YEAR.findall(text)
    day = said["iso"]
    if not day and said["day"] and dates:
        words = said["day"].split()
        month, number = (words[0], words[1]) if words[1].isdigit() else (words[1], words[0])
        at = next((n for n, name in enumerate(MONTHS, 1) if name.startswith(month[:3])), 0)
        day = f"{dates[0][0]}-{at:02d}-{int(number):02d}" if at else ""
    moment = moment_of(f"{day}T{said['time'].zfill(5)}") if day else None
    return moment.isoformat() if moment else ""


# What `date +%H:%M` and its like print, alone in their line.
BARE_CLOCK = re.compile(r"(?m)\bdate \+\S+ *\n(?:\S+ .*\n)?(\d\d?):(\d\d)(?::\d\d)? *$")


def until(case: WaitCase, seconds: float) -> str:
    """` (until about 16:35)` of so long from when the paste was made; empty where it does not tell when that was."""
    clock, now = BARE_CLOCK.search(case.text), moment_of(seen_at(case))
    if clock:
        now = datetime(2000, 1, 1, int(clock[1]) % 24, int(clock[2]) % 60)
    end = now + timedelta(seconds=seconds) if now else None
    return f" (until about {end:%H:%M})" if end and now and end.date() == now.date() else ""


def spoken_lines(words: str) -> str:
    """The lines that the person wrote: no commands, settings, dates or tables that no reader here knows."""
    lines = (
        line for line in words.splitlines() if not PRINTED.search(line) and (is_prose(line) or not CLOCKS.search(line))
    )
    return "\n".join(line for line in lines if not prompted(line) or TOLD.match(line))


# "sinfo says that ..." is a sentence, though it begins as a command.
TOLD = re.compile(
    r"\s*\w+ (?:says|said|shows|tells|told|prints|lists|gives|sagt|zeigt|meldet|dit|affiche|montre|"
    r"dice|muestra|mostra|diz|zegt|toont)\b"
)
PRINTED = re.compile(r"^\s*[\w.:/-]+ ?=|^[^=]*=\S+\s+\S+=|^\s*#|\S {2,}\S.*\S {2,}\S|\S\|\S")
CLOCKS = re.compile(r"\d\d:\d\d:\d\d")


def is_prose(line: str) -> bool:
    """Whether a line with a time in it is a sentence: more than half of it are words in small letters."""
    words = line.split()
    return sum(bool(re.fullmatch(r"[^\W\d_A-Z][^\W\d_]*[',.!?]*\w*", word)) for word in words) * 2 > len(words) > 3


def listed(words: Sequence[str], most: int = 5) -> str:
    """`a, b and c`; of many the first few, and how many more."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def running_job(job: QueuedJob, holds: str = "") -> str:
    """`4407750 (16 GPUs, 4 nodes, running for 11 h 42 min)`."""
    parts = [holds] if holds else []
    parts += [f"{job.nodes} node{'s' if job.nodes > 1 else ''}"] if job.nodes else []
    if job.elapsed:
        parts.append(f"running for {spoken_time(job.elapsed)}")
    if (left := time_to_end(job)) is not None:
        parts.append(f"at most {spoken_time(left)} left")
    name = f" {job.name}" if job.name else ""
    return f"{job.id or 'one job'}{name}" + (f" ({', '.join(parts)})" if parts else "")


def time_to_end(job: QueuedJob) -> float | None:
    """Seconds that a running job may still take by its limit; None where that is not printed."""
    if job.elapsed is not None and job.limit:
        return max(0.0, job.limit - job.elapsed)
    return printed_seconds(job.printed("TIME_LEFT"))
