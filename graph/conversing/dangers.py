"""What no script and no answer of ours may hold, whoever asks for it: lines that destroy, fetch and run, or spy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data

# An address among a command's words; options and their values (`'=https'`) have no dot.
ADDRESS = re.compile(r"(?<!\S)[\"']?(?P<address>(?:\w+://)?[^\s\"'|=-][^\s\"'|]*\.[^\s\"'|)]+)")


@cache
def guard_data() -> Mapping[str, Any]:
    """The tables of guard.yaml."""
    found: Mapping[str, Any] = read_data(Path(__file__).with_name("guard.yaml"))
    return found


def spoken(name: str) -> re.Pattern[str]:
    """Words of guard.yaml in all their languages, as one pattern of whole words."""
    words = re.sub(r"\s+\|", "|", "|".join(guard_data()[name].values()))  # as YAML folds lines
    return re.compile(rf"\b(?:{words})\b", re.I)


def note(name: str, language: str = "") -> str:
    """What the guard says itself, in that language; English where guard.yaml has none of it."""
    told: Mapping[str, str] = guard_data()["notes"][name]
    return told.get(language) or told["en"]


@cache
def patterns() -> tuple[tuple[re.Pattern[str], str, bool, re.Pattern[str] | None], ...]:
    return tuple(
        (
            re.compile(one["finds"], re.I),
            one["says"],
            one.get("in_code", False),
            re.compile(one["makers"], re.I) if "makers" in one else None,
        )
        for one in guard_data()["dangers"]
    )


def dangerous(text: str, *, code: bool = True) -> str:
    """What the text would do that nothing of ours may do; empty where nothing is found. code: it is to be run."""
    return next(
        (
            says
            for pattern, says, in_code, makers in patterns()
            if code or not in_code
            for found in pattern.finditer(text)
            if not (makers and is_of_makers(found[0], makers))
        ),
        "",
    )


def is_of_makers(command: str, makers: re.Pattern[str]) -> bool:
    """Whether all that a command fetches comes from where a tool's own makers tell people to fetch it."""
    addresses = [one["address"] for one in ADDRESS.finditer(command)]
    return bool(addresses) and all(makers.fullmatch(one) for one in addresses)


def without_dangers(rows: Sequence[str], language: str = "") -> list[str]:
    """The lines of a block of code with a remark for each that is dangerous, or for all of them where it takes several
    together. A line that goes on behind a backslash is one."""
    taken_out, kept = note("taken_out", language), list[str]()
    for whole in continued(rows):
        danger = dangerous("\n".join(whole)) or dangerous(" ".join(row.rstrip("\\ ") for row in whole))
        kept += [taken_out.format(danger)] if danger else whole
    left = dangerous("\n".join(kept))
    return [taken_out.format(left)] if left else kept


def continued(rows: Sequence[str]) -> Iterator[list[str]]:
    """The lines by commands: those that end on a backslash with the one behind them."""
    at, numbers = 0, []
    for row in rows:
        numbers.append(at)
        at += not row.endswith("\\")
    for _, pairs in groupby(zip(numbers, rows, strict=True), key=lambda pair: pair[0]):
        yield [row for _, row in pairs]
