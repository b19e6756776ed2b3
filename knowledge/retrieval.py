"""Search over short texts: by meaning (MiniLM, Chroma) and by words (BM25), the two rankings fused.

An index is made from its entries, lies in $XDG_DATA_HOME/maple-chat/index/NAME, and is made anew without being asked
when entries, model or format change: what can be kept of the last one is kept. Without MiniLM's weights, with a damaged
index or a server that does not answer, it goes by words alone and says so in `notices`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge import embedding, store
from knowledge.errors import UnavailableError
from knowledge.generations import FORMAT, Generation, Generations
from knowledge.words import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RRF_K = 60
"""Reciprocal rank fusion's constant, as in Cormack, Clarke, Buettcher, SIGIR 2009 (doi:10.1145/1571941.1572114)."""
EXACT = 10_000
"""Up to so many entries, all vectors are held (15 MB) and compared: 1 ms, and nothing is missed. Chroma's graph misses
outliers among near-duplicates (one saved text among 910 of one pattern was not in its first 100)."""
NARROW = 300
"""Beyond, up to so many candidates are fetched and compared; else Chroma's graph is asked for more than is needed."""
ASKED = (100, 1000)
STEP = 256
"""Texts embedded and added at a time: a second or two, after which progress is told."""
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
        return hashlib.sha256(f"{self.id}\0{self.text}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry found: its position among the entries, and its score (1.0: first by every ranking)."""

    position: int
    score: float


class Index:
    """One searchable set of entries. Threads may share it; processes may share its folder."""

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        server: store.Server | None = None,
        embedder: Callable[[], embedding.Embedder] = embedding.embedder,
    ) -> None:
        self.name = name
        self.notices: list[str] = []
        self.progress: Callable[[int, int], None] | None = None
        """Told how many texts are embedded, and of how many, while an index is built."""
        self._generations = Generations((folder or store.data_folder() / "index") / name)
        self._server = server
        self._embedder = embedder
        self._lock = threading.RLock()
        self._entries: Sequence[Entry] | None = None
        self._positions: dict[str, int] = {}
        self._embed: embedding.Embedder | None = None
        self._generation: Generation | None = None
        self._words: Words | None = None
        self._vectors: store.Vectors | None = None
        self._rows: NDArray[np.float32] | None = None

    def refresh(self, entries: Sequence[Entry]) -> None:
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

    def search(self, words: str, limit: int = 10, among: Sequence[int] | None = None) -> list[Hit]:
        """The best entries, best first; among: only these positions. Call `refresh` before."""
        with self._lock:
            words = words[: embedding.MAX_CHARACTERS]
            nothing_to_rank = among is not None and not among
            if not self._entries or self._words is None or not words.strip() or nothing_to_rank:
                return []
            by_meaning = self._rank_by_meaning(words, among, limit)
            by_words = self._words.rank(words, among, DEPTH)
            return fuse([ranking for ranking in (by_words, by_meaning) if ranking], limit)

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

    def _open(self, entries: Sequence[Entry], damage: Exception | None = None) -> None:
        """Find or build the generation of these entries; what goes wrong leaves words alone, from memory.

        damage: what reading the generation in use ran into; it is set aside first.
        """
        embedded = self._embed is not None and self._server is None
        model = MODEL_ID if embedded else ""
        wanted = fingerprint(model, entries)
        try:
            with self._generations.locked():
                if damage and self._generation:
                    self._set_aside(self._generation, damage)
                self._open_generation(wanted, model, entries)
            if self._server and self._embed:
                self._vectors = store.open_server(self._server, f"maple-{self.name}-{MODEL_ID}")
                self._add_missing(self._vectors, entries)
        except (UnavailableError, OSError) as error:
            self._vectors = None
            self.notices.append(f"searching by words alone: {error}")
            self._words = self._words or Words.build([entry.text for entry in entries])

    def _open_generation(self, wanted: str, model: str, entries: Sequence[Entry]) -> None:
        """Open what is there; one that cannot be read is set aside and built again, once."""
        generation = self._generations.ready(wanted)
        if generation:
            try:
                self._load(generation)
                return
            except (store.DamagedIndexError, OSError, ValueError, KeyError) as error:
                self._set_aside(generation, error)
        self._load(self._build(wanted, model, entries))

    def _load(self, generation: Generation) -> None:
        self._generation = generation
        self._words = Words.load(generation.path / "words")
        if generation.model:
            self._vectors = store.open_folder(generation.path / "chroma")

    def _set_aside(self, generation: Generation, error: Exception) -> None:
        self._close()
        target = self._generations.set_aside(generation.path)
        self.notices.append(f"the index {self.name} was damaged ({error}); it is set aside in {target} and built again")

    def _build(self, wanted: str, model: str, entries: Sequence[Entry]) -> Generation:
        """Make the generation, starting from the last one's vectors where they can be had."""
        base = self._generations.latest(model) if model else None
        if base:
            try:
                return self._generations.build(wanted, model, lambda aside: self._make(aside, entries, model, base))
            except (store.DamagedIndexError, OSError, ValueError) as error:
                self._set_aside(base, error)
        return self._generations.build(wanted, model, lambda aside: self._make(aside, entries, model, None))

    def _make(self, aside: Path, entries: Sequence[Entry], model: str, base: Generation | None) -> None:
        """Fill one folder: words, and with a model the vectors and their keys."""
        Words.build([entry.text for entry in entries]).save(aside / "words")
        keys = [entry.key for entry in entries]
        (aside / "keys.json").write_text(json.dumps(keys), encoding="utf-8")
        if not model:
            return
        gone: set[str] = set()
        if base:
            gone = set(json.loads((base.path / "keys.json").read_text(encoding="utf-8"))) - set(keys)
            shutil.copytree(base.path / "chroma", aside / "chroma")
        vectors = store.open_folder(aside / "chroma")
        try:
            vectors.remove(sorted(gone))
            self._add_missing(vectors, entries)
        finally:
            vectors.close()

    def _add_missing(self, vectors: store.Vectors, entries: Sequence[Entry]) -> None:
        assert self._embed is not None
        missing = vectors.missing([entry.key for entry in entries])
        for start in range(0, len(missing), STEP):
            keys = missing[start : start + STEP]
            batch = [entries[self._positions[key]] for key in keys]
            vectors.add(keys, self._embed.embed([one.text for one in batch]), [one.facts for one in batch])
            if self.progress:
                self.progress(start + len(keys), len(missing))

    def _rank_by_meaning(self, words: str, among: Sequence[int] | None, limit: int) -> list[int]:
        """Positions by cosine, nearest first. A damaged index is built again once; a failing server costs this rank."""
        assert self._entries is not None
        for first in (True, False):
            if self._vectors is None or self._embed is None:
                return []
            try:
                return self._nearest(self._vectors, self._embed.embed([words])[0], among, limit)
            except UnavailableError as error:
                if first and isinstance(error, store.DamagedIndexError):
                    self._open(self._entries, error)
                else:
                    self._vectors = None
                    self.notices.append(f"searching by words alone: {error}")
        return []

    def _nearest(
        self, vectors: store.Vectors, vector: NDArray[np.float32], among: Sequence[int] | None, limit: int
    ) -> list[int]:
        assert self._entries is not None
        if len(self._entries) <= EXACT:
            return self._compare_all(vectors, vector, among)
        if among is not None and len(among) <= NARROW:
            keys, rows = vectors.of([self._entries[at].key for at in among])
            order = (-(rows @ vector)).argsort(kind="stable") if keys else ()
            return [self._positions[keys[int(row)]] for row in order]
        allowed: Collection[int] | None = None if among is None else set(among)
        places: list[int] = []
        for count in ASKED:
            found = (self._positions.get(key) for key in vectors.near(vector, count))
            places = [at for at in found if at is not None and (allowed is None or at in allowed)]
            if len(places) >= limit:
                break
        return places

    def _compare_all(
        self, vectors: store.Vectors, vector: NDArray[np.float32], among: Sequence[int] | None
    ) -> list[int]:
        """Every entry's vector against this one, from memory."""
        import numpy as np

        assert self._entries is not None
        if self._rows is None:
            self._rows = np.zeros((len(self._entries), embedding.WIDTH), dtype=np.float32)
            for start in range(0, len(self._entries), store.BATCH):
                keys, rows = vectors.of([entry.key for entry in self._entries[start : start + store.BATCH]])
                self._rows[[self._positions[key] for key in keys]] = rows
        places = np.arange(len(self._entries)) if among is None else np.asarray(among, dtype=np.int64)
        order = (-(self._rows[places] @ vector)).argsort(kind="stable")[:DEPTH]
        ranked: list[int] = places[order].tolist()
        return ranked


MODEL_ID = f"{embedding.MODEL}-{embedding.SHA256[:8]}"


def fingerprint(model: str, entries: Sequence[Entry]) -> str:
    """What an index is made from, in 24 hex digits: the format, the model, every entry in its order."""
    digest = hashlib.sha256(f"{FORMAT}\0{model}\0".encode())
    for entry in entries:
        digest.update(entry.key.encode())
    return digest.hexdigest()[:24]


def fuse(rankings: Sequence[Sequence[int]], limit: int) -> list[Hit]:
    """Reciprocal rank fusion, scaled so that the first of every ranking has 1.0."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, at in enumerate(ranking[:DEPTH]):
            scores[at] = scores.get(at, 0.0) + (RRF_K + 1) / (RRF_K + 1 + rank) / len(rankings)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(at, round(score, 6)) for at, score in ranked[:limit]]
