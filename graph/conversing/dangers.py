"""What no script and no answer of ours may hold, whoever asks for it: lines that destroy, fetch and run, or spy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data


@cache
def guard_data() -> Mapping[str, Any]:
    """The tables of guard.yaml."""
    found: Mapping[str, Any] = read_data(Path(__file__).with_name("guard.yaml"))
    return found


def spoken(name: str) -> re.Pattern[str]:
    """Words of guard.yaml in all their languages, as one pattern of whole words."""
    words = re.sub(r"\s+\|", "|", "|".join(guard_data()[name].values()))  # as YAML folds lines
    return re.compile(rf"\b(?:{words})\b", re.I)


@cache
def patterns() -> tuple[tuple[re.Pattern[str], str, bool], ...]:
    rows = guard_data()["dangers"]
    return tuple((re.compile(one["finds"], re.I), one["says"], one.get("in_code", False)) for one in rows)


def dangerous(text: str, *, code: bool = True) -> str:
    """What the text would do that nothing of ours may do; empty where nothing is found. code: it is to be run."""
    return next((says for pattern, says, in_code in patterns() if (code or not in_code) and pattern.search(text)), "")
