"""Ranking by words: BM25 (bm25s), which finds flags, error strings and names to the letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTHING = "\0"
"""Stands where no text has a telling word, such as "It is this.": bm25s takes no corpus without words."""
_TOKEN = re.compile(r"\w+(?:[-.]\w+)*")


def tokens(text: str) -> list[str]:
    """Words for BM25: as written, and with inner signs taken apart or left out ("ZeRO-3": zero-3, zero, 3, zero3)."""
    return [token for word in _TOKEN.findall(text.lower()) for token in _taken_apart(word)]


def telling(text: str) -> list[str]:
    """The tokens without English function words, which in a small index would decide the order."""
    return [token for word in _TOKEN.findall(text.lower()) for token in _telling(word)]


def _taken_apart(word: str) -> tuple[str, ...]:
    parts = re.split(r"[-._]", word)
    # Of `_` alone nothing is left, and bm25s fails on an empty word.
    return tuple(filter(None, (word, *parts, "".join(parts)))) if len(parts) > 1 else (word,)


@lru_cache(maxsize=100_000)
def _telling(word: str) -> tuple[str, ...]:
    from bm25s.stopwords import STOPWORDS_EN

    return tuple(token for token in _taken_apart(word) if token not in STOPWORDS_EN)


class WordRanking:
    """BM25 over the entries, by position."""

    def __init__(self, bm25: Any) -> None:
        self._bm25 = bm25

    @classmethod
    def build(cls, texts: Sequence[str]) -> WordRanking:
        import bm25s

        listed = [telling(text) for text in texts]
        if not any(listed):
            listed[0] = [NOTHING]
        bm25 = bm25s.BM25()
        bm25.index(listed, show_progress=False)
        return cls(bm25)

    @classmethod
    def load(cls, folder: Path) -> WordRanking:
        """Mapped, not read. Raises OSError or ValueError when it is damaged."""
        import bm25s

        return cls(bm25s.BM25.load(folder, mmap=True))

    def save(self, folder: Path) -> None:
        self._bm25.save(folder, show_progress=False)

    def scores(
        self, words: str, among: Sequence[int] | NDArray[np.int64] | None = None, count: int = 100
    ) -> list[tuple[int, float]]:
        """Positions with their BM25 score, best first; those without any word in common are left out."""
        import numpy as np

        asked = telling(words)
        if not asked:
            return []
        scores = self._bm25.get_scores(asked)
        places = np.flatnonzero(scores > 0) if among is None else np.asarray(among, dtype=np.int64)
        kept = places[scores[places] > 0]
        if len(kept) > count:
            kept = np.sort(kept[np.argpartition(-scores[kept], count)[:count]])
        order = kept[np.argsort(-scores[kept], kind="stable")]
        return [(int(at), float(scores[at])) for at in order]
