"""Questions that go on from the one before, and scripts that are only asked about."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.conversation.followup import completed
from graph.conversation.script_review import is_review
from graph.conversation.turn import open_turn
from graph.state import State, new_turn
from knowledge.document import Document
from knowledge.types import Made, Question, Said, Say

SCRIPT = """#!/bin/bash
#SBATCH -A abc -N 2
#SBATCH -t 02:00:00
#SBATCH --gpus-per-node=8
srun -n 16 --ntasks-per-node=4 python train.py
"""


class Talk:
    """A conversation on the real graph."""

    def __init__(self) -> None:
        self.graph = build(InMemorySaver(serde=Serializer()))
        self.state = State()

    def say(self, text: str) -> tuple[Said, ...]:
        entry, config = new_turn(1, text), {"configurable": {"thread_id": "t"}}
        self.state = self.graph.invoke(entry, config, context=Context())  # type: ignore[call-overload]
        return tuple(self.state["said"])


def words(said: tuple[Said, ...]) -> str:
    return "\n".join(
        part.text if isinstance(part, Say) else str(part) for part in said if isinstance(part, Say | Document)
    )


LONGEST = "what is the longest walltime on Perlmutter?"


@pytest.mark.parametrize(
    ("last", "text", "whole"),
    [
        (LONGEST, "and on Frontier?", "what is the longest walltime on Frontier?"),
        (LONGEST, "what about polaris", "what is the longest walltime on polaris?"),
        (LONGEST, "lumi", "what is the longest walltime on lumi?"),
        (LONGEST, "I meant Delta", "what is the longest walltime on Delta?"),
        (LONGEST, "and on 8 nodes?", "what is the longest walltime on Perlmutter with 8 nodes?"),
        (LONGEST, "et sur Leonardo ?", "what is the longest walltime on Leonardo?"),
        ("does a 7B fit on 2 A100?", "and a 13B?", "does a 13B fit on 2 A100?"),
        ("what is exit code 137", "and 143?", "what is exit code 143"),
        ("what does --mem do", "and --exclusive?", "what does --exclusive do"),
        (LONGEST, "ddp on Frontier, 4 nodes please write it", ""),
        (LONGEST, "thanks", ""),
        (LONGEST, "how do I log in to Frontier?", ""),
        ("", "and on Frontier?", ""),
    ],
)
def test_a_fragment_takes_the_place_of_its_like(last: str, text: str, whole: str) -> None:
    state = State(**{**new_turn(2, text), "asked_last": last, "last_topic": "site.limits", "last_act": "ask"})  # type: ignore[typeddict-item]
    assert completed(open_turn(state, Context())).words == (whole or text)


def test_beside_a_script_only_a_real_question_goes_on() -> None:
    talk = Talk()
    talk.say("train.py with DDP on Perlmutter, 2 nodes, 1 hour, account m1")
    talk.say("how much will it cost?")
    asked = words(talk.say("and with 8 nodes?"))
    assert "8 nodes x 1 h" in asked and talk.state["request"].nodes == 2
    talk.say("4 nodes")
    assert talk.state["request"].nodes == 4


def test_a_question_goes_on_over_machines_and_changes_no_script() -> None:
    talk = Talk()
    talk.say("ddp on perlmutter, 2 nodes")
    talk.say("how many GPUs has a node?")
    said = words(talk.say("and on Aurora?"))
    assert "12 ranks" in said and talk.state["request"].machine == "perlmutter"
    assert "12 h" in words(talk.say("what is the longest walltime on Frontier?"))
    assert talk.state["request"].machine == "perlmutter"


def test_a_script_is_checked_in_the_conversation() -> None:
    talk = Talk()
    said = words(talk.say(f"please check this script for frontier\n{SCRIPT}"))
    assert "**Line 5:**" in said and not any(isinstance(p, Question) for p in talk.state["said"])
    made = next(part for part in talk.say("make it run on perlmutter") if isinstance(part, Made))
    assert made.title == "Perlmutter" and "train.py" in made.bundle.script


@pytest.mark.parametrize("text", ["what does this do?", "is this ok?", "please check it"])
def test_a_script_that_is_only_asked_about_is_reviewed(text: str) -> None:
    assert is_review(text)


@pytest.mark.parametrize(
    "text", ["make this run on Frontier", "port it to Aurora, and check the result", "", "2 nodes"]
)
def test_what_is_to_be_carried_over_is_not_reviewed(text: str) -> None:
    assert not is_review(text)


def test_a_script_that_names_no_strategy_is_carried_over_without_asking() -> None:
    said = Talk().say(f"make this run on aurora\n{SCRIPT}")
    made = next(part for part in said if isinstance(part, Made))
    assert any("launch is the same" in note for note in made.notes)
    assert "RANKS_PER_NODE=8" in made.bundle.script


def test_a_new_job_is_no_longer_the_script_that_was_carried_over() -> None:
    talk = Talk()
    talk.say(f"make this run on aurora\n{SCRIPT}")
    talk.say("start over: fsdp on Delta, 2 nodes, program mine.py")
    bundle = talk.state["bundle"]
    assert bundle and "mine.py" in bundle.script and "train.py" not in bundle.script and not talk.state["source"]


def test_undo_goes_back_behind_a_script_that_was_carried_over() -> None:
    talk = Talk()
    talk.say("fsdp on Delta, 2 nodes, program mine.py")
    talk.say(f"make this run on aurora\n{SCRIPT}")
    made = next(part for part in talk.say("undo") if isinstance(part, Made))
    assert made.title == "Delta" and "mine.py" in made.bundle.script
