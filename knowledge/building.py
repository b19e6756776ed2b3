"""Making one generation of an index: its words, its keys, the rows of its vectors, and Chroma's collection of them.

Started from the last generation, so that only what is new is embedded: a vector belongs to a text, and its key says so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from knowledge import embedding, store
from knowledge.generations import Generation
from knowledge.rows import new_rows, open_rows
from knowledge.words import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = 256
"""Texts embedded and added at a time: a second or two, after which progress is told."""
KEYS = "keys.json"
Progress = Callable[[int, int], None]


class Text(Protocol):
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

    entries: Sequence[Text]
    embed: embedding.Embedder | None
    base: Generation | None
    progress: Progress | None = None


def make(aside: Path, work: Work) -> None:
    """Fill one folder: words, and with a model the vectors. Errors of the base pass through."""
    Words.build([entry.text for entry in work.entries]).save(aside / "words")
    keys = [entry.key for entry in work.entries]
    (aside / KEYS).write_text(json.dumps(keys), encoding="utf-8")
    if work.embed is None:
        return
    old = old_places(work.base) if work.base else {}
    rows, new = new_rows(aside, len(keys)), [at for at, key in enumerate(keys) if key not in old]
    if work.base and old:
        kept = [at for at, key in enumerate(keys) if key in old]
        rows[kept] = open_rows(work.base.path, len(old))[[old[keys[at]] for at in kept]]
    if work.base:
        shutil.copytree(work.base.path / "chroma", aside / "chroma")
    vectors = store.open_folder(aside / "chroma")
    try:
        vectors.remove(sorted(set(old) - set(keys)))
        add(vectors, work, new, rows)
    finally:
        vectors.close()


def old_places(base: Generation) -> dict[str, int]:
    """Where each key's row stands in the last generation. Raises OSError or ValueError when it is damaged."""
    keys: list[str] = json.loads((base.path / KEYS).read_text(encoding="utf-8"))
    return {key: at for at, key in enumerate(keys)}


def add(vectors: store.Vectors, work: Work, places: Sequence[int], rows: NDArray[np.float32] | None = None) -> None:
    """Embed the entries at these places and add them; rows, where given, are filled too."""
    assert work.embed is not None
    for start in range(0, len(places), STEP):
        part = list(places[start : start + STEP])
        batch = [work.entries[at] for at in part]
        found = work.embed.embed([one.text for one in batch])
        if rows is not None:
            rows[part] = found
        vectors.add([one.key for one in batch], found, [one.facts for one in batch])
        if work.progress:
            work.progress(start + len(part), len(places))
