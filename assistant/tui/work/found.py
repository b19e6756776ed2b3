"""What a task found. Sent over the pipe between the child and the terminal program."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from knowledge.types import Diagnosis, Finding


@dataclass(frozen=True, slots=True)
class TroubleSign:
    """A sign of trouble in a log: its line (from 1), rank, words, and how it tells.

    telling is its place among the lines that the diagnosis rests on (from 1; 0: it is none of them).
    """

    line: int
    text: str
    cause: str
    rank: int | None = None
    file: str | None = None
    count: int = 1
    telling: int = 0


@dataclass(frozen=True, slots=True)
class LogReport:
    """A diagnosis and every hit, in the order of the lines."""

    diagnosis: Diagnosis
    hits: tuple[TroubleSign, ...]


@dataclass(frozen=True, slots=True)
class RankLines:
    """Line numbers (from 1) that a rank wrote; more may follow."""

    rank: int
    numbers: array[int]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Findings in words and as they are; machine is empty where none was known."""

    text: str
    findings: tuple[Finding, ...]
    machine: str


@dataclass(frozen=True, slots=True)
class RehearsalReport:
    """The outcome of a rehearsal, in words and as findings."""

    text: str
    passed: bool
    findings: tuple[Finding, ...]
