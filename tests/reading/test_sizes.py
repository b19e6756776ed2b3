"""Amounts with their units: which sign groups thousands, and which numbers are no amounts of the work."""

from __future__ import annotations

import pytest

from graph.reading.mentions import find_sizes


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("it took 38.125 GB", "GB", 38.125),
        ("1.125 TB of data", "TB", 1.125),
        ("a step takes 1.125 s", "second", 1.125),
        ("1.500 epochs", "epoch", 1.5),
        ("20.000 steps", "step", 20_000),
        ("2.000.000 tokens", "token", 2_000_000),
        ("50.000 images", "sample", 50_000),
        ("20,000 steps", "step", 20_000),
        ("1.500 B tokens", "token", 1_500_000_000),
        ("0.125 tokens", "token", 0.125),
        ("500 steps", "step", 500),
        ("32 batch size", "batch", 32),
        ("20 mil milhões de tokens", "token", 20_000_000_000),
        ("20 mil millones de tokens", "token", 20_000_000_000),
        ("20 mil tokens", "token", 20_000),
        ("20 Milliarden Tokens", "token", 20_000_000_000),
        ("2 milliards de tokens", "token", 2_000_000_000),
        ("3 mld tokenów", "token", 3_000_000_000),
        ("5 миллиардов токенов", "token", 5_000_000_000),
    ],
)
def test_an_amount_is_read(text: str, unit: str, value: float) -> None:
    assert (unit, value) in [(one.unit, one.value) for one in find_sizes(text)]


@pytest.mark.parametrize(
    "text",
    [
        "submit 2 batch jobs",
        "I have 3 batch scripts",
        "saving every 500 steps",
        "a checkpoint every 20,000 steps",
        "one save per 500 iterations",
        "it died after 1,200 steps",
        "speichere alle 500 Schritte",
    ],
)
def test_what_is_no_amount_of_the_work_is_none(text: str) -> None:
    assert [one.unit for one in find_sizes(text)] == []
