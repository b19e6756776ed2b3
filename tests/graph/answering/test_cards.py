"""Questions about a GPU by its name: after it ran out of memory, and on a machine that has another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.failure import by_failure
from graph.debugging.diagnosis import diagnose
from graph.usecases.answer import not_there
from knowledge.document import Document
from knowledge.types import Paste

LOG = (
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of "
    "39.39 GiB of which 1.19 GiB is free.\n"
)
Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]


def told(asking: Asking, words: Words, question: str, topic: str) -> str:
    return words(by_failure(asking(question, topic, report=diagnose(LOG), logs=(Paste("pasted log", LOG),))))


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("would activation checkpointing help on this A100 40GB?", "log.helps"),
        ("which rank ran out on the A100?", "log.rank"),
        ("where do I set that for the A100?", "log.where"),
    ],
)
def test_a_card_beside_another_question_is_not_what_is_asked(
    asking: Asking, words: Words, question: str, topic: str
) -> None:
    assert "fitted" not in told(asking, words, question, topic)


@pytest.mark.parametrize(
    ("question", "cards"),
    [
        ("is the H100 or the V100 enough?", ["H100 with 80 GB", "V100 with 16 GB", "V100 with 32 GB"]),
        ("would an A100 80GB be enough?", ["A100 with 80 GB"]),
        ("does it fit on an H200?", ["H200 with 141 GB"]),
        ("what about an H100?", ["H100 with 80 GB"]),
        ("would it work on an H100?", ["H100 with 80 GB"]),
        ("would an H100 help?", ["H100 with 80 GB"]),
    ],
)
def test_each_card_that_shall_hold_it_is_told(asking: Asking, words: Words, question: str, cards: list[str]) -> None:
    said = told(asking, words, question, "log.helps")
    assert all(card in said for card in cards), said


@pytest.mark.parametrize(
    ("question", "machine", "missing"),
    [
        ("Does Delta have A10 GPUs?", "delta", True),
        ("Does Delta have A100s?", "delta", False),
        ("Does Delta have A40 or A100-80GB cards?", "delta", False),
        ("Does DeltaAI have H200 GPUs?", "deltaai", True),
        ("Does DeltaAI have GH200 GPUs?", "deltaai", False),
        ("Does Frontier have MI250 GPUs?", "frontier", False),
    ],
)
def test_a_card_with_a_like_name_is_another_one(asking: Asking, question: str, machine: str, missing: bool) -> None:
    assert bool(not_there(asking(question, machine=machine))) == missing
