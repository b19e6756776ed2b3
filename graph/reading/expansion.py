"""Training sentences made from patterns: `(a|b)` is a choice, `{name}` a slot; drawn the same way each time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data

CHOICE = re.compile(r"(?<!\\)\(([^()]*)(?<!\\)\)")
SLOT = re.compile(r"\{(\w+)\}")


def expand_patterns(path: Path, draws: int) -> Iterator[tuple[str, str]]:
    """Label and sentence of every pattern of the file, each drawn `draws` times, without repeats."""
    data: dict[str, Any] = read_data(path)
    for label, patterns in data["patterns"].items():
        for pattern in patterns:
            source = random.Random(f"{label} {pattern}")
            drawn = (draw_sentence(pattern, data["slots"], source) for _ in range(draws))
            yield from ((label, sentence) for sentence in dict.fromkeys(drawn))


def draw_sentence(pattern: str, slots: Mapping[str, Sequence[str]], source: random.Random) -> str:
    """One sentence of a pattern; inner choices first."""
    while choice := CHOICE.search(pattern):
        pattern = pattern[: choice.start()] + source.choice(choice[1].split("|")) + pattern[choice.end() :]
    filled = SLOT.sub(lambda slot: source.choice(slots[slot[1]]), pattern.replace("\\", ""))
    return " ".join(filled.split())
