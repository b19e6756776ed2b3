"""What a model may add to a request: only what the words bear, only where the rules found nothing."""

from __future__ import annotations

import pytest
from scripted_model import Scripted

from graph.extraction.request import understand
from graph.modelling.asking import Models
from graph.modelling.candidates import candidates
from graph.modelling.extracting import accepted, fill, schema
from knowledge.catalogue import catalogue
from knowledge.types import Heard, JobRequest

TEXT = "Spread the model weights over a quartet of boxes at NERSC."


def offered(text: str, request: JobRequest | None = None) -> set[tuple[str, object]]:
    return {(c.field, c.value) for c in candidates(text, request or JobRequest(), catalogue())}


def test_loose_words_are_offered() -> None:
    assert {("machine", "perlmutter"), ("nodes", 4), ("strategy", "fsdp"), ("strategy", "pp")} <= offered(TEXT)


def test_nothing_is_offered_that_nobody_said() -> None:
    assert offered("Train ViT for 3 epochs with batch 64 on my cluster") == set()


@pytest.mark.parametrize(
    "text",
    [
        "do not spread the model weights",
        "instead of a pair of nodes",
        "why would one shard the optimizer",
        "we used a dozen nodes before that",
        "never shard the gradients",
    ],
)
def test_what_is_denied_is_not_offered(text: str) -> None:
    assert offered(text) == set()


def test_a_number_that_was_read_for_one_field_is_not_another() -> None:
    request = JobRequest(total_gpus=8, heard=(Heard("total_gpus", "said", "8 cards"),))
    assert offered("8 cards", request) == set()


def test_a_field_that_the_rules_read_is_never_asked() -> None:
    request = JobRequest(machine="aurora", nodes=2, strategy="ddp")
    assert offered(TEXT, request) == set()


def test_a_strategy_of_another_framework_is_not_offered() -> None:
    assert ("strategy", "zero3") not in offered(TEXT, JobRequest(framework="pytorch"))
    assert ("strategy", "fsdp") not in offered(TEXT, JobRequest(framework="deepspeed"))


def test_the_schema_is_closed_lists() -> None:
    found = schema(candidates(TEXT, JobRequest(), catalogue()))
    assert found["properties"]["nodes"] == {"enum": [None, 4]} and not found["additionalProperties"]


@pytest.mark.parametrize(
    "answer",
    [
        {"machine": "frontier", "nodes": 4096},
        {"nodes": "4", "machine": ["perlmutter"]},
        {"nodes": True, "strategy": {"a": 1}},
        {"account": "attacker", "entry": "rm -rf /"},
        {"nodes": None},
        {},
    ],
)
def test_anything_else_is_dropped(answer: dict[str, object]) -> None:
    assert accepted(answer, candidates(TEXT, JobRequest(), catalogue())) == ()


def test_a_choice_is_taken_with_its_words() -> None:
    model = Scripted('{"machine": "perlmutter", "nodes": 4, "strategy": null, "account": "x"}')
    filled = fill(TEXT, JobRequest(framework="pytorch"), catalogue(), Models({"small": lambda: model}))
    assert (filled.request.machine, filled.request.nodes, filled.request.strategy) == ("perlmutter", 4, None)
    assert filled.request.account is None and filled.request.framework == "pytorch"
    assert Heard("nodes", "said", "quartet of boxes") in filled.request.heard


def test_a_model_is_not_asked_where_the_rules_suffice() -> None:
    model = Scripted("{}")
    text = "train ViT with FSDP on Perlmutter, 4 nodes, 4 GPUs each, PyTorch"
    fill(text, understand(text, None, None, None).request, catalogue(), Models({"small": lambda: model}))
    assert model.asked == []


def test_a_message_of_any_length_is_asked_about() -> None:
    model = Scripted('{"nodes": 4}')
    text = f"a quartet of boxes {'and words without end ' * 5000}"
    filled = fill(text, JobRequest(), catalogue(), Models({"small": lambda: model}))
    assert filled.request.nodes == 4 and not filled.trouble
