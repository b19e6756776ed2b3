"""A pace that a person measured: `1150 images/s on one A100`, `22 min per epoch`, `step time 1.4 s`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from graph.reading.gpu_words import GENERIC, number
from knowledge.gpu_facts import gpu_table

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TIME = r"(?P<time>\d+(?:[.,]\d+)?)\s?(?P<unit>ms|s(?:ec\w*|ek\w*)?|min\w*|m|h(?:ours?)?)\b"
EACH = r"\s*(?:per|/|an?|each|pro|par|por|je|every)\s*"
LENGTHY = r"(?P<what>epochs?|epochen?|[eé]po\w+|steps?|iterations?|its?)\b"
RATE = (
    r"(?<![\w.,])(?P<count>\d[\d.,]*)\s?(?P<k>k)?\s*(?P<of>im(?:g|age)s?|samples?|pictures?|steps?|iterations?|its?)"
    r"\s*(?:/|per|a|pro|par)\s*s(?:ec(?:onde?s?)?|ekunde)?\b"
)


@dataclass(frozen=True, slots=True)
class Pace:
    """The fields of a question, and where the words stand."""

    values: dict[str, object]
    start: int
    end: int


@cache
def _on() -> re.Pattern[str]:
    models = "|".join(sorted({re.escape(gpu.model) for gpu in gpu_table().gpus}, key=len, reverse=True))
    return re.compile(
        rf"(?i)\s*(?:measured\s+)?(?:per|/|each|on|with|auf|pro|par|sur|por|en|mit|an?)\s*"
        rf"(?:(?P<count>\d{{1,4}}|one|a|an|single|two|four|eight|ein\w*|une?|una?|uno)\s+)?(?:{models}s?|{GENERIC})\b"
    )


def read_pace(text: str) -> Pace | None:
    """The one pace of a text; None where it tells none, or several (one of them is not what is asked about)."""
    found = [*map(_rate, re.finditer(f"(?i){RATE}", text))]
    found += [_lengthy(m) for m in re.finditer(rf"(?i)(?<![\w.,]){TIME}{EACH}{LENGTHY}", text)]
    found += [_lengthy(m) for m in re.finditer(rf"(?i)\b{LENGTHY}(?:\s+(?:time|takes?|is|of|=|:))+\s*{TIME}", text)]
    if len(found) != 1:
        return None
    (pace,) = found
    if on := _on().match(text, pace.end):
        count = on["count"]
        known = count and (count.isdigit() or count.lower() in ("two", "four", "eight"))
        return Pace({**pace.values, "pace_gpus": number(count) if known else 1}, pace.start, on.end())
    return pace


def _rate(found: re.Match[str]) -> Pace:
    plain = re.sub(r",(?=\d{3}\b)", "", found["count"]).replace(",", ".").rstrip(".")
    count = float(plain) * (1e3 if found["k"] else 1)
    of = "step" if re.match(r"(?i)step|it", found["of"]) else "sample"
    return Pace({"pace_s": 1 / count, "pace_of": of} if count else {}, *found.span())


def _lengthy(found: re.Match[str]) -> Pace:
    unit = found["unit"].lower()
    seconds = float(found["time"].replace(",", ".")) * SECONDS["ms" if unit == "ms" else unit[0]]
    of = "step" if re.match(r"(?i)step|it", found["what"]) else "epoch"
    return Pace({"pace_s": seconds, "pace_of": of}, *found.span())
