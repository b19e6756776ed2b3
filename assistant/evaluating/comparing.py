"""Whether two values of a field mean the same."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any


def same(name: str, want: Any, got: Any) -> bool:
    """Whether two values mean the same: without case, models without blanks and hyphens, arguments word by word."""
    if want is None or got is None:
        return want is got
    if isinstance(want, int | float):
        try:
            return float(got) == float(want)
        except (TypeError, ValueError):
            return False
    if name == "args":
        left, right = words_of(want), words_of(got)
        return left == right or stands_for(left, right) or stands_for(right, left)
    if name == "model":
        want, got = (re.sub(r"[\s_-]+", "", str(one)) for one in (want, got))
    return str(want).strip().lower() == str(got).strip().lower()


def words_of(value: Any) -> list[str]:
    try:
        return shlex.split(value) if isinstance(value, str) else [str(one) for one in value]
    except ValueError:
        return str(value).split()


VARIABLE = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$[\w@*]+")


def stands_for(words: Sequence[str], values: Sequence[str]) -> bool:
    """Whether the words read as the values, each shell variable standing for any text."""
    if not any(VARIABLE.search(word) for word in words):
        return False
    parts = [".*".join(map(re.escape, VARIABLE.split(word))) for word in words]
    pattern = "".join(r"(?: .*)?" if part == ".*" else f" {part}" for part in parts)
    return re.fullmatch(pattern, "".join(f" {value}" for value in values)) is not None
