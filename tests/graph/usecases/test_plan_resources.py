"""Questions about resources, as people type them: what is read, and what is answered."""

from __future__ import annotations

import pytest

from graph.planning.resources.reading import read_question
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from graph.usecases.plan_resources import ResourcePlan, plan_resources
from knowledge.document import Choices, Paragraph
from knowledge.resource_question import ResourceQuestion


def ask(text: str, before: ResourceQuestion | None = None) -> ResourcePlan:
    return plan_resources(read_question(read_utterance(text, ThreadView())), before)


def words(plan: ResourcePlan) -> str:
    paragraphs = [part.text for part in plan.document.parts if isinstance(part, Paragraph)]
    choices = [c.says + c.why for part in plan.document.parts if isinstance(part, Choices) for c in part.items]
    return "\n".join([*paragraphs, *choices])


def test_two_machines_are_weighed_for_a_whole_fine_tune() -> None:
    plan = ask("time on perlmutter and on polaris, want to finetune llama-3.1-8b full params, where and how many gpus?")
    told = words(plan)
    assert plan.fits and "128 GB" in told and "Perlmutter" in told and "Polaris" in told
    assert all(option.fit.layout.gpus >= 4 for option in plan.options)


def test_adapters_need_one_gpu() -> None:
    plan = ask("what if i do lora instead", ask("finetune llama-3.1-8b on perlmutter").question)
    assert plan.options[0].fit.layout.gpus == 1 and "LoRA" in words(plan)


@pytest.mark.parametrize(
    "text",
    [
        "can I train 7B with ddp on one A100 40GB?",
        "does 70b fit on 2 nodes of frontier",
        "does a 13b model fit on 4 a100 40gb?",
        "is one node of polaris enough for llama 3 8b full finetuning",
        "70B QLoRA on one 40GB A100",
    ],
)
def test_what_does_not_fit_is_never_said_to(text: str) -> None:
    plan = ask(text)
    assert plan.model and not plan.fits, words(plan)
    assert "does not fit" in words(plan) or "Nothing" in words(plan)


@pytest.mark.parametrize(
    "text",
    [
        "does 13b fit on 8 a100 80gb?",
        "resnet50 with ddp on one v100 16GB",
        "llama 3 8b lora on an A100 40GB",
        "ABCI 3.0で70BモデルのQLoRAをやりたいです。何GPU必要ですか",
        "does llama 70B fit on 8 nodes of leonardo with 64 gpus? 16 nodes of alps then",
    ],
)
def test_what_fits_is_said_to(text: str) -> None:
    assert ask(text).fits


def test_hours_come_with_flops_and_a_range() -> None:
    told = words(ask("how long does a 1.3B model take for 26B tokens on 8 A100?"))
    assert "FLOP" in told and "to" in told


def test_without_a_size_it_asks_for_one() -> None:
    plan = ask("how many gpus do I need?")
    assert plan.model is None and "How large" in words(plan)


def test_a_number_that_is_too_small_is_told_from_how_many_on_it_fits() -> None:
    plan = ask("can I fit Mixtral 8x7B with LoRA on a single H100?")
    told = words(plan)
    assert plan.question.gpus == 1 and "does not fit on 1 x H100" in told and "from there on" in told


def test_serving_is_told_by_gpus() -> None:
    told = words(ask("serve Llama-3-70B in bf16 on perlmutter, how many GPUs?"))
    assert "**4 x A100 80 GB** serve" in told and "**8 x A100 40 GB** serve" in told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("my 1.5B model OOMs at 38GB on A100-40 with ddp", {"measured_gb": 38, "gpu_gb": 40, "gpus": None}),
        ("does it fit on one node of a100 nodes, 7B", {"nodes": 1, "gpus": None}),
        ("resnet50 on imagenet 90 epochs on 4 v100", {"samples": 1_281_167, "epochs": 90, "gpus": 4}),
        ("Is a single 24GB GPU enough for QLoRA of a 13B model?", {"gpus": 1, "gpu_gb": 24, "task": "qlora"}),
        ("tp 4 pp 2 for 30B, seq 8k, micro batch 2", {"tensor": 4, "pipeline": 2, "sequence": 8192, "micro_batch": 2}),
    ],
)
def test_amounts_are_read(text: str, wanted: dict[str, object]) -> None:
    question = ask(text).question
    assert {name: getattr(question, name) for name in wanted} == wanted


def test_a_slow_network_is_warned_of_with_what_lifts_it() -> None:
    slow, fast = (words(ask(f"7B full finetune on {n} nodes of {m}")) for n, m in ((8, "delta a100"), (8, "abci3")))
    assert "network will hold it up" in slow and "What lifts it: fewer nodes" in slow
    assert "hold it up" not in fast


def test_millions_of_tokens_are_no_model() -> None:
    """`200 M de tokens` is an amount of work for the model of the turn before."""
    before = ask("LoRA sur Llama 70B à Jean Zay, partition H100. Combien de GPU au minimum ?").question
    asked = ask("Et avec 200 M de tokens, ça passe dans les 20 h ?", before).question
    assert (asked.model, asked.tokens, asked.hours) == ("Llama-70B", 2e8, 20)
