"""How far each rank came, in logs that mark the ranks: what one of them printed later tells what it survived.

Lines of progress alone prove little: a program that died may have had 8 KiB of them unwritten. Their own time does, or
more of them than that.
"""

from __future__ import annotations

from dataclasses import dataclass

from graph.debugging.lines import STAMP, clock
from graph.debugging.log import message

# So many lines of progress are looked at closely in one pass.
MOST_LINES = 20_000
# What of a line may hold its rank and its time.
HEAD = 160


@dataclass(slots=True)
class Headway:
    """Lines of progress that one rank printed so far, and the latest time that one of them bears."""

    lines: int = 0
    latest: int = -1


class Headways:
    """The ranks' headway in one pass over the logs. Nothing is kept before a rank has said something worth a look."""

    def __init__(self) -> None:
        self.ranks: dict[tuple[str | None, int, int], Headway] = {}
        self._left = MOST_LINES

    def watch(self, name: str | None, run: int, rank: int) -> Headway:
        """The headway of a rank, counted from now on if it was not before."""
        return self.ranks.setdefault((name, run, rank), Headway())

    def saw(self, data: bytes, at: int, name: str | None, run: int) -> None:
        """Count the line of progress at this place, where its rank is watched."""
        if not self.ranks or self._left <= 0:
            return
        self._left -= 1
        start = data.rfind(b"\n", 0, at) + 1
        head = data[start : start + HEAD].partition(b"\n")[0]
        _, rank = message(head.decode("utf-8", "replace"))
        known = None if rank is None else self.ranks.get((name, run, rank))
        if known is None:
            return
        known.lines += 1
        if found := STAMP.search(head):
            known.latest = max(known.latest, clock(found))
