"""Talks about resources as they go: each follow-up is answered by the sum of its own values, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assistant.drawing import markdown
from assistant.events import Event

Say = Callable[..., list[Event]]
TALKS = (
    # the number of GPUs is replaced, not the length of a sequence
    (("7B, 1T tokens, 256 H100, how many days?", "On 256 GPUs"), ("and 512?", "On 512 GPUs")),
    # the aim holds over the turn
    (
        ("largest model i can full finetune on 4 nodes of polaris", "surely fits"),
        ("with qlora?", "QLoRA"),
        ("and 16 nodes", "64 x A100 40 GB"),
    ),
    (("how often should I save a 70B on 64 nodes of alps?", "on 256 GPUs"), ("and on 512 nodes", "on 2048 GPUs")),
    (
        ("perlmutter上全参数微调llama-3-70B需要多少个节点", "fits on 8 nodes"),
        ("用40GB的卡呢", "A100 40 GB"),
    ),
    (("Passt ein 70B Modell mit LoRA auf einen Knoten Vista?", "does not fit"), ("wie viele Knoten dann?", "3 nodes")),
    (("ich hab nur Leonardo und LUMI. wo trainiere ich 13B?", "Leonardo"), ("Warum nicht LUMI?", "LUMI (")),
    (("checkpoint size of llama 3 8b full adam?", "112 GB"), ("with lora?", "LoRA checkpoint")),
    (("which machines have 64 A100", "Polaris"),),
    (("clariden normal has 12h max. my run needs 10 days. how many jobs", "20 of 12 h"),),
    (("polaris 16 nodes 5 hours prod queue ok?", "3 h at most"),),
    (("is 512 gb host memory enough to load 70b on 4 ranks of frontier?", "No: 4 ranks"),),
    (("llama 70b full on perlmutter in 6 hours for 200M tokens", "by memory it takes 8"),),
)  # fmt: skip


@pytest.mark.parametrize("turns", TALKS, ids=[talk[-1][0][:30] for talk in TALKS])
def test_each_turn_is_answered_from_its_own_values(say: Say, turns: tuple[tuple[str, str], ...]) -> None:
    for words, wanted in turns:
        told = "\n".join(map(markdown, say(words))).replace("**", "")
        assert wanted in told, f"{words}: {told[:300]}"


@pytest.mark.parametrize(
    "words",
    [
        "13Bモデルのチェックポイントはどのくらいの大きさですか。quotaは500GBです",
        "is 512 gb host memory enough to load 70b on 4 ranks of frontier?",
    ],
)
def test_a_disk_or_main_memory_is_no_card_that_it_fits_on(say: Say, words: str) -> None:
    assert " fits on " not in "\n".join(map(markdown, say(words)))
