"""What a line of a log says of itself: its level and its time."""

from __future__ import annotations

import re

STAMP = re.compile(rb"(?:(\d{4})[-/](\d\d)[-/](\d\d)[T _]|\b[WEIFV](\d\d)(\d\d) )(\d\d):(\d\d):(\d\d)")
LEVEL = re.compile(r"(?<![=\w])(?:WARN(?:ING)?|INFO|DEBUG|TRACE)\b|(?:User|Future|Deprecation|Runtime)Warning\b")
ERROR_FIRST = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ")
# glog's mark of a warning, as PyTorch's C++ and its launcher print it; their after-effects are warnings too.
NOTICE = re.compile(r"\[?W(?:\d{3,4})? |NCCL WARN|\S+ \[\d+\] NCCL WARN")


def level(text: str) -> str:
    """The level a line gives itself near its start: warning, info, notice (a warning that may tell much), or empty."""
    found = LEVEL.search(text, 0, 160)
    if not found or "NCCL WARN" in text or ERROR_FIRST.match(text):
        return "notice" if NOTICE.match(text) else ""
    return "warning" if found[0].lower().startswith("warn") or found[0].endswith("Warning") else "info"


def stamp(data: bytes, start: int, raw: bytes) -> int | None:
    """Seconds since the month began, from the line itself or the nearest stamp above it. Only for ordering."""
    found = STAMP.search(raw)
    if not found:
        above = list(STAMP.finditer(data, max(0, start - 4000), start))
        found = above[-1] if above else None
    if not found:
        return None
    day = int(found[3] or found[5])
    return ((day * 24 + int(found[6])) * 60 + int(found[7])) * 60 + int(found[8])
