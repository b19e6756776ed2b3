"""What an answer stands on, and how it is told: facts first, then passages, numbered, with dates and ages."""

from __future__ import annotations

from datetime import date

import pytest

from graph.answering.grounds import AnswerContext, grounds
from graph.answering.related import in_words, related
from graph.answering.telling import age, answer_text, excerpt
from graph.context import Context
from graph.nodes.answer import ask_of
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from graph.state import State, new_turn
from knowledge.finding import Knowledge
from knowledge.types import Diagnosis, JobRequest, LogEvidence, Passage

TODAY = date(2026, 11, 21)
CONTEXT = Context(knowledge=Knowledge())


def on(question: str, machine: str | None = None, context: Context = CONTEXT) -> AnswerContext:
    read = read_utterance(question, ThreadView())
    state = State(**{**new_turn(1, question), "utterance": read, "request": JobRequest(machine=machine)})  # type: ignore[typeddict-item]
    return grounds(ask_of(state, context, question, read.main), context)


def test_facts_go_first() -> None:
    found = on("what is the longest run on Anvil's ai partition?")
    assert found.machine == "anvil"
    assert found.fact is not None
    assert "48 h" in found.fact.text
    assert "48 h" in answer_text(found, TODAY)
    disk = on("does a node of Aurora have a local disk?")
    assert disk.fact is None and disk.passages, "the topic's own function answers it"


def test_passages_add_to_facts_and_do_not_repeat_them() -> None:
    found = on("how should I start torchrun on Frontier?")
    assert found.fact is not None
    assert "torchrun" in found.fact.text
    assert found.passages
    assert all(not (one.kind == "fact" and one.machine) for one in found.passages)
    assert not any("xccl" in one.text for one in found.passages), "an Intel library on an AMD machine"


def test_a_method_that_nobody_named_is_not_told_beside_a_plain_fact() -> None:
    found = on("how much memory does a GPU node on Delta have?")
    assert found.fact is not None
    assert "256 GB" in found.fact.text
    assert not [one.title for one in found.passages if "ZeRO" in one.title]


def test_one_page_is_told_once_of_one_variable() -> None:
    found = on("why NCCL_SOCKET_IFNAME on Perlmutter?")
    pages = [(one.title, one.source) for one in found.passages]
    assert found.fact is not None and ("NCCL_SOCKET_IFNAME" in {title for title, _ in pages})
    assert len(pages) == len(set(pages))


def test_a_failure_is_not_told_beside_a_plain_fact() -> None:
    found = on("how much memory does a GPU of Isambard-AI have?")
    assert found.fact is not None
    assert not [one.title for one in found.passages if one.path[:1] == ("Failure causes",)]


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("what does NCCL_CROSS_NIC do?", "NCCL_CROSS_NIC"),
        ("difference between FSDP and ZeRO-3?", "FSDP and ZeRO-3"),
        ("which variables does torchrun set?", "torchrun"),
        ("what sets ZeRO-2 apart from ZeRO-3?", "ZeRO-2 and ZeRO-3"),
        ("my run hangs at init_process_group, why?", "hangs at init_process_group"),
        ("training is slow on 2 nodes but fast on one", "slow on several nodes"),
    ],
)
def test_general_questions_are_answered_from_passages(question: str, title: str) -> None:
    found = on(question)
    assert found.fact is None
    assert title in found.passages[0].title
    assert not any(one.machine and one.kind == "fact" for one in found.passages)


@pytest.mark.parametrize(
    "question",
    ["who won the cup final?", "how do I compile GROMACS on Frontier?", "what is the longest run on Setonix?"],
)
def test_what_is_not_known_has_no_grounds(question: str) -> None:
    assert not on(question).known


def test_the_machine_of_the_conversation_counts() -> None:
    assert on("do compute nodes have internet, is there a proxy?", "aurora").machine == "aurora"
    assert on("longest run in the debug queue?", "polaris").fact is not None


def test_without_knowledge_facts_alone() -> None:
    assert on("how long may a job run on Aurora?", context=Context()).fact is not None
    assert not on("what does NCCL_CROSS_NIC do?", context=Context()).known


def test_sources_are_numbered_and_dated_and_old_ones_marked() -> None:
    old = Passage("Use the old switch.", "Switches", "https://example.org/a", "2024-03", kind="fact")
    new = Passage("Turn it.", "A bug", "https://example.org/b", "2026-11-01", kind="card")
    text = answer_text(AnswerContext("switch?", passages=(old, new)), TODAY)
    assert text.startswith("Use the old switch. [1]")
    assert "- [1] https://example.org/a (as of 2024-03, 32 months old: check it)" in text
    assert "Known issue: *A bug*. Turn it. [2]" in text
    assert "- [2] https://example.org/b (checked 2026-11-01)" in text


@pytest.mark.parametrize(("day", "months"), [("2024", 23), ("2025-11", 12), ("2026-11-21", 0), ("", 0), ("soon", 0)])
def test_age_in_months(day: str, months: int) -> None:
    assert age(day, TODAY) == months


def test_texts_of_others_are_quoted_in_part() -> None:
    long = " ".join(f"Sentence {n} speaks of nothing much at all here." for n in range(60))
    page = Passage(
        f"{long} The token is renewed with renew-token. {long}", "Tokens", "https://e.org/t", path=("Login",)
    )
    text = answer_text(AnswerContext("how do I renew the token?", passages=(page,)), TODAY)
    assert "> " in text
    assert "renew-token" in text
    assert "**Tokens > Login** [1]" in text
    assert len(excerpt(page.text, "renew the token")) < 700


def test_known_issues_after_a_diagnosis() -> None:
    line = LogEvidence(3, "NCCL WARN Call to posix_fallocate failed : No space left on device")
    found = related(Diagnosis("env-disk", "says", 0.9, (line,)), JobRequest(), CONTEXT)
    assert 1 <= len(found) <= 2
    text = in_words(found, line.text, TODAY)
    assert text.startswith("Known issue: *")
    assert "See https://github.com/NVIDIA/nccl/issues/" in text
    assert related(Diagnosis("unknown", "says", 0.0, (line,)), JobRequest(), CONTEXT) == []
    assert related(Diagnosis("env-disk", "says", 0.9), JobRequest(), CONTEXT) == []
    assert related(Diagnosis("env-disk", "says", 0.9, (line,)), JobRequest(), Context()) == []
