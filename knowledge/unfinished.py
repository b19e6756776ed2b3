"""Vectors of an index that is still being built, so that a build that was stopped goes on where it was.

One file beside the generations of an index, only ever appended to, each record a key and its row; what a kill cut off
is dropped. An index itself is never half-built: this file is no part of it, and goes when it is done. The caller holds
the index's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge.embedding import SHA256, WIDTH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
