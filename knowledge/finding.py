"""Finding passages: what is shipped and what was read in, by words and meaning, and only what fits the question.

Every candidate of the rankings is judged by the same measure, so that the collections can be put in one order: the
cosine of MiniLM, the share of the question's telling words that the passage has (weighed by how rare they are in this
field), and what the question means to the letter (options, variables, quotations). Below the threshold a passage is no
answer, and is left out: silence is better than a text about something else. docs/retrieval.md has the figures.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from knowledge import embedding, store
from knowledge.held import InMemoryIndex
from knowledge.judging import LIKE_A_CARD, LIKE_OTHERS, ReadQuestion, folded, judged, read, shared, telling_words
from knowledge.retrieval import Index, RankedEntry, fuse, key_of
from knowledge.shipped import ShippedIndex, shipped, whole
from knowledge.types import Passage, PassageKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLLECTION_OF: Mapping[PassageKind, str] = {"doc": "docs", "issue": "issues", "ticket": "tickets"}
"""Where passages that were read in are indexed; what is shipped is held in memory, what the web gives is not kept."""
Told = Callable[[str, int, int], None]
"""Hears what is done, how much of it, and of how much."""
BESIDE: Collection[PassageKind] = ("card", "doc", "issue", "ticket")
"""What may add to a diagnosis."""
TO_JUDGE = 24
"""So many candidates of each collection are judged in full."""


class Read(Protocol):
    """What was read in: knowledge/documents.py."""

    def passages(self) -> Sequence[Passage]: ...

    def version(self) -> str: ...


class PassageEntry:
    """A passage as an index takes it. The text is put together when it is asked for: a large store has many."""

    __slots__ = ("__dict__", "passage")

    def __init__(self, passage: Passage) -> None:
        self.passage = passage

    @property
    def text(self) -> str:
        """What is embedded: title and headings say what the text is about."""
        return whole(self.passage)

    @cached_property
    def key(self) -> str:
        return key_of(self.passage.source, self.text)

    @property
    def facts(self) -> Mapping[str, str]:
        one = self.passage
        facts = {"kind": one.kind, "machine": one.machine, "scheduler": one.scheduler, "framework": one.framework}
        return {name: value for name, value in facts.items() if value}


class CollectionPart:
    """One collection: its passages, the index over them, and their facts as columns to filter by."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.passages: Sequence[Passage] = ()
        self._columns: dict[str, tuple[dict[str, int], NDArray[np.int32]]] = {}

    def fill(self, passages: Sequence[Passage]) -> None:
        """Stand over these passages. The same text from the same place counts once."""
        entries = list({(entry := PassageEntry(passage)).key: entry for passage in passages}.values())
        self.passages = [entry.passage for entry in entries]
        self._columns.clear()
        self.index.refresh(entries)

    def among(self, facts: Mapping[str, Collection[str]]) -> NDArray[np.int64] | None:
        """Positions of the passages with one of the values for each fact; None: all."""
        import numpy as np

        mask: NDArray[np.bool_] | None = None
        for name, values in facts.items():
            codes, column = self._column(name)
            fits = np.isin(column, [codes[value] for value in values if value in codes])
            mask = fits if mask is None else mask & fits
        return None if mask is None or bool(mask.all()) else np.flatnonzero(mask)

    def fitting(self, places: Sequence[int], facts: Mapping[str, Collection[str]]) -> list[int]:
        """Those of a few passages that `among` would leave."""
        return [at for at in places if all(getattr(self.passages[at], name) in facts[name] for name in facts)]

    def _column(self, name: str) -> tuple[dict[str, int], NDArray[np.int32]]:
        import numpy as np

        if name not in self._columns:
            codes: dict[str, int] = {}
            column = [codes.setdefault(getattr(one, name), len(codes)) for one in self.passages]
            self._columns[name] = codes, np.array(column, dtype=np.int32)
        return self._columns[name]


