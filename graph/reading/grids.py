"""A sweep over several arguments at once: `sweep: lr in 1e-3 1e-4 and seeds 1..3`, each with its values."""

from __future__ import annotations

import re

from knowledge.job_parts import ArrayAxis

NUMBER = r"(?<![\w.-])-?\d[\d.]*(?:e[+-]?\d+)?(?![\w%])"
RANGE = r"(?<![\w.-])\d{1,4}\s*(?:-|\.\.+|to|bis)\s*\d{1,4}(?![\w.])"
VALUES = rf"[\[({{]?\s*(?:{RANGE}|{NUMBER}(?:(?:\s*,\s*|\s+){NUMBER})+)\s*[\])}}]?"
NAME = r"(?:--)?[a-z][\w.]*(?:-[\w.]+)*"
LEADS = r"(?:(?:an?|one|the|another|also|with|of)\s+)*(?:(?:over|for|on)\s+)?(?:(?:the|all|each)\s+)?"
AXIS = rf"{LEADS}{NAME}\s*(?:in|over|of|from|values?|=|:)?\s*{VALUES}"
# Two axes and more; a single one is read by the table of parts.
GRID = (
    r"\b(?:(?:with\s+)?(?:an?\s+|two\s+|three\s+|2\s+|3\s+)?(?:sweep\w*|grids?|(?:job )?arrays?)"
    rf"(?:\s+(?:over|of|on|for|with))?\s*[:,]?\s*){AXIS}(?:\s*(?:,|\band\b|\bund\b|\bx\b|\btimes\b)\s*(?:and\s+)?{AXIS})+"
)
ONE = re.compile(rf"(?P<name>{NAME})\s*(?:in|over|of|from|values?|=|:)?\s*(?P<values>{VALUES})", re.I)
BOUNDS = re.compile(r"(\d+)\s*(?:-|\.\.+|to|bis)\s*(\d+)")


def axes_of(text: str) -> tuple[ArrayAxis, ...]:
    """The axes in their order; the names as said."""
    return tuple(ArrayAxis(found["name"], values_of(found["values"])) for found in ONE.finditer(text))


def values_of(text: str) -> tuple[str, ...]:
    plain = text.strip(" []{}()")
    bounds = BOUNDS.fullmatch(plain)
    if bounds:
        return tuple(str(one) for one in range(int(bounds[1]), int(bounds[2]) + 1))
    return tuple(re.split(r"\s*,\s*|\s+", plain))
