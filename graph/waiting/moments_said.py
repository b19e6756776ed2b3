"""When something begins, as a person says it: `tomorrow 8:00`, `in 16 h`, `Tuesday 06:00`, `24 Nov 06:00`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from graph.waiting.case import WaitCase
from graph.waiting.spoken import NOW_WORD, moment_of, seen_at
from graph.waiting.words import tables, with_parts

DAY = "|".join(f"(?P<in{days}>{words})" for days, words in reversed(tables()["days"].items()))
WEEKDAY = "|".join(f"(?P<on{number}>{words})" for number, words in enumerate(tables()["weekdays"]))
MONTHS_SAID: list[str] = tables()["months"]
CLOCK: str = tables()["moments"]["clock"]
PARTS = {"DAY": DAY, "WEEKDAY": WEEKDAY, "MONTH": "|".join(MONTHS_SAID), "CLOCK": CLOCK, "NOW_WORD": NOW_WORD}
BEGINS_AT, NOW = (re.compile(with_parts(tables()["moments"][name], PARTS)) for name in ("begins_at", "now"))
BARE_CLOCK = re.compile(rf"(?i)(?<![\d.:-]){CLOCK}(?![\d:-])")
# A day for a clock that is told without one: only lengths are reckoned from it.
ANY_DAY = datetime(2000, 1, 3)


@dataclass(frozen=True, slots=True)
class Beginning:
    """When something begins: in the person's words, the moment (None: only the distance), seconds until then."""

    words: str
    moment: datetime | None
    left: float
    """0 where it is not told when all this was said; below 0 it has begun."""
    what: str = "It begins"
    of_job: bool = False


def beginning_said(words: str, case: WaitCase) -> Beginning | None:
    """The first moment of the words, reckoned from when the person says it is, or from when the paste was printed."""
    found = BEGINS_AT.search(words)
    if not found:
        return None
    now = moment_of(seen_at(case)) or now_said(case)
    if found["after"]:
        unit = found["unit"].lower()
        length = 60 if unit.startswith("min") else 86400 if unit[0] in "dtjg" else 3600
        return Beginning(found[0], None, float(found["after"]) * length)
    begins = moment_said(found, now or ANY_DAY)
    dated = begins if begins and begins.year > ANY_DAY.year else None
    left = (begins - now).total_seconds() if begins and now else 0.0
    return Beginning(found[0].strip(), dated, max(0.0, left))


def now_said(case: WaitCase) -> datetime | None:
    """When the person says it is, on a day of ours where they tell none."""
    for said in NOW.finditer(case.words):
        if found := BEGINS_AT.search(said["told"]):
            return moment_said(found, ANY_DAY)
        if clock := BARE_CLOCK.search(said["told"]):
            return ANY_DAY + clock_of(clock)
    return None


# Characters of a sentence that tells only when it is said.
SHORT = 40


def now_before(moment: datetime, case: WaitCase) -> datetime | None:
    """When it is: as printed or told with a date, else the last such weekday and clock before the moment."""
    if now := moment_of(seen_at(case)):
        return now
    begun = BEGINS_AT.match(case.words.strip())
    said = [found for one in NOW.finditer(case.words) if (found := BEGINS_AT.search(one["told"]))]
    said += [begun] if begun and date_of(begun) else []
    # `Monday 3 pm here.`
    alone = ((BEGINS_AT.match(one), one) for one in re.split(r"[.!?\n] *", case.words) if len(one) < SHORT)
    said += [found for found, one in alone if found and len(one) - found.end() < len(" over here")]
    times = (moment_said(found, moment - timedelta(days=7)) for found in said if not found["after"])
    return next((time for time in times if time and time < moment), None)


def clock_of(found: re.Match[str]) -> timedelta:
    hour = int(found["hour"] or found["plain"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    return timedelta(hours=hour, minutes=int(found["minute"] or 0))


def date_of(found: re.Match[str]) -> tuple[int, int] | None:
    """Month and day, where they are told."""
    if found["day"]:
        return int(found["of_month"]), int(found["day"])
    name = (found["month"] or found["month_first"] or "").lower()
    if not name:
        return None
    number = next(n for n, names in enumerate(MONTHS_SAID, 1) if name in names.split("|"))
    return number, int(found["date"] or found["date_after"])


def moment_said(found: re.Match[str], now: datetime) -> datetime | None:
    """The moment, counted from `now` where no date is told."""
    if found["iso"]:
        return moment_of(f"{found['iso']}T{found['iso_clock']}")
    if found["after"]:
        return None
    clock = clock_of(found)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if date := date_of(found):
        try:
            return today.replace(month=date[0], day=date[1]) + clock
        except ValueError:
            return None
    ahead = next((days for days in tables()["days"] if found[f"in{days}"]), None)
    if ahead is None:
        if today.year == ANY_DAY.year:
            return None
        ahead = (next(n for n in range(7) if found[f"on{n}"]) - today.weekday()) % 7
        ahead = ahead if ahead or clock > now - today else 7
    return today + timedelta(days=ahead) + clock
