"""Lengths of time: `2h30`, `a day and a half`, `1-12:00:00`, in any of the languages of words.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from graph.extraction.sentences.line import Line
from graph.extraction.sentences.patterns import pattern

SECONDS = {"week": 604800, "day": 86400, "hour": 3600, "min": 60, "m": 60, "sec": 1}
LONGEST = 100 * 86400
CLOCK = re.compile(r"(?<![\w:.])(?:\d{1,3}-\d{1,2}(?::\d{2}){1,2}|\d{1,3}(?::\d{2}){1,2})(?![\w:])")
# Days and hours as Slurm's --time takes them (`time 1-0`), where nothing says that it is a range.
DAYS_HOURS = re.compile(
    r"\b(?:wall)?time(?:\s+is|\s*[=:])?\s*(?P<value>\d{1,2}-\d{1,2})(?![\w:.-]|\s*[a-z]*(?:h|min|da?ys?)\b)"
)
# `350M`: parameters; nobody writes so many minutes with a capital letter.
MILLIONS = re.compile(r"\d{3,}M")
ORDER = ("week", "day", "hour", "min", "sec")


def _time(name: str) -> re.Pattern[str]:
    return pattern("grammar.yaml", "durations", name)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time in the row: seconds, first and last token, and whether words around it call it a walltime."""

    seconds: float
    first: int
    last: int
    cued: bool


def hms(seconds: float) -> str:
    """Seconds as HH:MM:SS; hours may pass 99."""
    whole = round(seconds)
    return f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def clock(text: str, colon: Literal["hours", "slurm", "people"] = "people") -> float | None:
    """A time with colons in seconds, or None. One colon: HH:MM, in Slurm's options MM:SS; people mean MM:SS from 25 on.

    A bare number is minutes (Slurm's --time). Source: sbatch's manual page, --time.
    """
    if re.fullmatch(r"\d{1,6}", text):
        return int(text) * 60.0
    match = re.fullmatch(r"(?:(\d{1,3})-)?(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?", text)
    if not match:
        short = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
        return float(short[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[short[2]] if short else None
    days, first, second, third = (int(part) if part else None for part in match.groups())
    if days is not None:
        return days * 86400.0 + (first or 0) * 3600 + (second or 0) * 60 + (third or 0)
    if third is not None:
        return (first or 0) * 3600.0 + (second or 0) * 60 + third
    minutes_first = colon == "slurm" or (colon == "people" and (first or 0) > 24)
    return (first or 0) * (60.0 if minutes_first else 3600.0) + (second or 0) * (1 if minutes_first else 60)


def find_durations(line: Line) -> list[Duration]:
    """The lengths of time that may be a walltime, in order; not those of epochs, of waiting, of GPU hours."""
    found = [*_clocks(line), *_spoken(line), *_behind(line)]
    return sorted((d for d in found if 0 < d.seconds <= LONGEST and not _other(line, d)), key=lambda d: d.first)


def _clocks(line: Line) -> Iterator[Duration]:
    for at, mention in line.mentions("clock"):
        seconds = clock(mention.value)
        left = line.left(at)
        hour_of_day = _time("of_day").search(left) and mention.value.count(":") == 1
        if seconds and not hour_of_day:
            yield Duration(seconds, at, at, _cued(line, at, at))


def _spoken(line: Line) -> Iterator[Duration]:
    position = 0
    while match := _time("part").search(line.canon, position):
        begin, seconds, end = match.start(), 0.0, match.start()
        while match:
            part = _seconds(match)
            seconds += 0 if part == seconds else part  # `a full day, twenty-four hours` says it twice
            end = match.end()
            if loose := _time("loose").match(line.canon, end - 5):
                seconds += int(loose["n"]) * 60
                end = loose.end()
            joint = _time("joint").match(line.canon, end)
            match = _time("part").match(line.canon, joint.end() if joint else end)
            if match and not _smaller(line.canon[begin:end], match):
                match = None
        first, last = line.at(begin), line.at(end - 2)
        yield Duration(seconds, first, last, _cued(line, first, last))
        position = end


def _behind(line: Line) -> Iterator[Duration]:
    for match in _time("behind").finditer(line.canon):
        first, last = line.at(match.start()), line.at(match.end() - 2)
        yield Duration(float(match["n"]) * SECONDS[match["unit"]], first, last, True)


def _smaller(before: str, match: re.Match[str]) -> bool:
    """`1 day 12 hours` is one length, `2 hours, 3 hours` are two."""
    units = [u for u in ORDER if f" {u} " in f" {before} "]
    unit = {"m": "min", None: "hour"}.get(match["unit"], match["unit"])
    return bool(units) and ORDER.index(unit) > ORDER.index(units[-1])


def _seconds(match: re.Match[str]) -> float:
    if match["plus"]:
        return 5400.0
    if match["count"]:
        return int(match["count"]) * 3600.0 + 1800
    if match["fixed"]:
        return float(match["fixed"]) * 3600
    unit = SECONDS[match["unit"]]
    amount = 0.5 if match["bare"] else 1.0 if match["one"] else float(match["n"])
    if match["half"] or match["mid"] or match["tail"]:
        amount += 0.5
    if match["one"] and match["mid"]:
        amount = 0.5
    amount += 0.25 if match["quarter"] else 0.75 if match["quarters"] else 0
    return amount * unit


def _cued(line: Line, first: int, last: int) -> bool:
    return bool(_time("cue").search(line.left(first))) or line.right(last).startswith(" time ")


def _other(line: Line, duration: Duration) -> bool:
    """Whether it measures something else than the job: an epoch, a wait, a budget."""
    left, right = line.left(duration.first), line.right(duration.last)
    if MILLIONS.fullmatch(line.text[line.tokens[duration.first].start : line.tokens[duration.last].end]):
        return True
    mention = line.tokens[duration.first].mention
    if mention and mention.value.count(":") == 2:
        return False
    ends = right.startswith(" time ")  # `after 10 hours at the latest`
    if (_time("not_before").search(left) and not ends) or _time("not_after").match(right):
        return True
    clause = _time("clause").split(left)[-1]
    return " wait " in f" {clause} " and not duration.cued
