"""A line of a log as a terminal may show it."""

from __future__ import annotations

from knowledge.printable import printable


def shown(raw: bytes) -> str:
    """The text, its indentation kept, without what could move the cursor or fool the eye."""
    return printable(raw.rstrip(b"\r").decode("utf-8", "replace"), " ").expandtabs(8)
