"""A second opinion on a short text, from what it means and not from its words: MiniLM's vector, weighed linearly.

Asked only where the words leave a reader unsure, and only where MiniLM's weights are installed; nothing needs it.
Its weights are data, made by what fits the reader: graph/reading/train.py (clauses of a message), bench/fit_wording.py
(errors that no signature knows).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge.embedding import embedder
from knowledge.errors import UnavailableError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LONGEST = 600  # characters of a text that are looked at


@dataclass(frozen=True, slots=True)
class MeaningModel:
    """weights: float, 384 x labels, in the order of the word model's labels; bias: one a label."""

    weights: Any
    bias: Any

    def logits(self, text: str) -> Any:
        """One number a label, to be added to those of the words."""
        return vector_of(text[:LONGEST]) @ self.weights + self.bias

    def logits_of(self, texts: Sequence[str]) -> Any:
        """The same for many texts at once: texts x labels."""
        return embedder().embed([text[:LONGEST] for text in texts]) @ self.weights + self.bias


@lru_cache(maxsize=256)
def vector_of(text: str) -> Any:
    """The text's vector, float, 384; kept, because a turn that a model leads reads its message twice."""
    return embedder().embed([text])[0]


@cache
def meaning_model(path: Path) -> MeaningModel | None:
    """The model of that file, read once a process; None where MiniLM's weights are not installed."""
    try:
        embedder()
    except UnavailableError:
        return None
    import numpy as np

    with np.load(path) as data:
        return MeaningModel(data["weights"] * data["scale"], data["bias"])


def save_weights(path: Path, weights: ArrayLike, bias: ArrayLike, **names: Any) -> None:
    """weights: float, a row a feature and a column a label; stored as int8 with one scale a label."""
    import numpy as np

    rows = np.asarray(weights)
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-9) / 127
    np.savez_compressed(
        path,
        **names,
        weights=np.round(rows / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=np.asarray(bias, dtype=np.float32),
    )
