"""Whole failures with their noise and their after-effects: the one root cause is found."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from graph.debugging.diagnosis import diagnose

SCENARIOS = yaml.safe_load(Path(__file__).with_name("scenarios.yaml").read_text())


@pytest.mark.parametrize("case", SCENARIOS, ids=[f"{n}-{case['cause']}" for n, case in enumerate(SCENARIOS)])
def test_the_root_cause_of_a_whole_failure(case: dict[str, str]) -> None:
    found = diagnose(case["log"])
    assert found.cause == case["cause"], found
