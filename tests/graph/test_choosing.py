"""Short answers that pick from what was offered, or leave the choice to us."""

from __future__ import annotations

import pytest

from graph.conversation.option_choice import apply, chosen, recommended
from knowledge.catalogue import catalogue
from knowledge.types import Alternative, JobRequest, Question

OFFERED = (Alternative("32 nodes", (("nodes", 32),)), Alternative("queue large", (("queue", "large"),)))


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "the first",
        "option 1",
        "yes",
        "ok",
        "32 nodes",
        "first one",
        "1.",
        "yes please",
        "Sure, go ahead!",
        "ok, take the first one please",
    ],
)
def test_picks_the_first(text: str) -> None:
    assert chosen(text, OFFERED) == OFFERED[0]


@pytest.mark.parametrize(
    "text", ["2", "the second one", "last", "Queue Large", "let's take 2", "go with the second, thanks"]
)
def test_picks_the_last(text: str) -> None:
    assert chosen(text, OFFERED) == OFFERED[1]


@pytest.mark.parametrize(
    "text", ["3", "", "make it 1 node", "no", "yesterday it ran", "x" * 1000, "yes but with 2 nodes", "use 2"]
)
def test_picks_nothing(text: str) -> None:
    assert chosen(text, OFFERED) is None


def test_a_total_no_longer_binds_once_nodes_were_chosen() -> None:
    request = JobRequest(nodes=64, total_gpus=256)
    assert apply(request, OFFERED[0]) == JobRequest(nodes=32)


@pytest.mark.parametrize("text", ["you choose", "I don't know", "dunno", "up to you", "what do you recommend?", "any"])
def test_leaves_the_strategy_to_us(text: str) -> None:
    advice = recommended(text, Question("strategy", "?", ("ddp", "fsdp")), JobRequest(), None)
    assert advice and advice[0] == "ddp"


@pytest.mark.parametrize(
    "text",
    ["fsdp", "what is the default queue?", "any news on how to choose a good queue there, and why would I want it"],
)
def test_is_not_left_to_us(text: str) -> None:
    assert recommended(text, Question("strategy", "?", ("ddp", "fsdp")), JobRequest(), None) is None


def test_takes_what_is_offered() -> None:
    advice = recommended("you choose", Question("strategy", "?", ("zero2", "zero3")), JobRequest(), None)
    assert advice and advice[0] == "zero2"


def test_a_machine_is_never_chosen_for_the_person() -> None:
    assert recommended("you choose", Question("machine", "?", ("aurora",)), JobRequest(), None) is None


@pytest.mark.parametrize(
    ("field", "options", "request_", "value"),
    [
        ("strategy", ("ddp", "fsdp"), JobRequest(model="Llama-70B"), "fsdp"),
        ("strategy", ("zero2", "zero3"), JobRequest(model="7B"), "zero3"),
        ("strategy", ("ddp", "fsdp"), JobRequest(model="350 million"), "ddp"),
        ("strategy", ("ddp", "fsdp"), JobRequest(model="ViT"), "ddp"),
        ("nodes", (), JobRequest(model="70B", strategy="fsdp"), 11),
        ("nodes", (), JobRequest(model="70B", strategy="ddp"), 1),
    ],
)
def test_what_is_left_to_us_fits_the_model(
    field: str, options: tuple[str, ...], request_: JobRequest, value: str | int
) -> None:
    """70 billion x 16 bytes = 1120 GB; two thirds of 40 GB: 42 GPUs, 11 nodes of Perlmutter."""
    advice = recommended("you choose", Question(field, "?", options), request_, catalogue().find("perlmutter"))
    assert advice and advice[0] == value
