"""The trained classifier of act and topic: a linear model over named features, read without numpy.

Importing numpy takes longer than to read a hundred messages in plain Python. acts.npz holds `features` (their names,
joined by line ends), `labels`, `weights` (int8, features x labels), `scale` (per label) and `bias`;
`python -m graph.reading.train` writes it.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import add
from pathlib import Path

WEIGHTS = Path(__file__).parent / "acts.npz"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """index: feature -> its row; weights: the rows behind each other, a number a label; scale, bias: one a label."""

    index: Mapping[str, int]
    labels: tuple[str, ...]
    weights: Sequence[float]
    scale: Sequence[float]
    bias: Sequence[float]

    def logits(self, features: Sequence[str]) -> list[float]:
        """One number a label. Each feature weighs by the root of their number."""
        width = len(self.labels)
        total: list[float] = [0] * width
        for row in (self.index[name] * width for name in features if name in self.index):
            total = list(map(add, total, self.weights[row : row + width]))
        share = 1 / math.sqrt(len(features) or 1)
        return [bias + sum_ * scale * share for bias, sum_, scale in zip(self.bias, total, self.scale, strict=True)]

    def ranked(self, logits: Sequence[float]) -> list[tuple[str, float]]:
        """Each label with its probability, the likeliest first."""
        most = max(logits)
        powers = [math.exp(one - most) for one in logits]
        whole = sum(powers)
        return sorted(zip(self.labels, (one / whole for one in powers), strict=True), key=lambda pair: -pair[1])

    def probabilities(self, features: Sequence[str]) -> list[tuple[str, float]]:
        """Each label with its probability by these features, the likeliest first."""
        return self.ranked(self.logits(features))


@cache
def act_model() -> LinearModel:
    """The model of acts and topics, read once a process (about 20 ms)."""
    return load_model(WEIGHTS)


def load_model(path: Path) -> LinearModel:
    """A model as `python -m graph.reading.train` wrote it."""
    with zipfile.ZipFile(path) as parts:
        names, labels, weights, scale, bias = (
            array_bytes(parts.read(f"{name}.npy")) for name in ("features", "labels", "weights", "scale", "bias")
        )
    rows = {name: row for row, name in enumerate(str(names, "utf-32-le").split("\n"))}
    known = tuple(str(labels, "utf-32-le").split("\n"))
    return LinearModel(rows, known, weights.cast("b"), scale.cast("f"), bias.cast("f"))


def array_bytes(stored: bytes) -> memoryview:
    """What stands behind the header of an array in NumPy's format 1.0 (a magic word, the header's length, itself)."""
    (length,) = struct.unpack_from("<H", stored, 8)
    return memoryview(stored)[10 + length :]
