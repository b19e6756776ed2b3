"""One rule of masking: what a line must look like, what is hidden in it, and an example of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class MaskingRule:
    """kind: the placeholder's word. The group `v` (or `w`) of the pattern is what is hidden, where it `holds`.

    looks is in RE2's syntax, in any case; it must match each line in which the pattern may begin. reach: how many lines
    after that one the pattern may go on. below: what holds the value in the lines after one in which the pattern is
    found, or in each line of a block of them. cells: the values stand below their names, where cells_below finds them.
    beside: the pattern is a telling word, and so many characters before and behind it each word that `holds` is hidden.
    finds: tells by itself where the values are, in or beside a part (text, from, to); there is no pattern then.
    example: a text with the secret between « and ».
    """

    kind: str
    looks: str
    written: str
    holds: Callable[[str], bool] | None = None
    example: str = ""
    reach: int = 0
    below: str = ""
    cells: bool = False
    block: bool = False
    beside: int = 0
    finds: Callable[[str, int, int], Iterable[tuple[int, int]]] | None = None

    @property
    def wide(self) -> bool:
        """Whether it looks further than one line."""
        return bool(self.reach or self.below or self.cells)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The exact pattern, compiled when first needed: all of them at once cost a cold start 35 ms."""
        return compiled(self.written)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """One exact pattern; more of them than Python itself keeps."""
    return re.compile(pattern)
