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
    # what is denied, and nothing else
    (
        ("13B with LoRA on 1 A100 80GB, fits?", "with LoRA"),
        ("now without LoRA", "does not fit on 1 x A100 80 GB with one GPU"),
        ("with offload then", "312 GB of main memory"),
        ("no offload, 4 GPUs", "fits on 4 x A100 80 GB with FSDP"),
    ),
    (("I don't want LoRA or offloading. 13B on 8 V100 32GB with ZeRO-3, fits?", "does not fit on 8 x V100 32 GB"),),
    # each part of a question; what one part of it says changes in the next turn
    (
        ("3B on 300B tokens on 64 H100, how long and how often should I save?", "Saving: Every 35 min on 64 GPUs"),
        ("and with 128?", "On 128 GPUs: about 36 h"),
        ("what if a node fails every 2000 hours?", "2,000 h / 16 = 125 h"),
    ),
    (("Passt Llama 3 8B auf einen Knoten Leonardo? Wie lange für 1B Tokens und wie oft sichern?", "Saving: Every 9"),),
    (("does 70B fit on 8 H100 80GB, and how long would 1B tokens take?", "On 32 GPUs: about"),),
    # saves and failures by their own words
    (("A save takes 3 minutes to write, the job fails every 20 hours. How often to save?", "Every 83 min"),),
    (
        (
            "mean time between failures of a node is 50,000 hours, 128 nodes, a checkpoint is 1.2 TB at 40 GB/s. "
            "What checkpoint interval?",
            "Every 2.5 h",
        ),
    ),
    # single changes by their own sums, and none that is denied
    (("70B full on 8 H100 80GB, fits?", "LoRA instead (36 to 42); QLoRA instead (57 to 63). Not enough alone"),),
    (("70B full on 8 H100 80GB, fits?", "main memory (56 to 61; 1,680 GB of it on each node)"),),
    (("8B full on 4 A100 40GB of perlmutter without LoRA, no offload, fits?", "each GPU: 8-bit Adam (31 to 34)."),),
    (("LoRA 8B on 4 A100 80GB, fits?", "Training all parameters fits there, too"),),
    (("QLoRA of a 7B on my RTX 3090?", "fits on 1 x RTX 3090 24 GB"), ("and full?", "does not fit on 1 x")),
    (
        ("GPT-3 with Megatron, TP 8 PP 16 on 256 A100 80GB, seq 2048, fits?", "with ZeRO-1 with TP 8"),
        ("and without the distributed optimizer?", "with DDP with TP 8 and PP 16"),
    ),
    # a multiply and an add are two, and a convolution is held up by memory
    (("ResNet-50 on ImageNet, 90 epochs, batch 256 per GPU on 4 A100 40GB of perlmutter, how long?", "about 3.1 h"),),
    # the verdict in the language of the question
    (("Passt Llama 3 8B auf einen Knoten Leonardo?", "Llama-3-8B passt auf 4 x A100 64 GB (Leonardo)."),),
    (("Est-ce que Llama 3 70B rentre sur 4 noeuds de Jean Zay H100 ?", "ne tient pas sur 16 x"),),
    (("¿Cabe un ajuste completo de Llama 3 8B en un nodo de MareNostrum 5?", "cabe en 4 x H100"),),
    (("在一台 8 卡 A100 80GB 上能全参数微调 Llama 3 70B 吗", "放不进 8 x A100 80 GB"),),
    # what was measured goes before every theory, and stays for the next turn
    (
        ("ResNet-50, 1.28 M images, 90 epochs, measured 1150 images/s on one A100. How long on 2 nodes with 4 gpus "
         "each, is the 4 hour limit ok?", "3.48 h on 8 GPUs"),
    ),
    (
        ("40 million images to embed with CLIP ViT-L, 900 img/s per A100 measured. one delta node gpuA100x4, how long?",
         "3.09 h on 4 GPUs"),
        ("cost in SU? and if i take one gpu only", "12.3 h on 1 GPU"),
    ),
    (("my vit takes 22 min per epoch on 4 isambard-ai nodes, need 100 epochs, have 200 node hours. enough?",
      "150 node hours: enough, 200 are there"),
     ("what if I use 16 nodes, scaling efficiency is about 70% from 4 to 16", "210 node hours: not enough")),
    (("step time 1.4 s, global batch 512 seqs of 4096 tokens, 32 gpus (8 nodes). 100B tokens total -> wall time?",
      "47,684 steps"),),
    # numbers by their nouns
    (("Llama 3 8B full fine tune on one Jean Zay H100 node (4x80GB). FSDP. Fits?", "(4 x H100 80 GB)"),),
    (
        ("how long will it take to train a 1.3B model on 26B tokens with 4 perlmutter nodes", "On 4 nodes"),
        ("how many node hours is that if I go to 8 nodes and twice the tokens?", "On 8 nodes"),
    ),
    (("Wir wollen ein 30B-Modell mit 300 Mrd. Tokens auf JUWELS Booster trainieren, 64 Knoten. Wie lange dauert das "
      "und wie viele Jobs muss ich bei 24 h Limit verketten?", "300 B tokens"),),
    (("7B, 1000 steps of 512 sequences of 2048 tokens on 8 A100, how long?", "1.05 B tokens"),),
    (("7B, micro batch 2, 8 accumulation steps, seq 4096, 1000 steps on 8 A100, how long?", "524 M tokens"),),
    (("7B on 8 A100 40GB with ZeRO-3, micro batch 4, fits?", "micro-batch 4"), ("double the batch", "micro-batch 8")),
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
