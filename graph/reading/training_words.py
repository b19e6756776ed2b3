"""How something is trained or served, as words say it: the method, the precision, the optimizer, what is recomputed,
what lies on the CPU, and the models kept beside the one in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from knowledge.data_file import read_data


@dataclass(frozen=True, slots=True)
class TrainingWord:
    """field: of a ResourceQuestion; value: what it says of it; start, end: where it stands, in characters."""

    field: str
    value: str
    start: int
    end: int
    text: str


AC = r"(?:(?:activation|gradient|grad|act)[- _]?(?:checkpoint|ckpt)\w*|recomput\w+|(?<!\w)ac(?!\w))"


@cache
def _patterns() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    rows = read_data(Path(__file__).with_suffix(".yaml"))
    words = ((row["field"], row["value"], row["says"].replace("{AC}", AC)) for row in rows)
    return tuple((field, value, re.compile(rf"(?<![\w])(?:{says})(?!\w)", re.I | re.A)) for field, value, says in words)


def every_training_word(text: str) -> Iterator[TrainingWord]:
    """All of them at all their places, but those inside another of the same field: `gradient checkpointing` of `no
    gradient checkpointing`."""
    found = [
        TrainingWord(field, value, match.start(), match.end(), match[0])
        for field, value, pattern in _patterns()
        for match in pattern.finditer(text)
    ]
    inside = [(one.field, one.start, one.end) for one in found]
    for one in found:
        if not any(
            field == one.field and start <= one.start and one.end <= end and end - start > one.end - one.start
            for field, start, end in inside
        ):
            yield one


def find_training_words(text: str) -> Iterator[TrainingWord]:
    """One word for each field that the text says something of; of the precision each."""
    said: set[str] = set()
    for field, value, pattern in _patterns():
        found = pattern.search(text)
        if found and (field not in said or field == "precision"):
            said.add(field)
            yield TrainingWord(field, value, found.start(), found.end(), found[0])
