"""From verdicts to figures: shares with their range, what two runs differ in, what a confidence is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt

from assistant.evaluating.judging import CaseVerdict

# The 95 % point of the normal distribution.
Z = 1.959964
# Confidences from here on, up to the next.
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Judged:
    """One case of a run."""

    set: str
    part: str
    type: str
    id: str
    verdict: CaseVerdict

    @property
    def right(self) -> bool:
        return self.verdict.marks[0][1]

    @property
    def key(self) -> tuple[str, str]:
        return self.set, self.id


@dataclass(frozen=True, slots=True)
class Share:
    """So many right of so many."""

    right: int
    of: int

    @property
    def percent(self) -> float:
        return 100 * self.right / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval in percent: it holds for few cases and near 100 %, where the usual one fails."""
        if not self.of:
            return 0.0, 100.0
        share, spread = self.right / self.of, Z * Z / self.of
        middle = (share + spread / 2) / (1 + spread)
        half = Z * sqrt(share * (1 - share) / self.of + spread / self.of / 4) / (1 + spread)
        return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)


def share_of(marks: Iterable[bool]) -> Share:
    counted = list(marks)
    return Share(sum(counted), len(counted))


def measures(cases: Sequence[Judged]) -> Iterator[tuple[str, str, str, Share]]:
    """Set, type, mark and share, in the order of the cases."""
    rows: dict[tuple[str, str, str], list[bool]] = {}
    for case in cases:
        for mark, right in case.verdict.marks:
            rows.setdefault((case.set, case.type, mark), []).append(right)
    for (name, kind, mark), marks in rows.items():
        yield name, kind, mark, share_of(marks)


def groups(cases: Iterable[Judged]) -> dict[str, Share]:
    """The share of each group, by name."""
    rows: dict[str, list[bool]] = {}
    for case in cases:
        rows.setdefault(case.verdict.group, []).append(case.right)
    return {name: share_of(rows[name]) for name in sorted(rows)}


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs over the cases that both have. chance: how likely so uneven a split is if neither is better."""

    both: int
    gained: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]
    only_before: int
    only_now: int
    chance: float


def compare(before: Mapping[tuple[str, str], bool], now: Mapping[tuple[str, str], bool]) -> Compared:
    """Which cases flipped, and McNemar's exact test over them."""
    both = [key for key in now if key in before]
    gained = tuple(key for key in both if now[key] and not before[key])
    lost = tuple(key for key in both if before[key] and not now[key])
    chance = mcnemar(len(gained), len(lost))
    return Compared(len(both), gained, lost, len(before) - len(both), len(now) - len(both), chance)


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided exact probability, 0 to 1: flips are tosses of a fair coin if neither run is better."""
    flips, fewer = gained + lost, min(gained, lost)
    ways: int = sum(comb(flips, count) for count in range(fewer + 1))
    return min(1.0, ways / float(2 ** max(0, flips - 1)))


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases of like confidence. said: their mean confidence, 0 to 1."""

    low: float
    high: float
    said: float
    share: Share


def calibration(cases: Iterable[Judged]) -> tuple[Bin, ...]:
    """How often it is right where it says so; empty bins are left out."""
    rows: list[list[tuple[float, bool]]] = [[] for _ in BINS]
    for case in cases:
        if (confidence := case.verdict.confidence) is not None:
            rows[max(n for n, low in enumerate(BINS) if confidence >= low)].append((confidence, case.right))
    return tuple(
        Bin(low, high, sum(said for said, _ in row) / len(row), share_of(right for _, right in row))
        for low, high, row in zip(BINS, (*BINS[1:], 1.0), rows, strict=True)
        if row
    )


def expected_error(bins: Sequence[Bin]) -> float:
    """The mean distance between what is said and what comes true, weighed by cases; 0 is perfect."""
    total = sum(one.share.of for one in bins)
    return sum(one.share.of * abs(one.said - one.share.right / one.share.of) for one in bins) / total if total else 0.0
