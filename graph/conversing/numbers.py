"""Numbers and lengths of time that a sentence names, and which follow from others by arithmetic."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import combinations

# Lengths of time, which have to be known as such; and numbers that count nothing: dates, pages, versions, names.
TIME = re.compile(
    r"(?<![\w.:-])(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>\d\d)(?::\d\d)?(?![\w:])"
    r"|(?<![\w.:-])(?P<n>\d+(?:\.\d+)?)[ -]?(?P<unit>s|sec\w*|m|min\w*|h|hrs?|hours?|d|days?|weeks?|months?|years?)\b",
    re.I,
)
UNITS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0, "mo": 720.0, "y": 8760.0}
NO_NUMBERS = re.compile(
    # The title of a link is the page's own.
    r"\[[^\]\n]{1,120}\]\(https?://[^)\s]+\)"
    r"|https?://\S+|\b20\d\d-\d\d(?:-\d\d)?\b|\[\d{1,3}\]|(?m:^\s*\d{1,2}[.)] )|\b\w*[a-z]\w*\d\w*\b"
    r"|\b\d+\.\d+\.\d+\b"
)


# A sum that is written out: `2 nodes x 4 GPUs x 10 h = 80 GPU hours`.
COUNT = r"\d[\d,]*(?:\.\d+)?"
UNIT_WORDS = r"[\s*]*(?:[A-Za-z]+\s+){0,3}?[A-Za-z]*?[\s*]*"
TIMES_SIGN = r"(?:[x\u00d7*/\u00f7+-]|times)"
# From one unit to the next, bytes of a number, and what is all or half of a thing.
UNIT_STEPS = frozenset((1, 2, 4, 7, 8, 16, 24, 60, 100, 1000, 1024, 3600))
SUM = re.compile(
    rf"(?P<left>{COUNT}{UNIT_WORDS}(?:{TIMES_SIGN}\s*{COUNT}{UNIT_WORDS}){{1,6}})[=\u2248][\s*~]*(?P<out>{COUNT})"
)
STEP = re.compile(rf"(?P<sign>(?<![A-Za-z]){TIMES_SIGN}(?![A-Za-z]))?\s*(?P<count>{COUNT})")


def reckoned(text: str, known: Collection[float]) -> frozenset[float]:
    """What comes out of the sums that a text writes out, where they are right and each part is known, or comes out of
    a sum before it, or only changes a unit."""
    outs: set[float] = set()
    for one in SUM.finditer(text.replace("`", "")):
        out, parts = value_of(one["out"]), {value_of(step["count"]) for step in STEP.finditer(one["left"])}
        right = abs(worked_out(one["left"]) - out) <= 0.02 * abs(out)
        outs |= {out} if right and all(part in known or part in outs or part in UNIT_STEPS for part in parts) else set()
    return frozenset(outs)


def worked_out(left: str) -> float:
    """The left side of a sum: products and quotients first, as written."""
    terms: list[float] = []
    for step in STEP.finditer(left):
        sign, value = step["sign"] or "+", value_of(step["count"])
        if sign in "+-" or not terms:
            terms.append(-value if sign == "-" else value)
        elif sign in "/\u00f7":
            terms[-1] = terms[-1] / value if value else 0.0
        else:
            terms[-1] *= value
    return sum(terms)


def times_in(text: str) -> frozenset[float]:
    """The lengths of time that a text names, in hours."""
    return frozenset(hours_of(found) for found in TIME.finditer(text))


def hours_of(found: re.Match[str]) -> float:
    if found["h"]:
        return 24 * int(found["d"] or 0) + int(found["h"]) + int(found["m"]) / 60
    unit = found["unit"].lower()
    return float(found["n"]) * UNITS["mo" if unit.startswith("mo") else unit[0]]


def value_of(text: str) -> float:
    """The number; a time as hours; without its unit."""
    text = re.sub(r"[ -]?[A-Za-z]+$", "", text)
    if ":" in text:
        parts = [float(part) for part in text.split(":")]
        return parts[0] + parts[1] / 60 if len(parts) > 1 else parts[0]
    return float(text.replace(",", ""))


def follows(value: float, known: Iterable[float]) -> bool:
    """Whether the number is a sum, difference, product or quotient of two or three that are known."""
    numbers = [one for one in dict.fromkeys(known) if one not in (0, 1)][:12]
    pairs = {out for a, b in combinations(numbers, 2) for out in (a + b, abs(a - b), a * b, *quotients(a, b))}
    three = {out for a in pairs for b in numbers for out in (a * b, *quotients(a, b))}
    return any(abs(value - one) <= 0.01 * abs(one) for one in (*pairs, *three) if one)


def quotients(a: float, b: float) -> tuple[float, ...]:
    return tuple(x / y for x, y in ((a, b), (b, a)) if y)
