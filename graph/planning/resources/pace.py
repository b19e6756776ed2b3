"""A pace that a person measured: `1150 images/s on one A100`, `22 min per epoch`, `step time 1.4 s`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from graph.reading.gpu_words import GENERIC, NODE, NUMBERS, number
from knowledge.gpu_facts import gpu_table

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TIME = r"(?P<time>\d+(?:[.,]\d+)?)\s?(?P<unit>ms|s(?:ec\w*|ek\w*)?|min\w*|m|h(?:ours?)?)\b"
EACH = r"\s*(?:per|/|an?|each|pro|par|por|je|every)\s*"
LENGTHY = (
    r"(?P<what>epochs?|epochen?|[eé]po\w+|steps?|iterations?|its?|schritte?n?|[eé]tapes?|pasos?|passi?|itera\w+)\b"
)
RATE = (
    r"(?<![\w.,])(?P<count>\d[\d.,]*)\s?(?P<k>k)?\s*(?P<of>im(?:g|age)s?|samples?|pictures?|steps?|iterations?|its?"
    r"|bilder|im[aá]gen(?:e?s)|immagini|campioni|muestras|amostras|[eé]chantillons|ejemplos|exemplos|schritte)"
    r"\s*(?:/|per|a|al|pro|par|por)\s*s(?:ec(?:ond[eo]?s?)?|ekunde|egundo)?\b"
)

TAKES = re.compile(
    rf"(?i)\b{LENGTHY}(?:[^.;?!\d]|(?<=[A-Za-z-])\d{{1,4}}){{0,40}}?(?:\b(?:time|takes?|took|is|of|dauert|prend|dure|tarda|dura)|=|:)"
    rf"\s*(?:(?:is|about|around|roughly|etwa|environ|unos|circa|of|=|:)\s*)*{TIME}(?!{EACH}(?:epo|step|iter))"
)
# `0.9 s/step on one node and 1.5 s on two`: the same unit again.
AGAIN = re.compile(
    rf"(?i)(?:,|;|\b(?:and|but|vs\.?|against|und|et|y|e))\s*(?:it(?:'s| takes)?\s*)?{TIME}"
    r"(?=\s*(?:on|at|with|auf|mit|sur|en|con)\b)"
)
# `16 GPUs should give 75 ms`: of what the pace before it is.
EXPECTED = re.compile(
    rf"(?i)\b(?:should|would|will|must|expect\w*|soll\w*|devrait|deber[ií]a\w*)\s(?:[^\W\d]+\s+){{0,3}}"
    rf"(?<!\bin )(?<!\bwithin ){TIME}"
)
SENTENCE = re.compile(r"[.;?!\n](?=\s|$)")


# How far behind a pace the next of the same kind stands, in characters.
NEAR = 60


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
        rf"(?i)\s*(?:measured\s+)?(?:per|/|each|on|at|with|auf|pro|par|sur|por|en|mit|con|su|an?"
        rf"|(?<=[.,;!?] )|(?<=\bso ))\s*"
        rf"(?:(?:(?P<count>\d{{1,4}}|(?:an? )?single|{'|'.join(NUMBERS)})\s+)?"
        rf"(?:(?:{models})s?(?:\s+(?:{GENERIC}))?|{GENERIC}|(?P<node>{NODE}))(?!\w)"
        rf"|(?P<alone>\d{{1,4}}|{'|'.join(NUMBERS)})(?=\s*(?:$|[.,;:?!()]|and\b|but\b|with\b)))"
    )


def read_paces(text: str) -> list[Pace]:
    """The paces of a text in their order, each with the GPUs or nodes that its own words name: behind it (`1.2 s/step
    on 8 GPUs`), else before it in the same sentence (`with 64 GPUs 0.15 s/step`)."""
    found = [*map(_rate, re.finditer(f"(?i){RATE}", text))]
    found += [_lengthy(m) for m in re.finditer(rf"(?i)(?<![\w.,]){TIME}{EACH}{LENGTHY}", text)]
    found += [_lengthy(m) for m in re.finditer(TAKES, text)]
    for again in [*AGAIN.finditer(text), *EXPECTED.finditer(text)]:
        one = next((p for p in found if p.end <= again.start() and again.start() - p.end < NEAR), None)
        free = all(again.end() <= p.start or p.end <= again.start("time") for p in found)
        if one and free and one.values.get("pace_of") != "sample":
            found.append(Pace({**one.values, "pace_s": _seconds(again)}, again.start("time"), again.end()))
    out: list[Pace] = []
    for pace in sorted(found, key=lambda one: one.start):
        since = max((m.end() for m in SENTENCE.finditer(text, 0, pace.start)), default=0)
        before = [
            on
            for on in _on().finditer(text, max(since, out[-1].end if out else 0), pace.start)
            if not on["alone"] or text[on.end() : pace.start].strip()  # `on 4 GPUs, one epoch is`: of the epoch
        ]
        on = _on().match(text, pace.end) or next(iter(before[-1:]), None)
        if on is None:
            out.append(pace)
            continue
        of_nodes = on["node"] or (on["alone"] and out and "pace_nodes" in out[-1].values)
        count = number((on["count"] or on["alone"] or "a").split()[-1])
        values = {**pace.values, "pace_nodes" if of_nodes else "pace_gpus": count}
        out.append(Pace(values, pace.start, max(pace.end, on.end())))
    return out


def _rate(found: re.Match[str]) -> Pace:
    plain = re.sub(r",(?=\d{3}\b)", "", found["count"]).replace(",", ".").rstrip(".")
    count = float(plain) * (1e3 if found["k"] else 1)
    of = "step" if re.match(r"(?i)step|it|schritt", found["of"]) else "sample"
    return Pace({"pace_s": 1 / count, "pace_of": of} if count else {}, *found.span())


def _lengthy(found: re.Match[str]) -> Pace:
    of = "epoch" if re.match(r"(?i)[eé]po", found["what"]) else "step"
    return Pace({"pace_s": _seconds(found), "pace_of": of}, *found.span())


def _seconds(found: re.Match[str]) -> float:
    unit = found["unit"].lower()
    return float(found["time"].replace(",", ".")) * SECONDS["ms" if unit == "ms" else unit[0]]
