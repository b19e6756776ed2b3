"""What fits on which GPU, by 16 bytes a parameter."""

from __future__ import annotations

import pytest

from graph.answering.fitting import fitting
from graph.answering.machines import named
from graph.planning.gpus import fewest_ranks, fits, parameters, state_gb
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest


@pytest.mark.parametrize(
    ("text", "billions"),
    [("7B", 7), ("Llama-3.1-8B", 8), ("1.5 billion", 1.5), ("350 million", 0.35), ("a 350m model", 0.35), ("1T", 1000)],
)
def test_parameters_of_a_name(text: str, billions: float) -> None:
    assert parameters(text) == billions


@pytest.mark.parametrize("text", ["ViT-B/16", "300B tokens", "80GB", "in 30m", "8x7B", "4 million images", "A100"])
def test_what_is_no_number_of_parameters(text: str) -> None:
    assert parameters(text) is None


def test_the_state_of_each_strategy() -> None:
    """Table 1 of the ZeRO paper: 7.5 billion parameters on 64 GPUs."""
    sizes = [round(state_gb(7.5, strategy, 64), 1) for strategy in ("ddp", "zero1", "zero2", "zero3")]
    assert sizes == [120, 31.4, 16.6, 1.9]
    assert fewest_ranks(1, 40) == 1 and fits(1, 40) and not fits(2, 40)
    assert fits(7, 40, "fsdp", fewest_ranks(7, 40)) and not fits(7, 40, "fsdp", fewest_ranks(7, 40) - 1)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (
            "FSDP or DDP for a 7B model on 4 A100?",
            ["112 GB", "40 GB (A100) is too little for DDP", "over 4 keep 28 GB"],
        ),
        ("FSDP or DDP for a 7B model?", ["A GPU with 80 GB is too little for DDP", "5 GPUs"]),
        ("does 1B fit on a Perlmutter GPU?", ["16 GB", "DDP will do"]),
        ("is DDP enough for 2B on Perlmutter?", ["tight for DDP"]),
        ("how many nodes do I need for 70B on Frontier?", ["A GCD with 64 GB", "27 GPUs (4 nodes)"]),
        ("which is better for 3B on 2 A100 80GB nodes of Perlmutter?", ["A GPU with 80 GB", "48 GB", "DDP will do"]),
        ("how many 80GB A100s for 30B?", ["10 GPUs"]),
        ("FSDP or ZeRO-3 for a 7B on 2 nodes of Delta", ["over 8 keep 14 GB", "which fits"]),
        ("13B with zero2 OOMs on 2 nodes of Perlmutter, should I use zero3?", ["ZeRO-2 over 8 keeps 49 GB", "26 GB"]),
        ("does a 70B fit with FSDP on 4 nodes of Perlmutter?", ["over 16 keep 70 GB", "too much"]),
    ],
)
def test_what_is_said(question: str, says: list[str]) -> None:
    answer = fitting(question, named(question), JobRequest())
    assert answer and all(words in answer.text for words in says), answer


def test_the_request_tells_what_the_question_leaves_out() -> None:
    request = JobRequest(machine="perlmutter", model="Llama-70B", nodes=16, node_type="gpu-a100-80")
    answer = fitting("will it fit?", catalogue().find("perlmutter"), request)
    assert answer and "80 GB" in answer.text and "over 64 keep 18 GB" in answer.text and "40 GB" not in answer.text


@pytest.mark.parametrize("question", ["how many GPUs has a node?", "how many nodes are there?", "is FSDP there?"])
def test_a_model_of_the_request_alone_is_not_what_a_question_is_about(question: str) -> None:
    assert fitting(question, catalogue().find("perlmutter"), JobRequest(model="Llama-70B")) is None


def test_what_megatron_splits_is_not_counted_here() -> None:
    request = JobRequest(model="175B", strategy="3d", nodes=128)
    assert fitting("is that enough memory?", catalogue().find("frontier"), request) is None


@pytest.mark.parametrize(
    "question",
    [
        "does a 70B fit for inference on an A100?",
        "QLoRA for 7B, does it fit?",
        "how many GPUs on Perlmutter?",
        "how do I launch FSDP for a 7B on Delta?",
        "FSDP or DDP?",
        "does 7B fit on a Q999?",
    ],
)
def test_what_it_does_not_answer(question: str) -> None:
    assert fitting(question, named(question), JobRequest()) is None
