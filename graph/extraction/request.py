"""What does this person want? A message, and what was said before, become an intent and a request."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.types import JobRequest, Understood


def understand(text: str, before: JobRequest | None, asked: str | None, options: Sequence[str] | None) -> Understood:
    """Read one message of a conversation. Pure; never raises on any text; the work is bounded for any length.

    before: the request so far (None: a first message). asked, options: the field that was just asked for and the
    choices that were offered, or None.
    """
    return Understood("other", before or JobRequest())
