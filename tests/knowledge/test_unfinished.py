"""Vectors kept of a build that was stopped: whole records only, and only vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from knowledge.building import Unfinished
from knowledge.embedding import WIDTH


def vectors(count: int) -> np.ndarray:
    made = np.random.default_rng(1).normal(size=(count, WIDTH)).astype(np.float32)
    normed: np.ndarray = made / np.linalg.norm(made, axis=1, keepdims=True)
    return normed


def test_a_torn_record_is_cut_off_and_the_next_one_fits(tmp_path: Path) -> None:
    unfinished, rows = Unfinished(tmp_path), vectors(4)
    assert unfinished.rows() == {}
    unfinished.append(["a" * 32, "b" * 32], rows[:2])
    whole = unfinished.path.read_bytes()
    unfinished.path.write_bytes(whole[:-7])
    assert set(unfinished.rows()) == {"a" * 32}
    unfinished.append(["c" * 32], rows[2:3])
    found = unfinished.rows()
    assert set(found) == {"a" * 32, "c" * 32} and np.array_equal(found["c" * 32], rows[2])
    unfinished.done()
    unfinished.done()
    assert unfinished.rows() == {}


def test_what_is_no_vector_does_not_count(tmp_path: Path) -> None:
    unfinished = Unfinished(tmp_path)
    unfinished.append(["a" * 32, "b" * 32], np.stack([vectors(1)[0], np.zeros(WIDTH, dtype=np.float32)]))
    assert set(unfinished.rows()) == {"a" * 32}
