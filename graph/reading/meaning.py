"""A second opinion on a clause, from what it means and not from its words: MiniLM's vector, weighed linearly.

Asked only where the words leave the reader unsure, and only where MiniLM's weights are installed; nothing needs it.
On sentences of a new voice it reads 4 to 5 of 100 more rightly (tests/reading/sentences/more.jsonl, held out).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from knowledge.embedding import embedder
from knowledge.errors import UnavailableError

WEIGHTS = Path(__file__).parent / "meaning.npz"
LONGEST = 600  # characters of a clause that are looked at


@dataclass(frozen=True, slots=True)
class MeaningModel:
    """weights: float, 384 x labels, in the order of the word model's labels; bias: one a label."""

    weights: Any
    bias: Any

    def logits(self, text: str) -> Any:
        """One number a label, to be added to those of the words."""
        return vector_of(text[:LONGEST]) @ self.weights + self.bias


@lru_cache(maxsize=256)
def vector_of(text: str) -> Any:
    """The clause's vector, float, 384; kept, because a turn that a model leads reads its message twice."""
    return embedder().embed([text])[0]


@cache
def meaning_model() -> MeaningModel | None:
    """The model, read once a process; None where MiniLM's weights are not installed."""
    try:
        embedder()
    except UnavailableError:
        return None
    import numpy as np

    with np.load(WEIGHTS) as data:
        return MeaningModel(data["weights"] * data["scale"], data["bias"])
