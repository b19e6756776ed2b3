"""The table of published systems: every row's test is there, and the one without software is said to have none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from assistant.drawing import markdown
from assistant.events import Event

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in line.strip("| \n").split("|")]
    for line in (ROOT / "docs" / "systems.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| system")
]


def test_each_of_the_fifteen_has_its_command_and_a_test_that_is_there() -> None:
    assert len(ROWS) == 15
    for system, _, command, test, *_ in ROWS:
        assert command, system
        named = re.findall(r"tests/[\w/.]+\w", test)
        assert named and all((ROOT / one).exists() for one in named), (system, named)


def test_what_has_no_software_is_said_to_have_none(say: Callable[..., list[Event]]) -> None:
    events = say("what is MLT?")
    shown = "\n".join(map(markdown, events))
    assert "without public software" in shown
    assert not any(event.type == "script" for event in events)
