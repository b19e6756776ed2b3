"""How many jobs a long run is, in the words of the machine's scheduler and with the number that was computed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.resources import tell_chain
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.resource_question import ResourceQuestion


@pytest.mark.parametrize(
    ("machine", "word"), [("polaris", "-W depend="), ("perlmutter", "--dependency="), ("lassen", "-w ")]
)
def test_a_chain_waits_by_the_schedulers_own_word(
    words: Callable[[Document | None], str], machine: str, word: str
) -> None:
    said = words(tell_chain(catalogue().clusters[machine], ResourceQuestion(machines=(machine,), hours=200, nodes=1)))
    assert word in said
    assert "chain 20" not in said


def test_a_run_that_one_job_holds_needs_no_chain(words: Callable[[Document | None], str]) -> None:
    said = words(tell_chain(catalogue().clusters["perlmutter"], ResourceQuestion(hours=2, nodes=1)))
    assert "chain" not in said
