"""Questions as people put them, with what the answer must and must not say; and those that get no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from graph.answering.ask import Ask
from graph.answering.asking import inquiry_of
from graph.answering.fact_answer import as_sentence, say, spell
from graph.context import Context
from graph.nodes.answer import ask_of
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from graph.state import State
from graph.usecases.answer import answer, plain_text
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.document import Document, Sources
from knowledge.finding import Knowledge
from knowledge.types import JobRequest

QUESTIONS = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text(encoding="utf-8"))
CONTEXT = Context(knowledge=Knowledge())
# What no file of facts knows: it is said so, or the way to find out; and no machine's fact stands in for it.
NOT_IN_FACTS = [
    ("what is the queue like right now", "perlmutter"),
    ("which learning rate suits ViT", "delta"),
    ("who won the cup final", "lumi"),
    ("how do I bake bread", "aurora"),
]


def cluster(name: str | None) -> Cluster | None:
    return catalogue().clusters[name] if name else None


def ask_about(text: str, machine: str) -> Ask:
    utterance = read_utterance(text, ThreadView())
    state = State(utterance=utterance, request=JobRequest(machine=machine), words=text)
    return ask_of(state, CONTEXT, text, utterance.main)


def asked(text: str, machine: str | None = None) -> Document | None:
    """What is answered to a first message, on that machine."""
    utterance = read_utterance(text, ThreadView())
    state = State(utterance=utterance, request=JobRequest(machine=machine), words=text)
    told = answer(ask_of(state, CONTEXT, text, utterance.main), CONTEXT)
    return told.document if told else None


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: f"{case.get('of', 'any')}: {case['ask']}")
def test_answer_says_what_the_facts_say(case: dict[str, object]) -> None:
    of = case.get("of")
    told = asked(str(case["ask"]), str(of) if of else None)
    assert told is not None
    text = plain_text(told)
    for words in case["says"]:  # type: ignore[attr-defined]
        assert words in text
    for words in case.get("not", []):  # type: ignore[attr-defined]
        assert words not in text


@pytest.mark.parametrize(("question", "name"), NOT_IN_FACTS)
def test_no_fact_stands_in_for_what_is_not_known(question: str, name: str) -> None:
    told = asked(question, name)
    machine = cluster(name)
    assert machine is not None
    assert told is None or not any(queue.note and queue.note in plain_text(told) for queue in machine.queues)


def test_every_machine_is_asked_about() -> None:
    assert {case["of"] for case in QUESTIONS if "of" in case} == set(catalogue().clusters)
    assert len(QUESTIONS) >= 60


@pytest.mark.parametrize("name", sorted(catalogue().clusters))
def test_each_machine_answers_the_usual_questions(name: str) -> None:
    usual = ("how many GPUs per node?", "which queues are there?", "longest run?", "which modules?", "which account?")
    for question in (*usual, "how do I launch ddp?", "which directives are required?", "which scheduler does it use?"):
        told = asked(question, name)
        assert told is not None, question
        assert "{" not in plain_text(told).replace("${", ""), f"{question}: a placeholder is left"


@pytest.mark.parametrize("text", ["\x00\x1b[31m", "(((" * 700, "nodes " * 100_000, "a" * 10_000_000, "]{2}|*+?("])
def test_any_text_is_borne(text: str) -> None:
    asked(text[:100_000], "frontier")


def test_source_and_date_are_told() -> None:
    told = asked("max walltime in extended?", "frontier")
    assert told is not None
    machine = cluster("frontier")
    assert machine is not None
    assert "https://docs.olcf.ornl.gov" in plain_text(told) and machine.as_of in plain_text(told)
    quota = asked("how much may I store in home?", "perlmutter")
    assert quota is not None and any(isinstance(part, Sources) for part in quota.parts)


def test_an_address_at_the_end_is_a_source() -> None:
    machine = cluster("aurora")
    assert machine is not None
    told = say(machine, ["launchers note: use it. Sources https://a.example/x, https://b.example/y."])
    assert (told.text, told.sources) == ("Use it.", ("https://a.example/x", "https://b.example/y"))


@pytest.mark.parametrize(
    ("text", "nodes", "seconds"),
    [
        ("four nodes for 1.5 days", 4, 129600),
        ("16-node job, 90 min", 16, 5400),
        ("a day on 2 gpu nodes", 2, 86400),
        ("12:30:00 on ten nodes", 10, 45000),
        ("the nodes of half an hour", None, 1800),
        ("nothing of the kind", None, None),
    ],
)
def test_counts_and_times_are_read(text: str, nodes: int | None, seconds: int | None) -> None:
    ask = inquiry_of(ask_about(text, "frontier"))
    assert ask is not None and (ask.nodes, ask.seconds) == (nodes, seconds)


@pytest.mark.parametrize(
    ("text", "name", "queue"),
    [
        ("the debug queue", "frontier", "debug"),
        ("walltime in gpu-a100-dev?", "lonestar6", "gpu-a100-dev"),
        ("how many gpu nodes", "expanse", None),
        ("the gpu partition", "expanse", "gpu"),
        ("a regular job", "perlmutter", None),
        ("booster nodes", "leonardo", None),
        ("--partition=batch", "frontier", "batch"),
    ],
)
def test_a_queue_is_named_or_is_not(text: str, name: str, queue: str | None) -> None:
    inquiry = inquiry_of(ask_about(text, name))
    assert inquiry is not None
    assert (inquiry.queue.id if inquiry.queue else None) == queue


def test_words_for_times_and_sentences() -> None:
    assert [spell(walltime) for walltime in ("48:00:00", "00:30:00", "01:30:00", "168:00:00")] == [
        "48 h",
        "30 min",
        "1 h 30 min",
        "168 h",
    ]
    assert [as_sentence(text) for text in ("no page", "--gres is out", "NCCL_NET=IB", "done!")] == [
        "No page.",
        "--gres is out.",
        "NCCL_NET=IB.",
        "Done!",
    ]
