"""One line of a training's output: step, steps in all, loss, rank, speed."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf(?:inity)?)"
STEP = re.compile(
    r"(?i)(?<![\w.])(?:global[_ ]?step|train[_ ]?step|step|iteration|iter|batch|update)s?['\"]?\s*[\])]?\s*[=:#\[]?\s*"
    r"(\d[\d,]*)(?:\s*(?:/|of)\s*(\d[\d,]*))?(?![\w.]*/s)"
)
# tqdm: ` 12%|█▏  | 120/1000 [01:10<08:33, 1.71it/s, loss=2.3]`
BAR = re.compile(r"\d+%\|.*?\|\s*(\d+)/(\d+)\s*\[")
LOSS = re.compile(rf"(?i)(?<![\w])(?:\w+[_ /])?loss['\"]?\s*[=:]?\s*(?:tensor\()?({NUMBER})\b")
SPEED = re.compile(rf"(?i)(tokens|samples|images)\s*(?:/|per)\s*s(?:ec(?:ond)?)?['\"]?\s*[=:]?\s*({NUMBER})")
SPEED_BEFORE = re.compile(rf"(?i)({NUMBER})\s*(tokens|samples|images)\s*(?:/|per)\s*s")
RANK = re.compile(r"(?i)(?:^|[\s\[(])(?:rank[ :=_]?|default)(\d+)\b|^\s*(\d+):\s")


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """What one line says of the run. None: it does not."""

    step: int | None = None
    total: int | None = None
    loss: float | None = None
    rank: int | None = None
    speed: float | None = None
    unit: str = ""


def progress_line(line: str) -> ProgressLine | None:
    """The progress that a line tells; None where it tells none."""
    found = BAR.search(line) or STEP.search(line)
    loss = LOSS.search(line)
    if not found and not loss:
        return None
    rank = RANK.search(line)
    speed, unit = speed_of(line)
    return ProgressLine(
        step=int(found[1].replace(",", "")) if found else None,
        total=int(found[2].replace(",", "")) if found and found[2] else None,
        loss=float(loss[1]) if loss else None,
        rank=int(rank[1] or rank[2]) if rank else None,
        speed=speed,
        unit=unit,
    )


def speed_of(line: str) -> tuple[float | None, str]:
    """Tokens, samples or images a second, where the line prints them."""
    if found := SPEED.search(line):
        return float(found[2]), f"{found[1].lower()}/s"
    if found := SPEED_BEFORE.search(line):
        return float(found[1]), f"{found[2].lower()}/s"
    return None, ""
