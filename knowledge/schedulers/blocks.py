"""Blocks of named values: Slurm's Key=Value pairs and PBS's `name = value` lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.schedulers.records import Fields

# A key of Slurm's: `JobId`, `CPUs/Task`, `AllocNode:Sid`, `ReqB:S:C:T`.
PAIR = re.compile(
    r"(?<!\S)([A-Z][A-Za-z_]*(?:[:/][A-Z][A-Za-z:]*)*)=(.*?)(?=\s+[A-Z][A-Za-z_]*(?:[:/][A-Z][A-Za-z:]*)*=|\s*$)"
)
PAIR_LINE = re.compile(r"\s*[A-Z][A-Za-z_]*(?:[:/][A-Z][A-Za-z:]*)*=\S*")
SETTING = re.compile(r"\s*([A-Za-z_][\w.]*) = (.*)")
# A value of `qstat -f` goes on in a line that begins with a tab; pasting turns the tab into blanks.
GOES_ON = re.compile(r"\t\s*\S|\s{6,}\S")


def rest_of(line: str) -> str:
    """What a wrapped value goes on with: qstat puts a tab before it and drops no blank."""
    return line[1:] if line.startswith("\t") else line.lstrip()


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that belong together, and the number of the first."""

    first: int
    lines: tuple[str, ...]


def pair_block(lines: Sequence[str], at: int) -> LineBlock | None:
    """The lines of Key=Value pairs from `at` on."""
    end = at
    while end < len(lines) and PAIR_LINE.match(lines[end]):
        end += 1
    return LineBlock(at, tuple(lines[at:end])) if end > at else None


def read_pairs(lines: Sequence[str]) -> Fields:
    """The pairs of Key=Value lines, in order."""
    # ` ...` stands for what the person left out.
    return tuple((m[1], m[2].strip().removesuffix(" ...")) for line in lines for m in PAIR.finditer(line))


def setting_block(lines: Sequence[str], at: int) -> LineBlock | None:
    """The `name = value` lines from `at` on, with those in which a value goes on."""
    end = at
    while end < len(lines) and (SETTING.match(lines[end]) or (end > at and GOES_ON.match(lines[end]))):
        end += 1
    return LineBlock(at, tuple(lines[at:end])) if end > at else None


def read_settings(lines: Sequence[str]) -> Fields:
    """The names and values, each value's parts joined as they were before they were wrapped."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if match := SETTING.match(line):
            found.append((match[1], match[2]))
        elif found:
            name, value = found[-1]
            found[-1] = (name, value + rest_of(line))
    return tuple(found)
