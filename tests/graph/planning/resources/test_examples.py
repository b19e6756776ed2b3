"""The published measurements of bench/planner_examples.yaml, and the page that is made from them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planner_bench", ROOT / "bench" / "planner.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["planner_bench"] = module
    spec.loader.exec_module(module)
    return module


def test_memory_speed_and_verdicts_hold(bench: ModuleType) -> None:
    counts = bench.counts(bench.judged())
    for name in ("memory within 15 %", "speed inside the range"):
        held, of = counts[name]
        assert of >= 10 and held / of >= 0.8, (name, held, of)
    held, of = counts['no "fits" where it did not']
    assert held == of > 0


def test_the_page_is_the_one_that_the_bench_makes(bench: ModuleType) -> None:
    assert bench.table(bench.judged()) in (ROOT / "docs" / "planner.md").read_text(encoding="utf-8")
