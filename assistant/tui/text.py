"""A line of a log as a terminal may show it."""

from __future__ import annotations

import re

ESCAPES = re.compile(r"\x1b\[[0-9;?<=>]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def shown(raw: bytes) -> str:
    """The text, its indentation kept, without what could move the cursor or fool the eye."""
    return CONTROLS.sub(" ", ESCAPES.sub("", raw.rstrip(b"\r").decode("utf-8", "replace"))).expandtabs(8)
