"""Questions as people put them, with what the answer must and must not say; and those that get no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from graph.answering.asking import read
from graph.answering.fact_answer import as_sentence, say, spell
from graph.answering.facts import answer_from_facts
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster

QUESTIONS = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text(encoding="utf-8"))
SILENT = [
    ("what is the queue like right now", "perlmutter"),
    ("what's my remaining balance?", "stampede3"),
    ("how much is left of my allocation", "delta"),
    ("when will my job start", "anvil"),
    ("which learning rate suits ViT", "delta"),
    ("who won the cup final", "lumi"),
    ("how do I bake bread", "aurora"),
    ("how many nodes do I need for a 70B model", "aurora"),
    ("tell me a joke", "frontier"),
    ("", "frontier"),
    ("what is the longest run?", None),
    ("can I use torchrun?", None),
]


def cluster(name: str | None) -> Cluster | None:
    return catalogue().clusters[name] if name else None


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: f"{case.get('of', 'any')}: {case['ask']}")
def test_answer_says_what_the_facts_say(case: dict[str, object]) -> None:
    of = case.get("of")
    answer = answer_from_facts(str(case["ask"]), cluster(str(of) if of else None))
    assert answer is not None
    for words in case["says"]:  # type: ignore[attr-defined]
        assert words in answer.text
    for words in case.get("not", []):  # type: ignore[attr-defined]
        assert words not in answer.text
    assert answer.as_of


@pytest.mark.parametrize(("question", "name"), SILENT)
def test_no_fact_no_answer(question: str, name: str | None) -> None:
    assert answer_from_facts(question, cluster(name)) is None


def test_every_machine_is_asked_about() -> None:
    assert {case["of"] for case in QUESTIONS if "of" in case} == set(catalogue().clusters)
    assert len(QUESTIONS) >= 60


@pytest.mark.parametrize("name", sorted(catalogue().clusters))
def test_each_machine_answers_the_usual_questions(name: str) -> None:
    usual = ("how many GPUs per node?", "which queues?", "longest run?", "which modules?", "which account?", "proxy?")
    for question in (*usual, "how do I launch ddp?", "which directives?", "MASTER_ADDR?", "which scheduler?"):
        answer = answer_from_facts(question, cluster(name))
        assert answer is not None, question
        assert "{" not in answer.text.replace("${", ""), f"{question}: a placeholder is left: {answer.text}"
        assert "  " not in answer.text.split("\n")[0][:80]
        assert answer.sources


@pytest.mark.parametrize("text", ["\x00\x1b[31m", "(((" * 700, "nodes " * 100_000, "a" * 10_000_000, "]{2}|*+?("])
def test_any_text_is_borne(text: str) -> None:
    answer_from_facts(text, cluster("frontier"))


def test_source_and_date_are_told() -> None:
    answer = answer_from_facts("max walltime in extended?", cluster("frontier"))
    assert answer is not None
    assert "https://docs.olcf.ornl.gov" in answer.with_sources()
    assert answer.as_of in answer.with_sources()


def test_an_address_at_the_end_is_a_source_and_one_inside_a_value_is_not() -> None:
    machine = cluster("aurora")
    assert machine is not None
    answer = say(machine, ["launchers note: use it. Sources https://a.example/x, https://b.example/y."])
    assert (answer.text, answer.sources) == ("Use it.", ("https://a.example/x", "https://b.example/y"))
    proxy = answer_from_facts("proxy?", machine)
    assert proxy is not None
    assert all("proxy" not in source for source in proxy.sources)


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
    machine = cluster("frontier")
    assert machine is not None
    ask = read(text, machine)
    assert (ask.nodes, ask.seconds) == (nodes, seconds)


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
    machine = cluster(name)
    assert machine is not None
    found = read(text, machine).queue
    assert (found.id if found else None) == queue


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
