"""Numbers, lengths of time and what they count, as sentences name them in several languages, and which follow from
others by arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

# Digits with what groups or divides them anywhere: 1,500  1.5  1,5  1'500 and narrow spaces.
SIGNS = ".,'\u2019\u00a0\u202f"
NUMERAL = rf"\d+(?:[{SIGNS}]\d+)*"
# Lengths of time, which have to be known as such; and numbers that count nothing: dates, pages, versions, names.
TIME_UNITS = (
    r"s|sec\w*|sek\w*|segundos?|m|min\w*|h|hrs?|hours?|std\.?|stunden?|stündige?n?|heures?|horas?|d|days?|tage?n?|j|jours?"
    r"|d[íi]as?|weeks?|wochen?|semaines?|semanas?|months?|monate?n?|mois|mes|meses|years?|jahre?n?|ans?|années?|años?"
)
TIME = re.compile(
    r"(?<![\w.:-])(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>\d\d)(?::\d\d)?(?![\w:])"
    rf"|(?<![\w.:-])(?P<n>\d+(?:[.,]\d+)?)[ \u00a0\u202f-]?(?P<unit>{TIME_UNITS})\b"
    r"(?![ -](?:GPUs?|n[oœ]e?uds?|nodos?)\b)",
    re.I,
)
HOURS = (
    (r"sek|s(?!td|t[uü]|em)", 1 / 3600),
    (r"mo|mes|m[oe]is", 720.0),
    (r"m", 1 / 60),
    (r"h|st", 1.0),
    (r"w|sem", 168.0),
    (r"ye|ja|an|añ", 8760.0),
    (r"d|t|j", 24.0),
)
NO_NUMBERS = re.compile(
    # The title of a link is the page's own.
    r"\[[^\]\n]{1,120}\]\(https?://[^)\s]+\)"
    r"|https?://\S+|\b20\d\d-\d\d(?:-\d\d)?\b|\[\d{1,3}\]|(?m:^\s*\d{1,2}[.)] )|\b\w*[a-z]\w*\d\w*\b"
    r"|\b\d+\.\d+\.\d+\b"
    r"|\b(?:lines?|zeilen?|lignes?|líneas?|steps?|schritte?|étapes?|pasos?|options?|option|rank|rang|rango|exit|code"
    r"|signal|port|version|fehler|error|job(?:id)?)\s+\d+(?:\s*(?:-|to|and|und|bis|et|à|y|a)\s*\d+)?\b",
    re.I,
)
NUMBER = re.compile(rf"(?<![\w.,$/])(?<!(?<!\d)-){NUMERAL}(?!\w)|(?<![\w.,$/])(?<!(?<!\d)-)\d+(?=[kKMGTP]i?[Bo]\b|x\b)")
# What a number counts, by the noun behind it.
COUNTED = re.compile(
    r"[\s*-]*(?:[^\W\d]\w*[ -]){0,2}?(?:"
    r"(?P<charge>(?:GPU|GCD|node|core|CPU|Knoten|Karten)[- ]?(?:hours?|[Ss]tunden)"
    r"|(?:heures?|horas?)[- ](?:GPU|n[oœ]e?uds?|nodo)s?|SUs?\b|service units|node[- ]days?)"
    r"|(?P<node>nodes?|Knoten|n(?:œ|oe)uds?|nodos?)\b|(?P<gpu>GPUs?|GCDs?|cards?|tiles?|Karten?|cartes?|tarjetas?)\b"
    r"|(?P<core>cores?|CPUs?|threads?|Kerne?n?|c(?:œ|oe)urs?|núcleos?|hilos?)\b"
    r"|(?P<memory>[KMGTP]i?[Bo]|[Gg]igabytes?|[Tt]erabytes?)\b|(?P<rank>ranks?|process\w*|tasks?|Prozesse?n?|procesos?)\b"
    r"|(?P<job>jobs?|Jobs?|travaux|trabajos?)\b|(?P<share>%|percent|Prozent|pour ?cent|por ciento))"
)
# What is worked out of a job's own sizes: totals, which no site sets.
TOTALS = frozenset(("charge", "gpu", "rank"))
# Between the units of one thing.
STEPS = (60.0, 24.0, 100.0, 1000.0, 1024.0)

# A sum that is written out: `2 nodes x 4 GPUs x 10 h = 80 GPU hours`.
UNIT_WORDS = r"[\s*]*(?:[^\W\d]+\s+){0,3}?[^\W\d]*?[\s*]*"
TIMES_SIGN = r"(?:[x\u00d7*/\u00f7+\u2212-]|times|mal|fois|por)"
EQUALS = (
    r"(?:[=\u2248]|\b(?:is|are|makes?|gives?|ist|sind|ergibt|ergeben|macht|gibt|soit|font|fait|donnent?|son|es|dan?)\b)"
)
# From one unit to the next, bytes of a number, and what is all or half of a thing.
UNIT_STEPS = frozenset((1, 2, 4, 7, 8, 16, 24, 60, 100, 1000, 1024, 3600))
SUM = re.compile(
    rf"(?P<left>{NUMERAL}{UNIT_WORDS}(?:{TIMES_SIGN}\s*{NUMERAL}{UNIT_WORDS}){{1,6}}){EQUALS}[\s*~]*(?P<out>{NUMERAL})"
)
STEP = re.compile(rf"(?P<sign>(?<![^\W\d]){TIMES_SIGN}(?![^\W\d]))?\s*(?P<count>{NUMERAL})")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text: as written, what it may mean, and what it counts (empty: nobody says)."""

    text: str
    values: frozenset[float]
    kind: str = ""
    before: str = ""


