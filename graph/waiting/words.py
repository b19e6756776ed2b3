"""The words and short texts of what is told of a waiting job (words.yaml), table by table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data

PATH = Path(__file__).with_name("words.yaml")


@cache
def tables() -> Mapping[str, Any]:
    """All tables. Raises FactsError on a wrong file."""
    found: Mapping[str, Any] = read_data(PATH)
    return found


def with_parts(text: str, parts: Mapping[str, str]) -> str:
    """A pattern with what its `{NAMES}` stand for."""
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return text
