"""Questions about GPUs, memory, hours, prices and machines: the answer first, with its sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.answering.ask import Ask
from graph.answering.planning_answers import tell_fit, tell_gpus, tell_plan, tell_why_not
from graph.answering.resource_machines import tell_comparison, tell_machine
from graph.answering.resources import question_of, tell_split
from knowledge.document import Document

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]
Answer = Callable[[Ask], Document | None]


@pytest.mark.parametrize(
    ("answer", "question", "machine", "says"),
    [
        (
            tell_plan,
            "GPU hours to pretrain a 1.3B model on 26B tokens on A100s?",
            "",
            ["470 A100", "FLOP", "two to three"],
        ),
        (
            tell_plan,
            "1.3B on 26B tokens with 16 nodes, how long?",
            "frontier",
            ["GCD hours", "16 nodes (128 GCDs)", "chain"],
        ),
        (tell_plan, "cheapest way on Delta for 8 gpus and 20 hours?", "delta", ["`gpuA40x4-preempt`", "40 units"]),
        (tell_plan, "500 node hours left, 16 nodes for 24h, does it fit?", "polaris", ["**No:**", "384", "`capacity`"]),
        (
            tell_fit,
            "it takes 70GB at batch 1, I only get the 40gb a100s",
            "delta",
            ["do not fit", "FSDP", "H200", "3.0"],
        ),
        (tell_fit, "does 13b fit on one node", "polaris", ["does not fit"]),
        (tell_gpus, "how many gpus for qlora of llama 70b?", "abci3", ["1 x H200", "QLoRA"]),
        (tell_split, "tp/pp for 30B on 64 nodes", "lumi", ["**TP", "= 512 GCDs"]),
        (tell_comparison, "leonardo or juwels booster?", "", ["leonardo", "juwels-booster", "TFLOP/s"]),
        (
            tell_machine,
            "lumi, leonardo and juwels booster, a 30B, which?",
            "",
            ["**Leonardo**, by node hours", "fsdp on lumi, 2 nodes", "16 x MI250X"],
        ),
    ],
)
def test_it_is_worked_out(
    asking: Asking, words: Words, answer: Answer, question: str, machine: str, says: list[str]
) -> None:
    told = words(answer(asking(question, machine=machine)))
    assert all(one in told for one in says), told


def test_the_turn_before_fills_in_what_is_not_said_again(asking: Asking, words: Words) -> None:
    first: Any = question_of(asking("GPU hours for a 1.3B model on 26B tokens on A100s?"))
    told = words(tell_plan(asking("and if we do it on frontier?", machine="frontier", resources=first)))
    assert "MI250X GCD hours" in told and "node hours at 8 GCDs a node" in told


def test_the_split_multiplies_to_the_gpus(asking: Asking, words: Words) -> None:
    told = words(tell_split(asking("tp/pp for 70b on 16 nodes", machine="leonardo")))
    tensor, pipeline, data = (int(word) for word in told.replace("*", "").split()[1:8:3])
    assert tensor * pipeline * data == 64 and tensor <= 4


@pytest.mark.parametrize("answer", [tell_gpus, tell_fit, tell_split, tell_machine, tell_comparison])
def test_without_a_size_or_machine_it_leaves_the_answer_to_others(asking: Asking, answer: Answer) -> None:
    assert answer(asking("what do I do about memory?")) is None


def test_without_a_machine_all_are_compared(asking: Asking, words: Words) -> None:
    told = words(tell_machine(asking("which cluster for a full fine-tune of 13B?")))
    assert "all machines that I know" in told
    assert told.count(" nodes of ") + told.count(" node of ") + told.count("GPUs of a node") >= 5


@pytest.mark.parametrize(
    ("question", "machine", "says"),
    [
        ("can a 13B run on 1B tokens in 4 hours?", "perlmutter", ["Yes, in 4 h on about", "to be safe"]),
        ("can a 70B run on 10T tokens in 4 hours?", "delta", ["No: 4 h take about"]),
        ("13B on 1B tokens on 2 nodes in 4 hours?", "perlmutter", ["No:", "on 8 x A100", "against 4 h"]),
    ],
)
def test_hours_that_were_said_are_judged(
    question: str, machine: str, says: list[str], asking: Asking, words: Words
) -> None:
    told = words(tell_plan(asking(question, machine=machine)))
    for part in says:
        assert part in told, told


def test_why_not_is_answered_by_the_same_sum(asking: Asking, words: Words) -> None:
    before = question_of(asking("full fine-tune of 70B?", machine="perlmutter"))
    told = words(tell_why_not(asking("why not DDP?", machine="perlmutter", resources=before)))
    assert "DDP does not fit" in told
    assert "70 B parameters x 16 bytes" in told
    assert tell_why_not(asking("why not DDP?", machine="perlmutter")) is None
