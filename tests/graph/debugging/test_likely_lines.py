"""Trouble in words that no rule knows: the line is shown, and no cause is made up of it."""

from __future__ import annotations

import pytest

from graph.debugging import likely_lines
from graph.debugging.diagnosis import diagnose

STEPS = "".join(f"pass {n} cost {9 / n:.3f}\n" for n in range(1, 9))
TOLD = "wxfit: rank 3 lost its neighbour during the halo exchange, leaving the run"
SURELY = "wxfit: no card was offered to this process, and it wants one of its own"
FAILED = f"loading namelist\ngrid 480 x 320\n{STEPS}{TOLD}\nsrun: error: n7: task 3: Exited with exit code 9\n"


def test_a_line_that_means_trouble_is_shown_first_where_no_rule_knows_it() -> None:
    found = diagnose(FAILED)
    assert found.cause == "unknown" and found.evidence[0].text == TOLD
    assert f"line {found.evidence[0].line}" in found.says
    assert any("Exited with exit code 9" in one.text for one in found.evidence)


def test_it_names_no_cause_and_is_not_sure() -> None:
    assert diagnose(FAILED).confidence < 0.4


def test_an_open_end_is_told_with_the_line_that_sounds_like_trouble() -> None:
    found = diagnose(f"grid 480 x 320\nready\n{SURELY}\nleaving\n")
    assert found.cause in ("unknown", "no-failure") and found.evidence[0].text == SURELY


@pytest.mark.parametrize("line", ["grid 480 x 320", "reading namelist from run.nml", "using 4 threads a rank"])
def test_what_every_program_prints_does_not_sound_like_trouble(line: str) -> None:
    assert not diagnose(f"{line}\nready\n{STEPS}bye\n").evidence


def test_without_the_weights_the_answer_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likely_lines, "meaning_model", lambda path: None)
    found = diagnose(FAILED)
    assert found.cause == "unknown" and all(TOLD not in one.text for one in found.evidence)
