"""Making one generation of an index: its words, its keys, the rows of its vectors, and Chroma's collection of them.

Started from the last generation, so that only what is new is embedded: a vector belongs to a text, and its key says so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from knowledge import embedding, store
from knowledge.embedding import SHA256, WIDTH
from knowledge.generations import Generation
from knowledge.rows import new_rows, open_rows, write_sketch
from knowledge.words import WordRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Vectors of an index that is still being built, so that a build that was stopped goes on where it was.
#
# One file beside the generations of an index, only ever appended to, each record a key and its row; what a kill cut off
# is dropped. An index itself is never half-built: this file is no part of it, and goes when it is done. The caller
# holds the index's lock.


FILE = f".unfinished-{SHA256[:8]}"
KEY_BYTES = 32
LENGTH_ERROR = 1e-3


class Unfinished:
    """The rows embedded so far, by key. A key changes with its text, so a row never belongs to another one."""

    def __init__(self, folder: Path) -> None:
        """folder: where the generations of the index lie."""
        self.path = folder / FILE

    def rows(self) -> dict[str, NDArray[np.float32]]:
        """All of them. A torn last record is cut off; a row that is no vector of length 1 does not count."""
        import numpy as np

        if not self.path.exists():
            return {}
        whole = self.path.stat().st_size // record().itemsize
        with self.path.open("r+b") as file:
            file.truncate(whole * record().itemsize)
        found = np.fromfile(self.path, dtype=record())
        good = np.abs(np.linalg.norm(found["row"], axis=1) - 1.0) < LENGTH_ERROR
        return {
            str(key, "ascii", "replace"): row for key, row in zip(found["key"][good], found["row"][good], strict=True)
        }

    def append(self, keys: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Some more. Raises OSError."""
        import numpy as np

        made = np.empty(len(keys), dtype=record())
        made["key"], made["row"] = [key.encode("ascii") for key in keys], rows
        with self.path.open("ab") as file:
            file.write(made.tobytes())

    def done(self) -> None:
        """The index holds them all."""
        self.path.unlink(missing_ok=True)


def record() -> np.dtype[Any]:
    import numpy as np

    return np.dtype([("key", f"S{KEY_BYTES}"), ("row", np.float32, (WIDTH,))])


STEP = 128
"""Texts embedded and added at a time: some seconds, after which progress is told and no stop can lose them."""
KEYS = "keys.json"
Progress = Callable[[int, int], None]


class IndexedText(Protocol):
    """What an entry must offer: a text, a key that changes with it, and facts that travel as metadata."""

    @property
    def text(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def facts(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Work:
    """What a generation is made from. base: the last one with vectors of the same model, if any."""

    entries: Sequence[IndexedText]
    embed: embedding.Embedder | None
    base: Generation | None
    progress: Progress | None = None


def make(aside: Path, work: Work) -> None:
    """Fill one folder: words, and with a model the vectors. Errors of the base pass through."""
    WordRanking.build([entry.text for entry in work.entries]).save(aside / "words")
    keys = [entry.key for entry in work.entries]
    (aside / KEYS).write_text(json.dumps(keys), encoding="utf-8")
    if work.embed is None:
        return
    store.imported()  # where Chroma does not start, no minutes go into vectors first
    old = old_places(work.base) if work.base else {}
    rows, new = new_rows(aside, len(keys)), [at for at, key in enumerate(keys) if key not in old]
    if work.base and old:
        kept = [at for at, key in enumerate(keys) if key in old]
        rows[kept] = open_rows(work.base.path, len(old))[[old[keys[at]] for at in kept]]
    if work.base:
        shutil.copytree(work.base.path / "chroma", aside / "chroma")
    unfinished = Unfinished(aside.parent)
    known = unfinished.rows()
    for at in new:
        if (key := keys[at]) in known:
            rows[at] = known[key]
    for part, found in embedded(work, [at for at in new if keys[at] not in known]):
        rows[part] = found
        unfinished.append([keys[at] for at in part], found)
    write_sketch(aside, rows)
    vectors = store.open_folder(aside / "chroma")
    try:
        vectors.remove(sorted(set(old) - set(keys)))
        for start in range(0, len(new), store.BATCH):
            part = new[start : start + store.BATCH]
            vectors.add([keys[at] for at in part], rows[part], [work.entries[at].facts for at in part])
    finally:
        vectors.close()
    unfinished.done()


def old_places(base: Generation) -> dict[str, int]:
    """Where each key's row stands in the last generation. Raises OSError or ValueError when it is damaged."""
    keys: list[str] = json.loads((base.path / KEYS).read_text(encoding="utf-8"))
    return {key: at for at, key in enumerate(keys)}


def add(vectors: store.Vectors, work: Work, places: Sequence[int]) -> None:
    """Embed the entries at these places and add them, some at a time: what a process added that was killed is there."""
    for part, found in embedded(work, places):
        batch = [work.entries[at] for at in part]
        vectors.add([one.key for one in batch], found, [one.facts for one in batch])


def embedded(work: Work, places: Sequence[int]) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
    """The vectors of the entries at these places, some at a time; progress is told after each."""
    assert work.embed is not None
    for start in range(0, len(places), STEP):
        part = list(places[start : start + STEP])
        yield part, work.embed.embed([work.entries[at].text for at in part])
        if work.progress:
            work.progress(start + len(part), len(places))
