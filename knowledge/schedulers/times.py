"""Lengths of time as schedulers print them: 1-02:10:55, 11:42, 48.31m, 6h."""

from __future__ import annotations

import re

from knowledge.types import Scheduler

UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
CLOCK = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?(?:\.\d+)?")
WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def printed_seconds(text: str, two_parts: str = "m:s") -> float | None:
    """The seconds of a printed length; None for UNLIMITED, N/A and what is no length.

    `two_parts` tells what `a:b` is: Slurm's columns print m:s, PBS's tables and LSF's limits print h:m.
    """
    text = text.strip()
    if found := WITH_UNIT.fullmatch(text):
        return float(found[1]) * UNIT[found[2]]
    found = CLOCK.fullmatch(text)
    if not found or (found[1] is None and found[3] is None):
        return None
    days, first, second, third = (int(part) if part else 0 for part in found.groups())
    if found[1] is not None or found[4] is not None:
        return days * 86400 + first * 3600 + second * 60 + third
    return first * 60 + second if two_parts == "m:s" else first * 3600 + second * 60


def spoken_time(seconds: float) -> str:
    """`3 h 12 min`, `2 days 4 h`, `40 s`: at most two parts."""
    whole = round(seconds)
    parts = [(whole // 86400, "day"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    said = [f"{n} {unit}{'s' if unit == 'day' and n > 1 else ''}" for n, unit in parts if n]
    return " ".join(said[:2]) or "0 s"


def slurm_time(seconds: float) -> str:
    """As `scontrol update TimeLimit=` takes it: HH:MM:SS, with days from two on."""
    whole = int(seconds)
    days, hours = divmod(whole // 3600, 24)
    clock = f"{hours:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    return f"{days}-{clock}" if days else clock


def asked_time(scheduler: Scheduler, seconds: float) -> str:
    """A length as the scheduler's own option takes it: `1-18:00:00`, `42:00:00`, `42:00`, `2520m`."""
    hours, minutes = divmod(int(seconds) // 60, 60)
    plain = f"{hours:02d}:{minutes:02d}"
    forms = {"pbs": f"{plain}:00", "lsf": plain, "flux": f"{int(seconds) // 60}m"}
    return forms.get(scheduler) or slurm_time(seconds)
