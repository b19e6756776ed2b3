"""Numbers for sources, given in the order in which they are first named."""

from __future__ import annotations

from collections.abc import Iterable


class Footnotes:
    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, source: str | None) -> str:
        """` [3]` for a source; nothing where there is none."""
        if not source:
            return ""
        return f" [{self._numbers.setdefault(source, len(self._numbers) + 1)}]"

    def listed(self, others: Iterable[str] = ()) -> list[str]:
        """The numbered sources, then those that no number points to."""
        numbered = [f"[{number}] {source}" for source, number in self._numbers.items()]
        return numbered + [f"- {source}" for source in others if source not in self._numbers]
