"""What flags and variables mean, alone, against each other, and on a machine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.options import explain_option
from knowledge.document import Document
from knowledge.options import options

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]


@pytest.mark.parametrize(
    ("question", "machine", "says"),
    [
        ("what does --exclusive do", "", ["Whole nodes"]),
        ("what does -W mean in lsf?", "", ["in minutes or HH:MM"]),
        ("what does -N do", "polaris", ["The job's name", "not the number of nodes"]),
        ("what does -N do", "delta", ["How many nodes"]),
        ("what is NCCL_SOCKET_IFNAME", "frontier", ["Which network interface", "hsn0,hsn1"]),
        ("why not --gpus-per-task?", "perlmutter", ["breaks CUDA IPC", "it is `--gpus-per-node="]),
        ("do I need --gres=gpu:1?", "vista", ["a job gets whole nodes"]),
    ],
)
def test_an_option_is_told_with_the_machines_own_word(
    asking: Asking, words: Words, question: str, machine: str, says: list[str]
) -> None:
    told = words(explain_option(asking(question, machine=machine)))
    assert all(one in told for one in says), told


def test_several_options_are_set_against_each_other(asking: Asking, words: Words) -> None:
    told = words(explain_option(asking("difference between --gpus-per-node=4, --gres=gpu:4 and -G 4?")))
    assert "-G the whole job: 2 nodes of 4 are" in told and "--gres is the older" in told


def test_which_of_them_is_right_comes_from_the_machine(asking: Asking, words: Words) -> None:
    before = "difference between --gpus-per-node=4, --gres=gpu:4 and -G 4?"
    told = words(explain_option(asking("which one for leonardo?", machine="leonardo", before=before)))
    assert "`--gres=gpu:<gpus_per_node>`" in told


def test_what_is_not_known_is_no_answer(asking: Asking) -> None:
    assert explain_option(asking("what does --frobnicate do")) is None


def test_neighbours_are_known_options() -> None:
    assert all(other in options() for fact in options().values() for other in fact.apart)
