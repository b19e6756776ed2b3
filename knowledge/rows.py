"""Vectors as one file of rows, mapped into memory: compared in bulk, and never read whole where few are asked for.

Chroma's filters walk its whole graph (40 to 80 ms over 100,000 entries) and its graph misses outliers among
near-duplicates. Rows cost 1.5 KB each on disk; the system's page cache holds those in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowledge.embedding import WIDTH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILE, SKETCH, AXES = "rows.npy", "sketch.npy", "axes.npy"
SKETCHED = 50_000
"""From so many rows on a sketch is compared first: SHORT numbers a row, its part along the rows' main axes. Only the
FIRST best of it are compared whole, and have their order from that."""
SHORT, FIRST = 96, 1000
SAMPLE = 20_000
"""Of so many rows the axes are taken."""
STEP = 16_384
SCATTERED = 8
"""Gathering a row costs so many times what reading it in order does."""


def open_rows(folder: Path, count: int) -> NDArray[np.float32]:
    """The rows of a finished index. Raises OSError or ValueError when they are not there or not of that count."""
    import numpy as np

    rows: NDArray[np.float32] = np.load(folder / FILE, mmap_mode="r", allow_pickle=False)
    if rows.shape != (count, WIDTH) or rows.dtype != np.float32:
        raise ValueError(f"{folder / FILE} has shape {rows.shape}, not {(count, WIDTH)}")
    return rows


def new_rows(folder: Path, count: int) -> NDArray[np.float32]:
    """A file of that many rows, to be filled and flushed."""
    import numpy as np

    made: NDArray[np.float32] = np.lib.format.open_memmap(
        folder / FILE, mode="w+", dtype=np.float32, shape=(count, WIDTH)
    )
    return made


def write_sketch(folder: Path, rows: NDArray[np.float32]) -> None:
    """Beside the rows, where they are many: their main axes [384, SHORT], and each row along them [rows, SHORT]."""
    import numpy as np

    if len(rows) < SKETCHED:
        return
    some = rows[:: max(1, len(rows) // SAMPLE)]
    _, axes = np.linalg.eigh(some.T @ some)
    main = np.ascontiguousarray(axes[:, -SHORT:], dtype=np.float32)
    np.save(folder / AXES, main)
    sketch = np.lib.format.open_memmap(folder / SKETCH, mode="w+", dtype=np.float32, shape=(len(rows), SHORT))
    for start in range(0, len(rows), STEP):
        sketch[start : start + STEP] = rows[start : start + STEP] @ main
    sketch.flush()


@dataclass(frozen=True, slots=True)
class Sketch:
    """The rows' main axes, and each row along them."""

    axes: NDArray[np.float32]
    short: NDArray[np.float32]


def open_sketch(folder: Path, count: int) -> Sketch | None:
    """The sketch of that many rows; None where they are few. Raises OSError or ValueError as `open_rows` does."""
    import numpy as np

    if count < SKETCHED:
        return None
    axes = np.load(folder / AXES, allow_pickle=False)
    short = np.load(folder / SKETCH, mmap_mode="r", allow_pickle=False)
    if axes.shape != (WIDTH, SHORT) or short.shape != (count, SHORT):
        raise ValueError(f"{folder / SKETCH} has shape {short.shape}, not {(count, SHORT)}")
    return Sketch(axes, short)


def nearest(
    rows: NDArray[np.float32],
    sketch: Sketch | None,
    places: Sequence[int] | NDArray[np.int64] | None,
    vector: NDArray[np.float32],
    count: int,
) -> list[int]:
    """The positions of the rows nearest to the vector, nearest first; places: only these."""
    import numpy as np

    chosen = None if places is None else np.asarray(places, dtype=np.int64)
    if sketch is not None and (chosen is None or len(chosen) > FIRST):
        first = best(cosines(sketch.short, chosen, vector @ sketch.axes), FIRST)
        chosen = np.sort(first if chosen is None else chosen[first])
    order = best(cosines(rows, chosen, vector), count)
    found: list[int] = (order if chosen is None else chosen[order]).tolist()
    return found


def cosines(
    rows: NDArray[np.float32], places: Sequence[int] | NDArray[np.int64] | None, vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The cosine of the vector with each of these rows (None: all). All are of length 1."""
    import numpy as np

    # einsum, not @: BLAS would use threads, which wait for each other on a busy machine (17 ms in place of 0.5).
    if places is not None and len(places) * SCATTERED < len(rows):
        found: NDArray[np.float32] = np.einsum("ij,j->i", rows[places], vector)
        return found
    every: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return every if places is None else every[np.asarray(places, dtype=np.int64)]


def best(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Where the highest values stand, highest first; equal ones in their order."""
    import numpy as np

    if len(values) > count:
        kept = np.sort(np.argpartition(-values, count)[:count])
        return kept[np.argsort(-values[kept], kind="stable")]
    order: NDArray[np.int64] = np.argsort(-values, kind="stable")
    return order
