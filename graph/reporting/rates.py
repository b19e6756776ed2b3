"""Chances of counts: exact tails of the Poisson and the binomial distribution, and Holm's correction for many tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

SMALL = 1e-17


def poisson_tail(seen: int, mean: float) -> float:
    """The chance of `seen` or more where `mean` are expected."""
    if seen <= 0:
        return 1.0
    if mean <= 0:
        return 0.0
    if seen < mean:
        return max(0.0, 1.0 - _upward(0, seen, lambda k: -mean + k * math.log(mean) - math.lgamma(k + 1)))
    return min(1.0, _upward(seen, None, lambda k: -mean + k * math.log(mean) - math.lgamma(k + 1)))


def binomial_tail(seen: int, tries: int, chance: float) -> float:
    """The chance of `seen` or more of `tries`, each with `chance`."""
    if seen <= 0 or chance >= 1:
        return 1.0
    if chance <= 0 or seen > tries:
        return 0.0
    whole, yes, no = math.lgamma(tries + 1), math.log(chance), math.log1p(-chance)

    def log_chance(k: int) -> float:
        return whole - math.lgamma(k + 1) - math.lgamma(tries - k + 1) + k * yes + (tries - k) * no

    if seen <= tries * chance:
        return max(0.0, 1.0 - _upward(0, seen, log_chance))
    return min(1.0, _upward(seen, tries + 1, log_chance))


def _upward(first: int, end: int | None, log_chance: object) -> float:
    """The sum from `first` on, to `end` or to where what is added no longer counts."""
    assert callable(log_chance)
    total, k = 0.0, first
    while end is None or k < end:
        added = math.exp(log_chance(k))
        total += added
        k += 1
        if end is None and added < total * SMALL:
            break
    return total


def holm(chances: Sequence[float]) -> list[float]:
    """The chances corrected for their number (Holm 1979): which are below a level, are so with all tests together."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, highest = [1.0] * len(chances), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[index]))
        corrected[index] = highest
    return corrected
