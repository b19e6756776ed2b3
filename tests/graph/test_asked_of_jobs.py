"""Which questions are about a job in the queue, and which of its words are ids."""

from __future__ import annotations

import pytest

from graph.conversation.jobs import WAITS, job_named


@pytest.mark.parametrize(
    "words",
    [
        "What is the maximum time for my job on Perlmutter?",
        "What is a good name for my job?",
        "What are the files of my job?",
    ],
)
def test_a_question_about_jobs_is_not_why_one_waits(words: str) -> None:
    assert not WAITS.search(words)


@pytest.mark.parametrize("words", ["What is holding my job?", "What holds up my job?", "Who is blocking my job?",
                                   "what keeps my job from starting"])  # fmt: skip
def test_what_holds_it_is_why_it_waits(words: str) -> None:
    assert WAITS.search(words)


@pytest.mark.parametrize(
    ("words", "job"),
    [
        ("Why did finetuning stop improving?", ""),
        ("Why has fairscale stopped?", ""),
        ("Why did f23ABCxyz7 fail?", "f23ABCxyz7"),
        ("Why did ƒAbCdEfGh fail?", "ƒAbCdEfGh"),
        ("why did 12345 fail?", "12345"),
        ("is job f7Ux3kQ9w running?", "f7Ux3kQ9w"),
    ],
)
def test_a_word_is_no_id(words: str, job: str) -> None:
    assert job_named(words) == job
