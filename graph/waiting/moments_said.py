"""When something begins, as a person says it: `tomorrow 8:00`, `in 16 h`, `Tuesday 06:00`, `24 Nov 06:00`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from graph.waiting.case import WaitCase
from graph.waiting.spoken import MONTHS, NOW_WORD, moment_of, seen_at

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
MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS)
CLOCK = (
    r"(?P<hour>[01]?\d|2[0-4])(?:[:h.](?P<minute>[0-5]\d)\b|h\b| ?(?P<half>[ap])\.?m\b| ?(?:uhr|o'clock|点|時|시)|\b)"
)
AT = r"(?:[ ,]*(?:at|um|ab|from|à|a las|às|alle(?: ore)?|om|o|в|の|the|T))?[ ,]*"
BEGINS_AT = re.compile(
    rf"(?i)(?P<iso>20\d\d-\d\d-\d\d)[T ](?P<iso_clock>\d\d:\d\d)"
    rf"|\b(?:in|dans|en|em|fra|tra|over) (?P<after>\d{{1,3}}) ?(?P<unit>min\w*|h\b|hrs?|hours?|stunden|heures|horas|"
    rf"ore|uur|d\b|days?|"
    rf"tagen|jours|días|dias|giorni|dagen)"
    rf"|(?:(?:(?P<date>\d{{1,2}})\.? ?(?P<month>{MONTH})\b|\b(?P<month_first>{MONTH})\.? (?P<date_after>\d{{1,2}})\b)"
    rf"(?:[.,]|st|nd|rd|th)?(?: 20\d\d)?|{DAY}|\b(?:{WEEKDAY})\b){AT}{CLOCK}"
)
NOW = re.compile(
    rf"(?i)(?:{NOW_WORD}(?: (?:is|it is|it's|ist|ist es|es|il est|son las|sono le|são|het is))?:? *|"
    rf"\b(?:it is|it's|es ist|il est|son las|time is)(?: (?:now|jetzt|gerade))? )(?P<clock>\d\d?[:h]\d\d)(?![\d:-])"
)
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
    now = moment_of(seen_at(case))
    clock = NOW.search(case.words)
    if clock and not now:
        hour, minute = (int(part) for part in re.split("[:h]", clock["clock"]))
        now = ANY_DAY + timedelta(hours=hour, minutes=minute)
    if found["after"]:
        unit = found["unit"].lower()
        length = 60 if unit.startswith("min") else 86400 if unit[0] in "dtjg" else 3600
        return Beginning(found[0], None, float(found["after"]) * length)
    begins = moment_said(found, now or ANY_DAY)
    dated = begins if begins and begins.year > ANY_DAY.year else None
    left = (begins - now).total_seconds() if begins and now else 0.0
    return Beginning(found[0].strip(), dated, max(0.0, left))


def moment_said(found: re.Match[str], now: datetime) -> datetime | None:
    """The moment, counted from `now` where no date is told."""
    if found["iso"]:
        return moment_of(f"{found['iso']}T{found['iso_clock']}")
    hour = (
        int(found["hour"]) % 12 + (12 if found["half"].lower() == "p" else 0) if found["half"] else int(found["hour"])
    )
    clock = timedelta(hours=hour, minutes=int(found["minute"] or 0))
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if month := found["month"] or found["month_first"]:
        number = next(n for n, name in enumerate(MONTHS, 1) if name[:3].lower() == month[:3].lower())
        try:
            return today.replace(month=number, day=int(found["date"] or found["date_after"])) + clock
        except ValueError:
            return None
    ahead = next((days for days, _ in DAYS if found[f"in{days}"]), None)
    if ahead is None:
        if today.year == ANY_DAY.year:
            return None
        ahead = (next(n for n in range(7) if found[f"on{n}"]) - today.weekday()) % 7
        ahead = ahead if ahead or clock > now - today else 7
    return today + timedelta(days=ahead) + clock
