"""A logistic model over named features: its weights in a JSON file, and the probability that they give."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def read_weights(path: Path) -> Mapping[str, float]:
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return found


def chance(path: Path, features: Mapping[str, float]) -> float:
    """The probability, 0 to 1, by the weights of that file; a feature that was not seen in the fit weighs nothing."""
    known = read_weights(path)
    return 1 / (1 + math.exp(-sum(known.get(name, 0.0) * value for name, value in features.items())))
