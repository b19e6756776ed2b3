"""Which words a reading accounts for, by the trained weights, the mentions and the answer."""

from __future__ import annotations

import pytest

from graph.reading.coverage import left_over
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView


@pytest.mark.parametrize(
    ("words", "label", "told", "left"),
    [
        ("how do I cancel a job?", "ask/job.cancel", "", ()),
        ("canceling jobs, how?", "ask/job.cancel", "", ()),  # by its letters
        ("how many files am I allowed", "ask/site.limits", "24 h, 64 nodes", ("files",)),
        ("my venv is slow to import there", "ask/site.environment", "python -m venv", ("slow", "import")),
        ("don't touch the batch, another way?", "ask/log.helps", "", ()),  # a denial accounts for its words
        ("a save takes 4 minutes", "ask/method.checkpoint", "Every 15 minutes; 4 nodes", ("4 minutes",)),
        ("a save takes 4 minutes", "ask/method.checkpoint", "with 4 min a save", ()),
    ],
)
def test_words_and_values_left_over(words: str, label: str, told: str, left: tuple[str, ...]) -> None:
    read = read_utterance(words, ThreadView())
    assert tuple(one for one in left_over(read, read.main, label, told) if one != "takes") == left


def test_a_size_in_millions_is_no_time() -> None:
    assert not read_utterance("Is FSDP any good for a 350M model?", ThreadView()).of_kind("Duration")
    assert read_utterance("run it for 350m", ThreadView()).of_kind("Duration")
