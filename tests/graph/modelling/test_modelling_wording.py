"""A worded answer: each sentence cites what bears it, or the rules' own text is given."""

from __future__ import annotations

import pytest
from scripted_model import Scripted

from graph.answering.grounds import AnswerContext
from graph.modelling.asking import Models
from graph.modelling.wording import stands, worded
from knowledge.types import Passage

PASSAGE = Passage(
    "Jobs in the debug queue run for at most 30 minutes on 8 nodes. Set `--qos=debug`. Preempted jobs are requeued.",
    "Queues",
    "https://docs.example.org/queues",
)
TOLD = "**Queues** [1]\n\n> Jobs in the debug queue ...\n\nSources:\n- [1] https://docs.example.org/queues"
FOUND = AnswerContext("How long may a debug job run?", passages=(PASSAGE,))
GOOD = "Jobs in the debug queue run for at most 30 minutes [1]. Set `--qos=debug` [1]."


def ask(answer: str | Exception) -> tuple[str, str, str]:
    heard: list[str] = []
    text, trouble = worded(FOUND, TOLD, Models({"large": lambda: Scripted(answer)}), heard.append)
    return text, trouble, "".join(heard)


def test_a_good_answer_is_streamed_and_keeps_the_sources() -> None:
    text, trouble, heard = ask(GOOD)
    assert text == f"{GOOD}\n\nSources:\n- [1] https://docs.example.org/queues"
    assert heard.strip() == GOOD and not trouble


@pytest.mark.parametrize(
    "bad",
    [
        "Jobs in the debug queue run for at most 60 minutes [1].",
        "Jobs in the debug queue run for at most 30 minutes.",
        "Jobs in the debug queue run for at most 30 minutes [2].",
        "Set `--qos=debug --nodes=64` [1].",
        "Jobs in the debug queue may not run on 8 nodes [1].",
        "Run rm -rf $HOME for debug jobs [1].",
        "Jobs in the debug queue run on Frontier under SLURM_EVIL [1].",
        "The moon landing happened during wonderful summer weather [1].",
        "unknown",
    ],
)
def test_a_sentence_that_is_not_borne_gives_the_rules_text(bad: str) -> None:
    text, trouble, heard = ask(f"Set `--qos=debug` [1]. {bad}")
    assert (text, trouble) == (TOLD, "")
    assert bad not in heard


def test_trouble_gives_the_rules_text_and_a_line() -> None:
    text, trouble, _ = ask(OSError("gone"))
    assert text == TOLD and "rules alone" in trouble


def test_facts_alone_are_not_worded() -> None:
    model = Scripted(GOOD)
    worded(AnswerContext("x"), TOLD, Models({"large": lambda: model}), lambda piece: None)
    assert model.asked == []


def test_a_name_is_not_part_of_another() -> None:
    assert stands("NCCL_NET is set [1].", "", {1: "NCCL_NET is set"})
    assert not stands("NCCL_NET is set [1].", "", {1: "NCCL_NET_GDR_LEVEL is set"})
