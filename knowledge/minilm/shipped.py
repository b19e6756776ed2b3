"""The vectors of the shipped passages, so that nobody waits for them: `python -m knowledge.minilm.shipped` makes them.

shipped.npz holds `keys` (knowledge/retrieval.py, key_of) and `vectors` in float16, which moves a cosine by less than
1e-3. A passage that has none there is embedded when the program needs it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from knowledge.kept import replacing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE = Path(__file__).parent / "shipped.npz"


def read(path: Path = FILE) -> dict[str, NDArray[np.float32]]:
    """Key -> vector of length 1; nothing where the file is not there or not of our making."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as data:
            vectors = data["vectors"].astype(np.float32)
            keys = [bytes(key).hex() for key in data["keys"]]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return {}
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(keys, vectors, strict=True))


def write(path: Path, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Keep them; a reader meets the old file or the new one. Raises OSError."""
    import numpy as np

    keys = np.array([list(bytes.fromhex(key)) for key in vectors], dtype=np.uint8)
    with replacing(path) as file:
        np.savez_compressed(file, keys=keys, vectors=np.array([*vectors.values()], dtype=np.float16))


def main() -> None:
    from knowledge.embedding import embedder
    from knowledge.finding import PassageEntry
    from knowledge.shipped import shipped

    old = read()
    entries = [PassageEntry(passage) for passage in shipped().passages]
    new = [entry for entry in entries if entry.key not in old]
    made = embedder().embed([entry.text for entry in new])
    vectors = {**old, **{entry.key: row for entry, row in zip(new, made, strict=True)}}
    write(FILE, {entry.key: vectors[entry.key] for entry in entries})
    FILE.chmod(0o644)
    print(f"{len(entries)} vectors, {len(new)} of them new, in {FILE}")


if __name__ == "__main__":
    main()
