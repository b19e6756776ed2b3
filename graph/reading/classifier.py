"""The trained classifier of act and topic: a linear model over named features, read with numpy alone.

acts.npz holds `features` (their names, joined by line ends), `labels`, `weights` (int8, features x labels), `scale`
(per label) and `bias`; `python -m graph.reading.train` writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS = Path(__file__).parent / "acts.npz"


@dataclass(frozen=True, slots=True)
class LinearModel:
    """index: feature -> row of weights (int8, features x labels); scale and bias: one number a label."""

    index: Mapping[str, int]
    labels: tuple[str, ...]
    weights: Any
    scale: Any
    bias: Any

    def logits(self, features: Sequence[str]) -> Any:
        """One number a label. Each feature weighs by the root of their number."""
        rows = [self.index[name] for name in features if name in self.index]
        if not rows:
            return self.bias.copy()
        return self.bias + self.weights[rows].sum(axis=0, dtype=np.float32) * self.scale / np.sqrt(len(features))

    def ranked(self, logits: Any) -> list[tuple[str, float]]:
        """Each label with its probability, the likeliest first."""
        powers = np.exp(logits - logits.max())
        shares = powers / powers.sum()
        return [(self.labels[i], float(shares[i])) for i in np.argsort(-shares)]

    def probabilities(self, features: Sequence[str]) -> list[tuple[str, float]]:
        """Each label with its probability by these features, the likeliest first."""
        return self.ranked(self.logits(features))


@cache
def act_model() -> LinearModel:
    """The model of acts and topics, read once a process (about 20 ms)."""
    return load_model(WEIGHTS)


def load_model(path: Path) -> LinearModel:
    """A model as `save_model` wrote it."""
    with np.load(path) as data:
        names = str(data["features"]).split("\n")
        labels = tuple(str(data["labels"]).split("\n"))
        return LinearModel(
            {name: i for i, name in enumerate(names)}, labels, data["weights"], data["scale"], data["bias"]
        )


def save_model(path: Path, names: Sequence[str], labels: Sequence[str], weights: Any, bias: Any) -> None:
    """weights: float, features x labels; stored as int8 with one scale a label."""
    scale = np.maximum(np.abs(weights).max(axis=0), 1e-9) / 127
    np.savez_compressed(
        path,
        features=np.array("\n".join(names)),
        labels=np.array("\n".join(labels)),
        weights=np.round(weights / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=np.asarray(bias, dtype=np.float32),
    )
