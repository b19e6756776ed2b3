"""Whether a value was said by the person: a number in digits or as a word, a time, a name, an amount of change."""

from __future__ import annotations

import re

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: E501, SIM905
TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))  # noqa: SIM905
SPOKEN = (
    {word: at for at, word in enumerate(ONES)}
    | TENS
    | {"dozen": 12, "couple": 2, "pair": 2, "single": 1, "hundred": 100}
)
CLOCK = re.compile(r"(\d+):(\d\d)(?::(\d\d))?")
# A change by an amount: the number that comes of it was not said, and yet is meant.
AMOUNT = re.compile(
    r"\b(?:double|twice|triple|half|halve|more|less|fewer|longer|shorter|bigger|smaller|as (?:many|much)|max(?:imum)?"
    r"|longest|most|all|whole|fits?|times|extend|as before|same|back)\b",
    re.I,
)


def is_said(value: str, words: str) -> bool:
    """Whether the value, or an amount of change, stands in the person's words."""
    if found := CLOCK.fullmatch(value):
        hours, minutes = int(found[1]), int(found[2])
        numbers = numbers_in(words)
        parts = {hours, hours / 24, hours + minutes / 60, 60 * hours + minutes} - {0}
        return value in words or bool(parts & numbers) or bool(AMOUNT.search(words))
    if value.isdigit():
        return int(value) in numbers_in(words) or bool(AMOUNT.search(words))
    return plain(value) in plain(words) or any(token in plain(value) for token in telling(words))


def telling(words: str) -> list[str]:
    """Words that may be a piece of a longer name: `h200` of gpuH200x8, `regular` of gpu_regular."""
    found = re.findall(r"[a-z0-9]+", words.lower())
    return [
        one for one in found if len(one) > 5 or (len(one) > 2 and re.search(r"[a-z]", one) and re.search(r"\d", one))
    ]


def plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def numbers_in(text: str) -> frozenset[float]:
    """Every number of the text: digits, number words, `1.5k`, and numbers with a unit at them (6h, 7B)."""
    found = {float(one) for one in re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))}
    found |= {float(SPOKEN[word]) for word in re.findall(r"[a-z]+", text.lower()) if word in SPOKEN}
    return frozenset(found)
