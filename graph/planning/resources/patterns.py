"""Patterns out of the lists of this folder's YAML files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from knowledge.data_file import read_data


@cache
def pattern(file: str, name: str, units: str = "", flags: int = re.I) -> re.Pattern[str]:
    """The list of that name as one pattern; `{unit}` in it stands for units."""
    lists: dict[str, list[str]] = read_data(Path(__file__).parent / f"{file}.yaml")
    return re.compile("|".join(lists[name]).replace("{unit}", units), flags)
