"""One rule of masking: what a line must look like, what is hidden in it, and an example of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, eq=False)
class MaskingRule:
    """kind: the placeholder's word. The group `v` (or `w`) of the pattern is what is hidden, where it `holds`.

    looks is in RE2's syntax, in any case; it must match each line in which the pattern may begin. reach: how many lines
    after that one the pattern may go on.
    finds: tells by itself where the values are, in or beside the parts of a text; there is no pattern then.
    example: a text with the secret between « and ».
    """

    kind: str
    looks: str
    written: str
    holds: Callable[[str], bool] | None = None
    example: str = ""
    reach: int = 0
    finds: Callable[[str, Iterable[tuple[int, int]]], Iterable[tuple[int, int]]] | None = None

    @property
    def wide(self) -> bool:
        """Whether it looks further than one line."""
        return bool(self.reach or self.finds)

    @property
    def pattern(self) -> re.Pattern[str]:
        """The exact pattern, compiled when first needed: all of them at once cost a cold start 35 ms."""
        return compiled(self.written)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """One exact pattern; more of them than Python itself keeps."""
    return re.compile(pattern)
