"""What a message tells of saves and failures: a save's time or size, the rate of writing, and how often a job, a node
or a GPU fails. Each number is bound by the words of its own part of the sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from graph.planning.resources.patterns import pattern


def _words(name: str) -> re.Pattern[str]:
    """A list of saves_said.yaml; ASCII's letters bound a word: Chinese writes no blanks."""
    return pattern("saves_said", name, _units(), re.I | re.A)


@cache
def _units() -> str:
    return "|".join(f"(?P<{name}>{pattern('saves_said', name).pattern})" for name in SECONDS)


# Seconds of each unit of saves_said.yaml.
SECONDS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0, "month": 2629800.0,
           "year": 31557600.0}  # fmt: skip
COUNTS = {"once": 1, "one": 1, "a": 1, "an": 1, "einmal": 1, "twice": 2, "two": 2, "zweimal": 2, "three": 3}
# A save that takes longer is none: the time is that of a job.
LONGEST_SAVE_S = 7200.0


@dataclass(frozen=True, slots=True)
class SaidOfSaves:
    """One value: the field of a ResourceQuestion (save_s, save_gb, write_gbs, mtbf_h, mtbf_of, start_h), and its place;
    words: the places of what says of what it is."""

    field: str
    value: float | str
    start: int
    end: int
    words: tuple[tuple[int, int], ...] = ()


def read_saves(text: str) -> list[SaidOfSaves]:
    """What is told, in the order of the text."""
    found: list[SaidOfSaves] = []
    at = 0
    for stop in [*_words("part").finditer(text), None]:
        end = stop.start() if stop else len(text)
        told = _of_part(text, at, end)
        spans = [
            word.span() for words in ("failure", "save", "lasts") for word in _words(words).finditer(text, at, end)
        ]
        found += [replace(one, words=tuple(spans)) for one in told]
        at = stop.end() if stop else end
    return found


def _of_part(text: str, at: int, end: int) -> list[SaidOfSaves]:
    part = text[at:end]
    fails, saves = _words("failure").search(part), _words("save").search(part)
    out = [
        SaidOfSaves("write_gbs", _gigabytes(size), at + size.start(), at + size.end())
        for size in _words("size").finditer(part)
        if size["rate"] and not fails
    ]
    starts = _words("start").search(part) and not _words("limit").search(part)
    if not fails and starts and (time := _words("time").search(part)):
        return [*out, SaidOfSaves("start_h", _seconds(time) / 3600, at + time.start(), at + time.end())]
    if fails:
        rate, time = _words("rate").search(part), _words("time").search(part)
        told = time or rate
        if told is None:
            return out
        seconds = _seconds(told) if time else _unit(told) / _count(told["number"])
        whose = None if _words("job").search(part) else _words("each").search(part)
        out.append(SaidOfSaves("mtbf_h", seconds / 3600, at + told.start(), at + told.end()))
        place = whose.span() if whose else told.span()
        of = "job" if not whose else "node" if whose["node"] else "gpu"
        counted = whose and any(map(str.isdigit, whose[0]))  # `each of my 64 nodes` counts them, too
        out.append(SaidOfSaves("mtbf_of", of, *((0, 0) if counted else (at + place[0], at + place[1]))))
    elif (
        saves
        and _words("lasts").search(part)
        and (time := _words("time").search(part))
        and _seconds(time) <= LONGEST_SAVE_S
    ):
        out.append(SaidOfSaves("save_s", _seconds(time), at + time.start(), at + time.end()))
    if saves and not fails:
        size = next((one for one in _words("size").finditer(part) if not one["rate"]), None)
        behind = size and size.start() >= saves.end() and _words("between").fullmatch(part, saves.end(), size.start())
        if size and (behind or _words("save").match(part[size.end() :].lstrip())):
            out.append(SaidOfSaves("save_gb", _gigabytes(size), at + size.start(), at + size.end()))
    return out


def _gigabytes(size: re.Match[str]) -> float:
    return float(size["number"].replace(",", ".")) * (1000 if size["tera"] else 1)


def _count(word: str) -> int:
    return max(1, int(word)) if word.isdigit() else COUNTS[word.lower()]


def _unit(match: re.Match[str]) -> float:
    return next(seconds for name, seconds in SECONDS.items() if match[name])


def _seconds(match: re.Match[str]) -> float:
    written = match["number"].rstrip(".,")
    whole = re.fullmatch(r"\d{1,3}(?:,\d{3})+", written)
    return float(written.replace(",", "" if whole else ".")) * _unit(match)