class Knowledge:
    """All that can be found. Threads may share it; the slow parts are loaded at the first search."""

    def __init__(
        self,
        read: Read | None = None,
        *,
        folder: Path | None = None,
        server: store.ChromaServer | None = None,
        known: ShippedIndex | None = None,
        embedder: Callable[[], embedding.Embedder] = embedding.embedder,
    ) -> None:
        """read: the documents; folder: where the indexes lie; known: in place of what is shipped."""
        self._read = read
        self._known = known
        self._version = ""
        self._lock = threading.RLock()
        self._held = CollectionPart(InMemoryIndex(embedder))
        self._on_cause: Mapping[str, Sequence[int]] = {}
        self._parts = {
            name: CollectionPart(Index(name, folder=folder, server=server, embedder=embedder))
            for name in COLLECTION_OF.values()
        }
        self._ready = False
        self._told = threading.local()

    def tell(self, progress: Told) -> None:
        """Whom this thread's next search tells how far it is, should it have to index first. Opens nothing."""
        self._told.progress = progress

    @property
    def notices(self) -> list[str]:
        """What a person should hear: search by words alone, an index built again."""
        told = [notice for part in (self._held, *self._parts.values()) for notice in part.index.notices]
        return list(dict.fromkeys(told))

    def refresh(self, *, progress: Told | None = None) -> None:
        """Stand over what there is now. Free when nothing changed; what is new is embedded, and progress is told."""
        progress = progress or getattr(self._told, "progress", None)
        with self._lock:
            for part in (self._held, *self._parts.values()):
                part.index.progress = partial(progress, f"indexing {part.index.name}") if progress else None
            if not self._ready:
                self._known = self._known or shipped()
                self._held.fill(self._known.passages)
                self._on_cause = cards_on(self._held.passages, self._known.causes)
                self._ready = True
            version = self._read.version() if self._read else ""
            if self._read is None or version == self._version:
                return
            by_kind: dict[str, list[Passage]] = {name: [] for name in self._parts}
            for passage in self._read.passages():
                by_kind[COLLECTION_OF.get(passage.kind, "docs")].append(passage)
            for name, part in self._parts.items():
                if by_kind[name] or part.passages:
                    part.fill(by_kind[name])
            self._version = version

    def search(
        self,
        question: str,
        *,
        machine: str | None = None,
        scheduler: str | None = None,
        framework: str | None = None,
        kinds: Collection[PassageKind] | None = None,
        limit: int = 5,
    ) -> list[Passage]:
        """The passages that answer, best first, perhaps none; score is 0 to about 1.

        machine, scheduler, framework: only what holds for these or for any; "" only what holds for any; None: all.
        """
        with self._lock:
            self.refresh()
            assert self._known is not None
            asked = read(question, self._known.having, len(self._known.passages), machine)
            facts = {"machine": machine, "scheduler": scheduler, "framework": framework}
            wanted: dict[str, Collection[str]] = {k: {"", v} for k, v in facts.items() if v is not None}
            if kinds is not None:
                wanted["kind"] = kinds
            found = [one for part in self._chosen(kinds) for one in self._judge(part, asked, wanted, limit)]
            ranked = sorted(found, key=lambda one: -one.score)
            return folded(ranked)[:limit]

    def related(
        self, lines: str, cause: str, *, machine: str = "", framework: str = "", limit: int = 2
    ) -> list[Passage]:
        """What is known about a failure beyond its cause: cards on that cause, and what was read in on such lines.

        lines: the log's telling lines. Only what holds for this machine, or for any; framework "": not known. Words
        decide first: most diagnoses never ask the model.
        """
        with self._lock:
            self.refresh()
            assert self._known is not None
            asked = read(telling_words(lines), self._known.having, len(self._known.passages), None)
            wanted: dict[str, Collection[str]] = {"machine": {"", machine}, "kind": BESIDE}
            if framework:
                wanted["framework"] = {"", framework}
            cards = self._held.fitting(self._on_cause.get(cause, ()), wanted)
            found = list(beside(self._held, asked, cards, LIKE_A_CARD))
            for part in self._parts.values():
                if part.passages:
                    likely = part.index.by_words(asked.words, part.among(wanted))[:TO_JUDGE]
                    found += beside(part, asked, likely, LIKE_OTHERS)
            return folded(sorted(found, key=lambda one: -one.score))[:limit]

    def _chosen(self, kinds: Collection[PassageKind] | None) -> list[CollectionPart]:
        read_in = [part for name, part in self._parts.items() if part.passages and (kinds is None or _has(name, kinds))]
        held = [self._held] if kinds is None or {"fact", "card"} & set(kinds) else []
        return held + read_in

    def _judge(
        self, part: CollectionPart, asked: ReadQuestion, wanted: Mapping[str, Collection[str]], limit: int
    ) -> list[Passage]:
        candidates = part.index.candidates(asked.words, part.among(wanted), limit)
        passages = []
        for one, rank in likeliest(candidates):
            passage = part.passages[one.position]
            verdict = judged(asked, passage, one, rank)
            if verdict.enough:
                passages.append(replace(passage, score=round(verdict.score, 4)))
        return passages


def cards_on(passages: Sequence[Passage], causes: Mapping[str, Collection[str]]) -> dict[str, list[int]]:
    """Cause -> positions of the cards on it; causes: source of a card -> its causes."""
    found: dict[str, list[int]] = {}
    for at, passage in enumerate(passages):
        for cause in causes.get(passage.source, ()) if passage.kind == "card" else ():
            found.setdefault(cause, []).append(at)
    return found


def beside(
    part: CollectionPart, asked: ReadQuestion, places: Sequence[int], least: tuple[float, float]
) -> Iterator[Passage]:
    """Those that speak of a log's lines: enough rare words in common, and near in meaning where there is a model."""
    weights = {at: shared(asked, part.passages[at]) for at in places}
    likely = [at for at, weight in weights.items() if weight >= least[0]]
    near = part.index.nearness(asked.words, likely)
    for at in likely:
        meaning = near.get(at, least[1])
        if meaning >= least[1]:
            yield replace(part.passages[at], score=round(meaning + weights[at] / 100, 4))


def _has(collection: str, kinds: Collection[PassageKind]) -> bool:
    return any(COLLECTION_OF.get(kind) == collection for kind in kinds)


def likeliest(candidates: Sequence[RankedEntry]) -> list[tuple[RankedEntry, float]]:
    """Those that the two rankings together have near their tops, each with its fused rank (1.0: first of both)."""
    by_meaning = sorted((one for one in candidates if one.cosine is not None), key=lambda one: -(one.cosine or 0.0))
    by_words = sorted((one for one in candidates if one.words > 0), key=lambda one: -one.words)
    of = {one.position: one for one in candidates}
    rankings = [[one.position for one in ranking] for ranking in (by_words, by_meaning) if ranking]
    return [(of[hit.position], hit.score) for hit in fuse(rankings, TO_JUDGE)]
