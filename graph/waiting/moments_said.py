"""When something begins, as a person says it: `tomorrow 8:00`, `in 16 h`, `Tuesday 06:00`, `24 Nov 06:00`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from graph.waiting.case import WaitCase
from graph.waiting.spoken import NOW_WORD, moment_of, seen_at

# Days from today, by the words of the languages that are asked in.
DAYS = (
    (
        0,
        r"today|tonight|heute|aujourd['\u2019]hui|ce soir|hoy|hoje|oggi|vandaag|dzisiaj|dziś|"
        r"今天|今日|今晚|오늘|сегодня",
    ),
    (1, r"tomorrow|morgen|demain|mañana|amanhã|domani|jutro|明天|明日|내일|завтра"),
    (
        2,
        r"day after tomorrow|übermorgen|après-demain|pasado mañana|depois de amanhã|"
        r"dopodomani|overmorgen|后天",
    ),
)
WEEKDAYS = (
    "mon(?:day)?|montag|lundi|lunes|segunda|lunedì|maandag", "tue(?:sday)?|dienstag|mardi|martes|terça|martedì|dinsdag",
    "wed(?:nesday)?|mittwoch|mercredi|miércoles|quarta|mercoledì|woensdag",
    "thu(?:rsday)?|donnerstag|jeudi|jueves|quinta|giovedì|donderdag",
    "fri(?:day)?|freitag|vendredi|viernes|sexta|venerdì|vrijdag",
    "sat(?:urday)?|samstag|samedi|sábado|sabato|zaterdag", "sun(?:day)?|sonntag|dimanche|domingo|domenica|zondag",
)  # fmt: skip
DAY = "|".join(f"(?P<in{days}>{words})" for days, words in reversed(DAYS))
WEEKDAY = "|".join(f"(?P<on{number}>{words})" for number, words in enumerate(WEEKDAYS))
# The months by their first letters, as they are written in the languages that are asked in.
MONTHS_SAID = (
    "jan|ene|gen|sty", "feb|fév|fev|lut", "mar|mär|maa", "apr|avr|abr|kwi", "may|mai|mei|mag|maj", "jun|juin|giu|cze",
    "jul|juil|lug|lip", "aug|août|aou|ago|sie", "sep|set|wrz", "oct|okt|out|ott|paź", "nov|lis", "dec|dez|déc|dic|gru",
)  # fmt: skip
MONTH = "|".join(MONTHS_SAID)
BARE = r"(?:[01]?\d|2[0-4])"
CLOCK = (
    rf"(?:(?P<hour>{BARE})(?:[:h.](?P<minute>[0-5]\d)\b|h\b| ?(?P<half>[ap])\.?m\b| ?(?:uhr|o'clock|点|點|時|시))"
    rf"|(?:at|um|à|a las|às|alle(?: ore)?|om|o) (?P<plain>{BARE})\b)"
)
AT = r"(?:[ ,]*(?:at|um|ab|from|à|a las|às|alle(?: ore)?|om|o|в|の|the|T))?[ ,]*"
ON = (
    rf"(?P<date>\d{{1,2}})(?:\.|st|nd|rd|th)? ?(?:de )?(?P<month>{MONTH})\w*"
    rf"|\b(?P<month_first>{MONTH})\w*\.? (?P<date_after>\d{{1,2}})\b"
)
NUMBERED = r"(?P<day>\d{1,2})\.(?P<of_month>\d{1,2})\.(?:20\d\d)?"
BEGINS_AT = re.compile(
    rf"(?i)(?P<iso>20\d\d-\d\d-\d\d)[T ](?P<iso_clock>\d\d:\d\d)"
    rf"|\b(?:in|dans|en|em|fra|tra|over) (?P<after>\d{{1,3}}) ?(?P<unit>min\w*|h\b|hrs?|hours?|stunden|heures|horas|"
    rf"ore|uur|d\b|days?|tagen|jours|días|dias|giorni|dagen)"
    rf"|(?:(?:{ON})(?:,? 20\d\d)?|{NUMBERED}|{DAY}|\b(?:{WEEKDAY})\b)[.,]?{AT}{CLOCK}"
)
NOW = re.compile(
    rf"(?i)(?:{NOW_WORD}|\b(?:it is|it's|es ist|il est|nous sommes|on est|son las|sono le|são|het is|time is|"
    rf"today is|heute ist|hoy es|oggi è|hoje é))(?P<told>[^\n!?;]{{0,40}})"
)
BARE_CLOCK = re.compile(rf"(?i)(?<![\d.:-]){CLOCK}(?![\d:-])")
# A day for a clock that is told without one: only lengths are reckoned from it.
ANY_DAY = datetime(2000, 1, 3)


@dataclass(frozen=True, slots=True)
class Beginning:
    """When something begins: in the person's words, the moment (None: only the distance), seconds until then."""

    words: str
    moment: datetime | None
    left: float
    """0 where it is not told when all this was said."""


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
    ahead = next((days for days, _ in DAYS if found[f"in{days}"]), None)
    if ahead is None:
        if today.year == ANY_DAY.year:
            return None
        ahead = (next(n for n in range(7) if found[f"on{n}"]) - today.weekday()) % 7
        ahead = ahead if ahead or clock > now - today else 7
    return today + timedelta(days=ahead) + clock
