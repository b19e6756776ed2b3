"""Which way to train: one recommendation with its sum, by the model's size and the machine's GPUs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.method import (
    choose_framework,
    choose_precision,
    choose_strategy,
    expect_scaling,
    plan_checkpoints,
)
from graph.answering.method_sizes import choose_batch, split_model, tell_memory
from knowledge.document import Document

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]
Answer = Callable[[Ask], Document | None]


@pytest.mark.parametrize(
    ("answer", "question", "machine", "says"),
    [
        (choose_strategy, "ddp or fsdp for resnet50?", "", ["**DDP.**", "26 M x 16 bytes"]),
        (choose_strategy, "which for 300 million parameters?", "leonardo", ["**DDP.**", "4.8 GB", "64 GB"]),
        (choose_strategy, "13b?", "", ["**FSDP (or ZeRO-3).**", "208 GB", "from about 8 GPUs"]),
        (choose_strategy, "vit-g 1.8B?", "", ["on the smaller card, DDP on the larger"]),
        (choose_strategy, "lora on llama 8b, how?", "perlmutter", ["16 GB of frozen weights", "one is enough"]),
        (choose_strategy, "qlora for 70B", "abci3", ["70 B x 0.5 bytes = 35 GB", "one is enough"]),
        (choose_strategy, "fsdp or zero3?", "", ["DDP as long as", "How many parameters"]),
        (choose_strategy, "difference of ddp and fsdp for 1B?", "", ["**DDP.**", "shard"]),
        (choose_precision, "is bf16 safe on a100?", "", ["Yes, bf16"]),
        (choose_precision, "and on v100?", "bridges2", ["No bf16 on V100"]),
        (choose_precision, "fp8 on a100?", "", ["No: A100 has no fp8"]),
        (choose_precision, "is fp8 worth it?", "vista", ["GH200 can, but start with bf16", "Transformer Engine"]),
        (choose_framework, "is horovod a good idea there?", "tuolumne", ["last release is of 2023", "AMD GPUs"]),
        (plan_checkpoints, "how often should I save?", "leonardo", ["15 to 30 minutes", "--signal", "40 days"]),
        (expect_scaling, "what is a bad efficiency?", "", ["below 80 %", "63 nodes x 0.25 h"]),
        (split_model, "should tp be 8?", "", ["stays inside a node", "Say model size"]),
        (tell_memory, "why is memory full at batch 1?", "", ["In the order of their price", "more GPUs last"]),
        (choose_batch, "what global batch?", "", ["micro-batch x data-parallel GPUs"]),
    ],
)
def test_a_choice_of_method_is_worked_out(
    asking: Asking, words: Words, answer: Answer, question: str, machine: str, says: list[str]
) -> None:
    told = words(answer(asking(question, machine=machine)))
    assert all(one in told for one in says), told


def test_the_script_in_hand_says_what_a_global_batch_is_a_gpu(asking: Asking, words: Words) -> None:
    batch = words(choose_batch(asking("is a global batch of 1000 fine?", ours="vista fsdp 8 nodes train.py 12h")))
    assert "1000 is 125 a GPU" in batch
