"""A question that came with a change: `make it 8 nodes. And what is the longest walltime?`"""

from __future__ import annotations

import re

from graph.extraction.request import understand as read
from knowledge.types import JobRequest

LONGEST = 600
BORDER = re.compile(
    r"(?<=[.!?;])\s+|\n+|,?\s+and\s+(?:also\s+)?(?=(?:what|which|how|when|where|why|who|is there|are there|does|do)\b)",
    re.I,
)


def question_in(text: str, request: JobRequest) -> str:
    """The part of a message that only asks; empty where there is none, or nothing else."""
    parts = [part.strip() for part in BORDER.split(text) if part and part.strip()]
    if len(text) > LONGEST or len(parts) < 2:
        return ""
    return next((part for part in parts if part.endswith("?") and only_asks(part, request)), "")


def only_asks(part: str, request: JobRequest) -> bool:
    """A polite wish (`can you make it 8 nodes?`) is none."""
    words = re.sub(r"^(?:and|also|but)\b,?\s*", "", part, flags=re.I)
    heard = read(words, request, None, None)
    return heard.intent == "question" and heard.request == request
