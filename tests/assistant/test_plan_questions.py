"""Questions about size, hours, saves and machines in other words than the planner's own, through the conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assistant.drawing import markdown
from assistant.events import Event


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2B tokens with llama 3 8b, one perlmutter 80gb node. can it finish in 24h?", "No: about"),
        ("I have a model with 3 billion parameters and one gpu with 24 gigs. can I train it?", "does not fit"),
        ("1M tokens of context with llama 3 8b on 8 H100 80gb - possible?", "does not fit"),
        ("how often should I save on 1024 gpus of frontier, 12 hours", "on 1024 GPUs of Frontier"),
        ("which cluster has the most memory per gpu", "abci3 and delta (141 GB, H200)"),
        ("cheapest machine in node hours to fully finetune llama2 13b on 1B tokens, which one?", "by node hours"),
        ("qlora mixtral 8x7b on one L40S of bridges2 ok?", "L40S 48 GB"),
        (
            "How many nodes would a full finetune of Llama 3.1 405B need on Alps?",
            "The fewest that hold it: FSDP with TP 4",
        ),
        ("deepspeed zero 3 with cpu offload for llama2 13B on one node of polaris, would that work?", "312 GB of main"),
        ("zero3 with cpu offload for llama 3 70B on one node of polaris, would that work?", "does not fit"),
    ],
)
def test_a_question_is_worked_out(text: str, told: str, say: Callable[..., list[Event]]) -> None:
    events = say(text)
    shown = "\n".join(map(markdown, events)).replace("**", "")
    assert told in shown
    assert not any(event.type == "script" for event in events)


def test_a_way_with_offload_is_written_with_it(say: Callable[..., list[Event]]) -> None:
    say("zero3 with cpu offload for llama2 13B on one node of polaris, would that work?")
    (script,) = (event for event in say("take 1") if event.type == "script")
    assert "offload_optimizer" in script.made.bundle.files[0].text  # type: ignore[union-attr]
