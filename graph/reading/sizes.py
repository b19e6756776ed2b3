"""Amounts with a unit that plans are made of: tokens, GB, sequence length, batch, node hours, epochs, users."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.reading.utterance import Mention

AMOUNT = (
    r"(?P<number>\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:[.,]\d+)?)\s?(?P<scale>k|m|b|bn|t|thousand|million|billion|trillion)?"
)
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
SCALE = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9, "t": 1e12,
         "trillion": 1e12}  # fmt: skip
# unit, what is written. A word that stands before the number may hold the place of one behind it.
UNITS: tuple[tuple[str, str], ...] = (
    ("token/parameter", rf"{AMOUNT}[ -]*(?:x\s+)?tokens?\s*(?:per|/|a)\s*param\w*"),
    ("sequence", rf"{AMOUNT}[ -]*tokens?\s+(?:of\s+)?(?:context|sequences?)\b"),
    ("sequence", rf"(?:context|sequences?)\s+of\s+{AMOUNT}[ -]*tokens?\b"),
    ("speed", rf"{AMOUNT}[ -]*(?:tokens?|tok)\s*(?:/|per |a )\s*s(?:ec(?:ond)?s?)?\b"),
    ("token", rf"{AMOUNT}[ -]*(?:tokens?|tok|トークン|токенов)\b"),
    ("GB", r"(?P<number>\d+(?:[.,]\d+)?)\s?-?(?:gi?b|gigs?|gigabytes?)(?![\w/])(?P<scale>)"),
    ("TB", r"(?P<number>\d+(?:[.,]\d+)?)\s?-?(?:ti?b)(?![\w/])(?P<scale>)"),
    ("sequence", rf"(?:seq(?:uence)?|context|ctx)(?:[ _-]?len(?:gth)?)?\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])"),
    ("sequence", rf"{AMOUNT}[ -]*(?:tokens? )?(?:seq(?:uence)?(?:[ -]len(?:gth)?)?|context(?:[ -]length)?|ctx)\b"),
    ("global_batch", rf"global[ _-]?batch(?:[ _-]?size)?\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])"),
    (
        "micro_batch",
        rf"(?:(?:micro|local)[ _-]?|per[ _-](?:gpu|device)[ _-])batch(?:[ _-]?size)?\s*(?:of|=|:)?\s*{AMOUNT}(?![\w])",
    ),
    ("batch", rf"\b(?:batch(?:[ _-]?size)?|bs)\s*(?:of|=|:|is)?\s*{AMOUNT}(?![\w])"),
    ("node_hour", rf"{AMOUNT}[ -]*node[ -]?(?:hours?|hrs?|h)\b"),
    ("gpu_hour", rf"{AMOUNT}[ -]*gpu[ -]?(?:hours?|hrs?|h)\b"),
    ("epoch", rf"{AMOUNT}[ -]*(?:epochs?|epochen|épocas|époques)\b"),
    ("sample", rf"{AMOUNT}[ -]*(?:images?|samples?|pictures?|examples?|sequences)\b"),
    ("user", rf"{AMOUNT}[ -]*(?:(?:concurrent|parallel|simultaneous)\s+)?(?:users?|requests?)\b"),
    ("layer", rf"{AMOUNT}[ -]*layers?\b"),
    ("hidden", rf"hidden(?:[ _-]?(?:size|dim))?\s*(?:of|=|:)?\s*{AMOUNT}(?![\w])"),
)  # fmt: skip
PATTERNS = tuple((unit, re.compile(rf"(?<![\w.]){written}", re.I)) for unit, written in UNITS)


def find_sizes(text: str) -> Iterator[Mention]:
    """Quantity mentions with their unit; the value is in single units (`26B tokens`: 26e9), of a size in GB or TB."""
    for unit, shape in PATTERNS:
        for match in shape.finditer(text):
            number_text = match["number"]
            plain = number_text.replace(",", "" if THOUSANDS.fullmatch(number_text) else ".")
            value = float(plain) * _scale(match["scale"], unit)
            number = int(value) if value.is_integer() else value
            yield Mention("Quantity", match.start(), match.end(), match[0], number, unit)


def _scale(word: str | None, unit: str) -> float:
    """`32k context` is 32,768 tokens, `10k images` 10,000."""
    if word and word.lower() == "k" and unit == "sequence":
        return 1024.0
    return SCALE.get((word or "").lower(), 1.0)
