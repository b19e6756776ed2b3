"""Numbers, lengths of time and what they count, as sentences name them in several languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    r"|https?://\S+|\b20\d\d-\d\d(?:-\d\d)?\b|\[\d{1,3}\]|(?m:^[^\S\n]*\d{1,2}[.)] )|\b\w*[a-z]\w*\d\w*\b"
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


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text: as written, what it may mean, what it counts (empty: nobody says), the words before it, and
    where it ends in the text."""

    text: str
    values: frozenset[float]
    kind: str = ""
    before: str = ""
    end: int = 0


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
        yield Quantity(
            found[0], readings(found[0]), kind, text[max(0, found.start() - 40) : found.start()], found.end()
        )


def times_of(text: str) -> Iterator[Quantity]:
    """The lengths of time of a text, in hours."""
    for found in TIME.finditer(text):
        yield Quantity(
            found[0],
            frozenset((hours_of(found),)),
            "time",
            text[max(0, found.start() - 40) : found.start()],
            found.end(),
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
