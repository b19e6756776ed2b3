"""Amounts with a unit that plans are made of: tokens, GB, sequence length, batch, node hours, epochs, users."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.utterance import Mention

AMOUNT = (
    r"(?P<number>\d{1,3}(?:[.,]\d{3})+(?!\d)|\d+(?:[.,]\d+)?)\s?(?P<scale>k|mln|mld|mrd\.?|bn|m|b|t"
    r"|thousand|tausend|mil millones|milhões|millions?|millionen|millones|milioni"
    r"|billions?|milliarden|milliards?|miliardi|bilhões|miljard\w*|trillions?|billionen|十亿|億|亿|万)?"
)
HOURS = r"(?:hours?|hrs?|h|stunden|heures?|horas?|ore|小时|時間)"
THOUSANDS = re.compile(r"(?!0)\d{1,3}(?:[.,]\d{3})+")
# Units that are measured, not counted: three digits behind a point (`38.125 GB`) are a fraction.
MEASURED = ("GB", "TB", "second", "epoch", "token/parameter")
# `every 500 steps` is how often, `2 batch jobs` a kind of job.
HOW_OFTEN = r"(?<!\bevery )(?<!\bper )(?<!\bafter )(?<!\balle )(?<!\bcada )"
KIND_OF_JOB = r"(?!\s+(?:jobs?|scripts?|files?|queues?|partitions?|systems?|nodes?)\b)"
SCALE = {"k": 1e3, "thousand": 1e3, "tausend": 1e3, "万": 1e4, "m": 1e6, "mln": 1e6, "milli": 1e6, "milh": 1e6,
         "milio": 1e6, "亿": 1e8, "億": 1e8, "b": 1e9, "mld": 1e9, "mrd": 1e9, "bn": 1e9, "billi": 1e9, "bilh": 1e9,
         "milliar": 1e9, "miliar": 1e9, "miljard": 1e9, "mil millones": 1e9, "十亿": 1e9, "t": 1e12, "trilli": 1e12,
         "billionen": 1e12}  # fmt: skip
# unit, what is written. A word that stands before the number may hold the place of one behind it.
UNITS: tuple[tuple[str, str], ...] = (
    ("token/parameter", rf"{AMOUNT}[ -]*(?:x\s+)?tokens?\s*(?:per|/|a)\s*param\w*"),
    ("sequence", rf"{AMOUNT}[ -]*tokens?\s+(?:of\s+)?(?:context|sequences?)\b"),
    ("sequence", rf"(?:context|sequences?)\s+of\s+{AMOUNT}[ -]*tokens?\b"),
    ("speed", rf"{AMOUNT}[ -]*(?:tokens?|tok)\s*(?:/|per |a )\s*s(?:ec(?:ond)?s?)?\b"),
    ("token", r"(?P<number>10\^\d{1,2})(?P<scale>)[ )\]-]*(?:tokens?|tok)\b"),
    ("token", rf"{AMOUNT}[ -]*(?:de |di |an )?(?:tokens?|tok|トークン|токен\w*|词元)(?!\w)"),
    ("GB", r"(?P<number>\d+(?:[.,]\d+)?)\s?-?(?:gi?b|gigs?|gigabytes?)(?![\w/])(?P<scale>)"),
    ("TB", r"(?P<number>\d+(?:[.,]\d+)?)\s?-?(?:ti?b)(?![\w/])(?P<scale>)"),
    (
        "sequence",
        rf"(?:seq(?:uence)?|context|ctx)(?:[ _-]?len(?:gth)?)?\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])(?!\s*users?)",
    ),
    ("sequence", rf"{AMOUNT}[ -]*(?:tokens? )?(?:seq(?:uence)?(?:[ -]len(?:gth)?)?|context(?:[ -]length)?|ctx)\b"),
    ("global_batch", rf"global[ _-]?batch(?:[ _-]?size)?\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])"),
    (
        "micro_batch",
        rf"(?:(?:micro|local)[ _-]?|per[ _-](?:gpu|device)[ _-])batch(?:[ _-]?size)?\s*(?:of|=|:)?\s*{AMOUNT}(?![\w])",
    ),
    ("batch", rf"\b(?:batch(?:[ _-]?size)?|bs)\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])"),
    ("node_hour", rf"{AMOUNT}[ -]*(?:node|knoten|n[oœ]*ud|nodo|节点)s?[ -]?{HOURS}(?!\w)"),
    ("gpu_hour", rf"{AMOUNT}[ -]*(?:gpu|card|卡)s?[ -]?{HOURS}(?!\w)"),
    ("gpu_hour", rf"{AMOUNT}[ -]*{HOURS}[ -]*(?:de )?gpus?\b"),
    (
        "step",
        rf"{HOW_OFTEN}{AMOUNT}[ -]*(?:optimi[sz]er |training |gradient )?"
        r"(?:steps?|iterations?|schritte|pasos|步)(?!\w)",
    ),
    ("batch", rf"{AMOUNT}[ -]+batch(?:[ _-]?size)?(?![\w]){KIND_OF_JOB}"),
    ("second", r"(?P<number>\d+(?:[.,]\d+)?)(?P<scale>)\s?(?:s|secs?|seconde?s?|sekunden|segundos?|秒)(?![\w/])"),
    ("epoch", rf"{AMOUNT}[ -]*(?:epochs?|epochen|épocas|époques)\b"),
    ("sample", rf"{AMOUNT}[ -]*(?:images?|samples?|pictures?|examples?|sequences)\b"),
    ("user", rf"{AMOUNT}[ -]*(?:(?:concurrent|parallel|simultaneous)\s+)?(?:users?|requests?)\b"),
    ("layer", rf"{AMOUNT}[ -]*layers?\b"),
    ("hidden", rf"hidden(?:[ _-]?(?:size|dim))?\s*(?:of|=|:)?\s*{AMOUNT}(?![\w])"),
)  # fmt: skip
# ASCII's letters bound a word: Chinese and Japanese write no blanks.
PATTERNS = tuple((unit, re.compile(rf"(?<![\w.])(?<!\d,){written}", re.I | re.A)) for unit, written in UNITS)


def find_sizes(text: str) -> Iterator[Mention]:
    """Quantity mentions with their unit; the value is in single units (`26B tokens`: 26e9), of a size in GB or TB."""
    for unit, shape in PATTERNS:
        for match in shape.finditer(text):
            value = _number(match["number"], match["scale"], unit) * _scale(match["scale"], unit)
            number = int(value) if value.is_integer() else value
            yield Mention("Quantity", match.start(), match.end(), match[0], number, unit)


def _number(written: str, scale: str | None, unit: str) -> float:
    """`20,000`, `20.000` (of what is counted, where no scale stands behind it), `1.5`, `1,5`, `10^12`."""
    if written.startswith("10^"):
        return 10.0 ** int(written[3:])
    whole = THOUSANDS.fullmatch(written) and ("," in written or not (scale or unit in MEASURED))
    return float(written.replace(",", "").replace(".", "") if whole else written.replace(",", "."))


def _scale(word: str | None, unit: str) -> float:
    """`32k context` is 32,768 tokens, `10k images` 10,000."""
    if word and word.lower() == "k" and unit == "sequence":
        return 1024.0
    plain = (word or "").lower().rstrip(".")
    whole = SCALE.get(plain)
    return (
        whole
        or max(
            ((len(start), value) for start, value in SCALE.items() if len(start) > 3 and plain.startswith(start)),
            default=(0, 1.0),
        )[1]
    )
