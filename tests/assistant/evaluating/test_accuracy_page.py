"""docs/accuracy.md is what the command prints, and the cases that are made from other files are up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.evaluating.cases import CaseSet
from assistant.evaluating.figures import Judged
from assistant.evaluating.judging import CaseVerdict
from assistant.evaluating.printing import page
from assistant.evaluating.runs import RunResult

TOP = Path(__file__).parents[3]
BENCH = TOP / "bench" / "accuracy"


def test_the_page_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(BENCH), "--markdown"]) == 0
    wanted = "run `maple-chat eval bench/accuracy --markdown > docs/accuracy.md` and read the diff"
    assert capsys.readouterr().out == (TOP / "docs" / "accuracy.md").read_text(encoding="utf-8"), wanted


def test_cases_made_from_other_files_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("accuracy_make", BENCH / "make.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for made, file in ((make.defect_cases(), make.DEFECTS), (make.label_cases(), make.LABELS)):
        assert make.lines_of(made) == file.read_text(encoding="utf-8"), "run bench/accuracy/make.py"


def test_sets_that_were_mended_on_have_no_interval() -> None:
    """An interval speaks of further cases, of which a set says nothing once it was mended on."""
    parts = ("blind", "development")
    cases = tuple(
        Judged(part, part, "log", str(at), CaseVerdict((("right", at > 0),), "why", confidence=0.9, group="x"))
        for part in parts for at in range(10)
    )  # fmt: skip
    sets = tuple(CaseSet(part, part, "2026-11-22", "", ()) for part in parts)
    made = page(RunResult(sets=sets, cases=cases), BENCH / "nowhere")
    blind, development = made.split("## Development")
    assert "9 of 10 | 90.0 | 59.6 to 98.2" in blind
    assert "9 of 10 | 90.0 |  |" in development.split("## Whether")[0]
    assert "| 10 | 9 | 90.0 |  |" in made.split("log, development: off")[1]
