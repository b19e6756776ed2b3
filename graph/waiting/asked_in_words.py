"""What people ask beside a waiting job, and the line that answers it."""

from __future__ import annotations

import re

from graph.waiting.case import Note, WaitCase
from knowledge.schedulers.reason_types import WaitKind

WAITS: tuple[WaitKind, ...] = ("wait", "node")
# What is asked, for which kinds of reasons, and the answer.
ANSWERS: tuple[tuple[re.Pattern[str], tuple[WaitKind, ...], str], ...] = (
    (
        re.compile(r"(?i)\b(later|after me|unfair|overtak\w+|jump\w*|ahead of|before mine|passed|newer)\b"),
        WAITS,
        "Jobs handed in later may start first: shorter or smaller ones fill gaps (backfill), "
        "and those of accounts that "
        "used less lately stand higher (fair-share).",
    ),
    (
        re.compile(r"(?i)\bnormal\b"),
        ("wait", "node", "limit-aggregate"),
        "Yes, such a wait can be normal: on a full machine large or long jobs wait for hours or days.",
    ),
    (
        re.compile(r"(?i)\b(idle|free nodes|nodes are free|empty nodes|nothing is running)\b"),
        ("wait",),
        "Nodes that look idle may be kept for a job that stands before it, or lack what it asks for.",
    ),
)


def answers(case: WaitCase) -> Note | None:
    """The lines for what the words ask; a table pasted beside them asks nothing."""
    told = [line for asked, kinds, line in ANSWERS if case.found.reason.kind in kinds and asked.search(case.words)]
    shown = case.rows("sinfo")
    return (
        Note(" ".join(line for line in told if not (shown and line.startswith("Nodes that look idle"))))
        if told
        else None
    )
