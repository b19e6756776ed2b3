"""An index in memory, for the few thousand passages that are shipped: no folder, no Chroma, ready at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from knowledge import embedding
from knowledge.building import STEP, IndexedText
from knowledge.kept import folder
from knowledge.minilm import shipped
from knowledge.retrieval import Index
from knowledge.words import WordRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEPT = "shipped-vectors.npz"
"""In the cache folder, by the content of each passage: no change of code makes them anew."""


class InMemoryIndex(Index):
    """As an Index, but made anew in each process. Vectors that do not come with the program are made once and kept."""

    def __init__(self, embedder: Callable[[], embedding.Embedder] = embedding.embedder) -> None:
        super().__init__("shipped", embedder=embedder)

    def _open(self, entries: Sequence[IndexedText]) -> None:
        self._words = WordRanking.build([entry.text for entry in entries])
        if self._embed:
            self._rows = self._gathered(entries, self._embed)

    def _gathered(self, entries: Sequence[IndexedText], embed: embedding.Embedder) -> NDArray[np.float32]:
        import numpy as np

        known = shipped.read()
        missing = [entry for entry in entries if entry.key not in known]
        own = shipped.read(folder() / KEPT) if missing else {}
        missing = [entry for entry in missing if entry.key not in own]
        for start in range(0, len(missing), STEP):
            part = missing[start : start + STEP]
            rows = embed.embed([entry.text for entry in part])
            own |= {entry.key: row for entry, row in zip(part, rows, strict=True)}
            if self.progress:
                self.progress(start + len(part), len(missing))
        if missing:
            there = {entry.key for entry in entries}
            with suppress(OSError):
                folder().mkdir(mode=0o700, parents=True, exist_ok=True)
                shipped.write(folder() / KEPT, {key: row for key, row in own.items() if key in there})
        return np.stack([known[entry.key] if entry.key in known else own[entry.key] for entry in entries])
