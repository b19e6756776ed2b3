"""A few hundred cases for everything that reads what others wrote; `python -m tests.fuzz` tries 20,000."""

from __future__ import annotations

import pytest

from tests.fuzz import READERS, feed

CASES = 500


@pytest.mark.parametrize("name", READERS)
def test_a_reader_neither_fails_nor_hangs_nor_swells(name: str) -> None:
    reader = feed(name, CASES // len(READERS) + 1)
    assert reader.failures == []
    assert reader.tried >= CASES // len(READERS)
