"""Questions that go on from the one before, and scripts that are only asked about."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.extraction.request import understand
from graph.following import followed
from graph.reviewing import reviewed
from graph.state import State, new_turn
from knowledge.catalogue import catalogue
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
    return "\n".join(part.text for part in said if isinstance(part, Say))


LONGEST = "what is the longest walltime on Perlmutter?"


@pytest.mark.parametrize(
    ("last", "text", "whole"),
    [
        (LONGEST, "and on Frontier?", "what is the longest walltime on Frontier?"),
        (LONGEST, "what about Polaris", "what is the longest walltime Polaris?"),
        ("DDP vs FSDP on Frontier?", "for a 13B model", "DDP vs FSDP on Frontier for a 13B model?"),
        (LONGEST, "and on 8 nodes", ""),
        (LONGEST, "ddp on Frontier", ""),
        (LONGEST, "thanks", ""),
        ("", "and on Frontier?", ""),
    ],
)
def test_the_whole_question(last: str, text: str, whole: str) -> None:
    before = understand(last, None, None, None).request
    now = understand(text, before, None, None).request
    assert followed(text, last, before, now, writing=False) == whole


def test_beside_a_script_only_a_real_question_goes_on() -> None:
    before = understand(LONGEST, None, None, None).request
    now = understand("on Frontier", before, None, None).request
    assert followed("on Frontier", LONGEST, before, now, writing=True) == ""


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
    assert "train.py" in said and "line 5" in said and not any(isinstance(p, Question) for p in talk.state["said"])
    made = next(part for part in talk.say("make it run on perlmutter") if isinstance(part, Made))
    assert made.title == "Perlmutter" and "train.py" in made.bundle.script


def test_a_script_is_explained() -> None:
    said = words(reviewed("what does this do?", SCRIPT, None))
    assert "line 2" in said and "starts the tasks on all nodes" in said


def test_without_its_machine_a_check_says_what_it_lacks() -> None:
    assert "Name its machine" in words(reviewed("is this ok?", SCRIPT, None))
    assert "Name its machine" not in words(reviewed("is this ok?", SCRIPT, catalogue().find("frontier")))


@pytest.mark.parametrize(
    "text", ["make this run on Frontier", "port it to Aurora, and check the result", "", "2 nodes"]
)
def test_what_is_to_be_carried_over_is_not_reviewed(text: str) -> None:
    assert reviewed(text, SCRIPT, None) == ()


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