def readings(numeral: str) -> frozenset[float]:
    """What a numeral means in one country or another: `1.500` is one and a half, or fifteen hundred."""
    parts, signs = re.split(rf"[{SIGNS}]", numeral), re.findall(rf"[{SIGNS}]", numeral)
    if not signs:
        return frozenset((float(numeral),))
    found = set[float]()
    if len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:]) and len(set(signs)) == 1:
        found.add(float("".join(parts)))
    if signs[-1] in ".," and all(len(part) == 3 for part in parts[1:-1]) and signs[-1] not in signs[:-1]:
        found.add(float(f"{''.join(parts[:-1])}.{parts[-1]}"))
    return frozenset(found or map(float, parts))


def values_in(text: str) -> frozenset[float]:
    """Every number of a text, in all that its numerals may mean."""
    return frozenset(value for one in re.findall(NUMERAL, text) for value in readings(one))


def quantities(text: str) -> Iterator[Quantity]:
    """The numbers of a text that are no lengths of time, each with what it counts and the words before it."""
    plain = TIME.sub(lambda found: " " * len(found[0]), text)
    for found in NUMBER.finditer(plain):
        counted = COUNTED.match(plain, found.end())
        kind = next((name for name, one in counted.groupdict().items() if one), "") if counted else ""
        if counted and kind == "memory":  # a terabyte is no gigabyte
            kind = counted["memory"][0].upper()
        yield Quantity(found[0], readings(found[0]), kind, text[max(0, found.start() - 40) : found.start()])


def times_of(text: str) -> Iterator[Quantity]:
    """The lengths of time of a text, in hours."""
    for found in TIME.finditer(text):
        yield Quantity(
            found[0], frozenset((hours_of(found),)), "time", text[max(0, found.start() - 40) : found.start()]
        )


def times_in(text: str) -> frozenset[float]:
    """The lengths of time that a text names, in hours."""
    return frozenset(hours_of(found) for found in TIME.finditer(text))


def hours_of(found: re.Match[str]) -> float:
    if found["h"]:
        return 24 * int(found["d"] or 0) + int(found["h"]) + round(int(found["m"]) / 60, 6)
    unit = found["unit"].lower()
    hours = next(one for begins, one in HOURS if re.match(begins, unit))
    return round(float(found["n"].replace(",", ".")) * hours, 6)


def reckoned(text: str, known: Collection[float]) -> frozenset[float]:
    """What comes out of the sums that a text writes out, where they are right and each part is known, or comes out of
    a sum before it, or only changes a unit."""
    outs: set[float] = set()
    for one in SUM.finditer(text.replace("`", "")):
        steps = [(step["sign"] or "+", readings(step["count"])) for step in STEP.finditer(one["left"])]
        for parts in product(*(values for _, values in steps)):
            if not all(part in known or part in outs or part in UNIT_STEPS for part in parts):
                continue
            made = worked_out([sign for sign, _ in steps], parts)
            outs |= {out for out in readings(one["out"]) if abs(made - out) <= 0.02 * abs(out)}
    return frozenset(outs)


def worked_out(signs: Iterable[str], values: Iterable[float]) -> float:
    """The left side of a sum: products and quotients first, as written."""
    terms: list[float] = []
    for sign, value in zip(signs, values, strict=True):
        if sign in "+-\u2212" or not terms:
            terms.append(value if sign == "+" else -value)
        elif sign in "/\u00f7":
            terms[-1] = terms[-1] / value if value else 0.0
        else:
            terms[-1] *= value
    return sum(terms)


def follows(value: float, stated: Iterable[float], sizes: Iterable[float] = (), *, total: bool = False) -> bool:
    """Whether a number is a sum, difference, product or quotient of two or three numbers, of which one at least was
    stated beside it. sizes: the job's own; total: a product of these alone is enough."""
    said = [one for one in dict.fromkeys(stated) if one not in (0, 1)][:8]
    own = [one for one in dict.fromkeys(sizes) if one not in (0, 1) and one not in said][:4]
    pairs = {out for a in said for b in (*said, *own, *STEPS) if a != b for out in both(a, b)}
    pairs |= {one * one for one in said}
    three = {out for a in pairs for b in (*said, *own, *STEPS[:1]) for out in (a * b, *quotients(a, b))}
    totals = {a * b for a, b in combinations([*sizes, 1.0], 2)} | {math.prod(sizes)} if total else set()
    return any(is_near(value, one) for one in (*pairs, *three, *totals))


def both(a: float, b: float) -> tuple[float, ...]:
    return (a + b, abs(a - b), a * b, *quotients(a, b)) if b not in STEPS else (a * b, *quotients(a, b))


def is_near(value: float, made: float) -> bool:
    """Whether a rounded number is that one: small whole ones are exact."""
    near = 0.01 * abs(made) if abs(value) >= 20 or value % 1 else 1e-6
    return bool(made) and abs(value - made) <= near


def quotients(a: float, b: float) -> tuple[float, ...]:
    return tuple(x / y for x, y in ((a, b), (b, a)) if y)
