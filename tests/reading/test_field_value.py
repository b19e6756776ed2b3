"""A field of the job by its name and a value is an edit for certain, and never one of the program's arguments."""

import pytest

from graph.extraction.request import understand
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from knowledge.types import JobRequest

STANDS = JobRequest(machine="perlmutter", framework="pytorch", strategy="fsdp", nodes=4)


@pytest.mark.parametrize(
    "text", ["queue debug", "set queue=debug", "set nodes=2", "walltime 02:00:00", "account m1234"]
)
def test_it_is_an_edit(text: str) -> None:
    main = read_utterance(text, ThreadView(has_script=True)).main
    assert main.act == "edit" and main.share("edit") == 1.0
    assert understand(text, STANDS, None, None).request.argument_edits == ()


def test_a_question_with_the_same_words_is_none() -> None:
    assert read_utterance("queue debug?", ThreadView(has_script=True)).main.shares
