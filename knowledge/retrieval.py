"""Search over short texts: by meaning (MiniLM) and by words (BM25), the two rankings fused.

An index is made from its entries, lies in $XDG_DATA_HOME/maple-chat/index/NAME, and is made anew without being asked
when entries, model or format change: what can be kept of the last one is kept. Without MiniLM's weights, with a damaged
index or a server that does not answer, it goes by words alone and says so in `notices`.

Chroma holds the vectors; what a search compares is a file of rows beside it (rows.py), so Chroma is imported only when
an index is made. With a Chroma server the server is asked.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge import building, embedding, store
from knowledge.building import IndexedText, Progress, Work
from knowledge.errors import UnavailableError
from knowledge.generations import FORMAT, Generation, Generations
from knowledge.rows import Sketch, cosines, nearest, open_rows, open_sketch
from knowledge.words import WordRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Places = Sequence[int] | NDArray[np.int64]

RRF_K = 60
"""Reciprocal rank fusion's constant, as in Cormack, Clarke, Buettcher, SIGIR 2009 (doi:10.1145/1571941.1572114)."""
ASKED = (100, 1000)
"""How many Chroma's graph is asked for: more than is needed, since filters come after."""
DEPTH = 100
"""How far down each ranking counts."""


@dataclass(frozen=True)
class Entry:
    """A text to be found. facts travel as metadata; who searches filters by position (`among`)."""

    id: str
    text: str
    facts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The name of its vector: from id and text, so a changed text is another key."""
        return key_of(self.id, self.text)


def key_of(name: str, text: str) -> str:
    """The name of a text's vector."""
    return hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry found: its position among the entries, and its score (1.0: first by every ranking)."""

    position: int
    score: float


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """An entry that one of the rankings has: its cosine (None: no model) and its BM25 score (0: no word in common)."""

    position: int
    cosine: float | None
    words: float


class Index:
    """One searchable set of entries. Threads may share it; processes may share its folder."""

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        server: store.ChromaServer | None = None,
        embedder: Callable[[], embedding.Embedder] = embedding.embedder,
    ) -> None:
        self.name = name
        self.notices: list[str] = []
        self.progress: Progress | None = None
        """Told how many texts are embedded, and of how many, while an index is built."""
        self._generations = Generations((folder or store.data_folder() / "index") / name)
        self._server = server
        self._embedder = embedder
        self._lock = threading.RLock()
        self._entries: Sequence[IndexedText] | None = None
        self._positions: dict[str, int] = {}
        self._embed: embedding.Embedder | None = None
        self._generation: Generation | None = None
        self._words: WordRanking | None = None
        self._vectors: store.Vectors | None = None
        self._rows: NDArray[np.float32] | None = None
        self._sketch: Sketch | None = None

    def refresh(self, entries: Sequence[IndexedText]) -> None:
        """Stand over exactly these entries. Free when they are the same object as the last time."""
        with self._lock:
            if entries is self._entries:
                return
            self.notices.clear()
            self._close()
            self._entries = None  # an interrupted build is tried again the next time
            self._positions = {entry.key: at for at, entry in enumerate(entries)}
            self._embed = self._load_embedder()
            if entries:
                self._open(entries)
            self._entries = entries

    def search(self, words: str, limit: int = 10, among: Places | None = None) -> list[FoundEntry]:
        """The best entries, best first; among: only these positions. Call `refresh` before."""
        with self._lock:
            by_words, by_meaning, _ = self._rankings(words, among, limit)
            return fuse([ranking for ranking in ([at for at, _ in by_words], by_meaning) if ranking], limit)

    def candidates(self, words: str, among: Places | None = None, limit: int = 10) -> list[RankedEntry]:
        """Whatever one of the two rankings has among its first, with what each of them says of it. In no order."""
        with self._lock:
            by_words, by_meaning, vector = self._rankings(words, among, limit)
            scores = dict(by_words)
            places = list(dict.fromkeys([*scores, *by_meaning]))
            near = self._cosines(places, vector)
            return [RankedEntry(at, near.get(at), scores.get(at, 0.0)) for at in places]

    def by_words(self, words: str, among: Places | None = None) -> list[int]:
        """Positions by words alone, best first: a millisecond, where the model takes twenty."""
        with self._lock:
            return [at for at, _ in self._words.scores(words, among, DEPTH)] if self._words else []

    def nearness(self, words: str, places: Sequence[int]) -> dict[int, float]:
        """The cosine of these entries with the words, as far as it can be had."""
        with self._lock:
            vector = self._embed.embed([words[: embedding.MAX_CHARACTERS]])[0] if self._embed and places else None
            return self._cosines(places, vector)

    def _rankings(
        self, words: str, among: Places | None, limit: int
    ) -> tuple[list[tuple[int, float]], list[int], NDArray[np.float32] | None]:
        """By words (with scores), by meaning, and the vector of the words."""
        words = words[: embedding.MAX_CHARACTERS]
        nothing_to_rank = among is not None and len(among) == 0
        if not self._entries or self._words is None or not words.strip() or nothing_to_rank:
            return [], [], None
        held = self._rows is not None or self._vectors is not None
        vector = self._embed.embed([words])[0] if self._embed and held else None
        by_meaning = [] if vector is None else self._rank_by_meaning(vector, among, limit)
        return self._words.scores(words, among, DEPTH), by_meaning, vector

    def _load_embedder(self) -> embedding.Embedder | None:
        try:
            return self._embedder()
        except UnavailableError as error:
            self.notices.append(f"searching by words alone: {error}")
            return None

    def _close(self) -> None:
        if self._vectors:
            with suppress(UnavailableError):
                self._vectors.close()
        self._vectors = self._words = self._generation = self._rows = None

    def _open(self, entries: Sequence[IndexedText]) -> None:
        """Find or build the generation of these entries; what goes wrong leaves words alone, from memory."""
        embedded = self._embed is not None and self._server is None
        model = MODEL_ID if embedded else ""
        wanted = fingerprint(model, entries)
        try:
            with self._generations.locked():
                self._open_generation(wanted, model, entries)
            if self._server and self._embed:
                self._vectors = store.open_server(self._server, f"maple-{self.name}-{MODEL_ID}")
                missing = self._vectors.missing([entry.key for entry in entries])
                work = Work(entries, self._embed, None, self.progress)
                building.add(self._vectors, work, [self._positions[key] for key in missing])
        except (UnavailableError, OSError) as error:
            self._vectors = self._rows = None
            self.notices.append(f"searching by words alone: {error}")
            self._words = self._words or WordRanking.build([entry.text for entry in entries])

    def _open_generation(self, wanted: str, model: str, entries: Sequence[IndexedText]) -> None:
        """Open what is there; one that cannot be read is set aside and built again, once."""
        generation = self._generations.ready(wanted)
        if generation:
            try:
                self._load(generation, len(entries))
                return
            except (store.DamagedIndexError, OSError, ValueError, KeyError) as error:
                self._set_aside(generation, error)
        self._load(self._build(wanted, model, entries), len(entries))

    def _load(self, generation: Generation, count: int) -> None:
        self._generation = generation
        self._words = WordRanking.load(generation.path / "words")
        if generation.model:
            self._rows, self._sketch = open_rows(generation.path, count), open_sketch(generation.path, count)

    def _set_aside(self, generation: Generation, error: Exception) -> None:
        self._close()
        target = self._generations.set_aside(generation.path)
        self.notices.append(f"the index {self.name} was damaged ({error}); it is set aside in {target} and built again")

    def _build(self, wanted: str, model: str, entries: Sequence[IndexedText]) -> Generation:
        """Make the generation, starting from the last one's vectors where they can be had."""
        base = self._generations.latest(model) if model else None
        embed = self._embed if model else None
        if base:
            try:
                work = Work(entries, embed, base, self.progress)
                return self._generations.build(wanted, model, lambda aside: building.make(aside, work))
            except (store.DamagedIndexError, OSError, ValueError) as error:
                self._set_aside(base, error)
        anew = Work(entries, embed, None, self.progress)
        return self._generations.build(wanted, model, lambda aside: building.make(aside, anew))

    def _rank_by_meaning(self, vector: NDArray[np.float32], among: Places | None, limit: int) -> list[int]:
        """Positions by cosine, nearest first; a server that fails costs this ranking."""
        try:
            return self._nearest(vector, among, limit)
        except UnavailableError as error:
            self._vectors = None
            self.notices.append(f"searching by words alone: {error}")
            return []

    def _nearest(self, vector: NDArray[np.float32], among: Places | None, limit: int) -> list[int]:
        import numpy as np

        if self._rows is not None:
            return nearest(self._rows, self._sketch, among, vector, DEPTH)
        if self._vectors is None:
            return []
        allowed = None if among is None else set(np.asarray(among).tolist())
        places: list[int] = []
        for asked in ASKED:
            found = (self._positions.get(key) for key in self._vectors.near(vector, asked))
            places = [at for at in found if at is not None and (allowed is None or at in allowed)]
            if len(places) >= limit:
                break
        return places[:DEPTH]

    def _cosines(self, places: Sequence[int], vector: NDArray[np.float32] | None) -> dict[int, float]:
        """The cosine of each of these entries with the vector, as far as it can be had."""
        if vector is None or not places or not self._entries:
            return {}
        if self._rows is not None:
            return dict(zip(places, cosines(self._rows, places, vector).tolist(), strict=True))
        with suppress(UnavailableError):
            if self._vectors:
                keys, rows = self._vectors.of([self._entries[at].key for at in places])
                return {self._positions[key]: float(near) for key, near in zip(keys, rows @ vector, strict=True)}
        return {}


MODEL_ID = f"{embedding.MODEL}-{embedding.SHA256[:8]}"


def fingerprint(model: str, entries: Sequence[IndexedText]) -> str:
    """What an index is made from, in 24 hex digits: the format, the model, every entry in its order."""
    digest = hashlib.sha256(f"{FORMAT}\0{model}\0".encode())
    for entry in entries:
        digest.update(entry.key.encode())
    return digest.hexdigest()[:24]


def fuse(rankings: Sequence[Sequence[int]], limit: int) -> list[FoundEntry]:
    """Reciprocal rank fusion, scaled so that the first of every ranking has 1.0."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, at in enumerate(ranking[:DEPTH]):
            scores[at] = scores.get(at, 0.0) + (RRF_K + 1) / (RRF_K + 1 + rank) / len(rankings)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [FoundEntry(at, round(score, 6)) for at, score in ranked[:limit]]
