"""Whether what people think of helps against a cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_facts
from knowledge.strict import Facts

WHAT_HELPS = Path(__file__).parent / "what_helps.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Help(Facts):
    """causes: ids, or beginnings of a family (`gpu-`); of: a pattern over lower-case words; says: yes or no, why."""

    causes: tuple[str, ...]
    of: str
    says: str


@cache
def what_helps() -> tuple[Help, ...]:
    """The table, in the order in which it counts. Raises FactsError on a wrong file."""
    found: tuple[Help, ...] = read_facts(WHAT_HELPS, tuple[Help, ...])
    return found


def would_help(cause: str, words: str) -> str:
    """What is known of it; empty where nothing is."""
    of_cause = (
        one for one in what_helps() if any(cause == c or (c.endswith("-") and cause.startswith(c)) for c in one.causes)
    )
    return next((one.says for one in of_cause if re.search(one.of, words.lower())), "")
