"""Logs of failures that were provoked for real (tests/logs/provoke.py): each is diagnosed as what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.diagnosis import diagnose

LOGS = sorted((Path(__file__).parents[2] / "logs").glob("*/*.log"))


@pytest.mark.parametrize("path", LOGS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_cause_is_found(path: Path) -> None:
    found = diagnose(path)
    assert found.cause == path.parent.name, found


def test_there_are_logs() -> None:
    assert len(LOGS) > 30
