"""Walltimes as each batch system writes them, turned into HH:MM:SS."""

from __future__ import annotations

import re

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "ms": 0.001}
# Seconds in the last place of `a`, `a:b`, `a:b:c` without days: what a bare number means differs.
PLACES = {"slurm": (60, 1), "cobalt": (60, 60), "lsf": (60, 60), "pbs": (1, 1), "sge": (1, 1)}


def clock(seconds: float) -> str:
    """HH:MM:SS; hours may pass 99."""
    whole = round(seconds)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def seconds_of(scheduler: str, text: str) -> float | None:
    """The seconds that a directive's time means; None for `UNLIMITED`, a placeholder or a variable.

    Slurm: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. LSF: M or H:M. PBS: S, M:S, H:M:S. Grid Engine: also D:H:M:S. Flux:
    minutes or a number with its unit (flux-core's manual, `--time-limit=MINUTES|FSD`).
    """
    text = text.strip().rstrip("/").split("/")[0] if scheduler == "lsf" else text.strip()
    if scheduler == "flux":
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|[smhd]?)", text)
        return float(found[1]) * UNITS[found[2] or "m"] if found else None
    if scheduler == "sge":
        text = re.sub(r"^(\d+):(?=\d+:\d+:\d+$)", r"\1-", text)
    found = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?(?:\.\d+)?", text)
    if not found:
        return None
    parts = [int(p) for p in found.groups()[1:] if p is not None]
    if found[1] is not None:
        hours, minutes, rest = [*parts, 0, 0][:3]
        return int(found[1]) * 86400 + hours * 3600 + minutes * 60 + rest
    if len(parts) == 3:
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    single, last = PLACES.get(scheduler, (60, 1))
    if len(parts) == 2:
        return parts[0] * 60 * last + parts[1] * last
    return parts[0] * single


def walltime_of(scheduler: str, text: str) -> str | None:
    seconds = seconds_of(scheduler, text)
    return clock(seconds) if seconds else None
