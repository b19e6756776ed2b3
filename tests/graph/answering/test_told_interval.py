"""How often is saved, told beside another question, is a value; asked for, it is the question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.planned import as_planned
from graph.planning.resources.reading import read_question


@pytest.mark.parametrize(
    ("words", "aim"),
    [
        ("7B on 64 A100, 100B tokens, saving every 500 steps, how long does it take?", "hours"),
        ("7B on 64 A100, 100B tokens, a checkpoint every 2,000 iterations, what would it cost?", "cost"),
        ("how often should I save 7B on 64 A100?", "saves"),
        ("save every how many steps for 7B on 64 nodes?", "saves"),
        ("should I save 7B every 500 steps on 64 A100?", "saves"),
    ],
)
def test_an_interval_that_is_told_is_not_asked(asking: Callable[..., Ask], words: str, aim: str) -> None:
    told = as_planned(asking(words))
    assert read_question(told.utterance).aim == aim
    assert (told.topic == "method.checkpoint") == (aim == "saves")
