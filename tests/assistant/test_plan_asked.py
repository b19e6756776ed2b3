"""What is asked for is what is planned: the card, the batch, the head, the quota, the time, the thread before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assistant.cli import main
from assistant.drawing import markdown
from assistant.events import Event
from assistant.mcp.tools import plan_resources as plan_tool
from graph.planning.resources.reading import read_followup, read_question
from graph.reading.reader import read_utterance
from graph.reading.utterance import ThreadView
from graph.usecases.plan_resources import plan_resources
from knowledge.resource_question import ResourceQuestion

Say = Callable[..., list[Event]]


def shown(events: list[Event]) -> str:
    return "\n".join(map(markdown, events)).replace("**", "")


def follow(*texts: str) -> ResourceQuestion:
    """The question after those messages."""
    question: ResourceQuestion | None = None
    for text in texts:
        question = read_followup(read_utterance(text, ThreadView()), question)
    assert question
    return question


@pytest.mark.parametrize(
    ("text", "told", "untold"),
    [
        # So many images do not fit as they are, and that is said beside what does.
        (
            "ViT-B/16, 1024 images per GPU, A100 40GB, ddp?",
            "fits only with activation checkpointing on 1 x",
            "GPU hours",
        ),
        ("ViT-L at 448px, 128 images on each V100 32GB, does that fit?", "788 patches each", "words)"),
        ("DiT-L/2 at 512 pixels, batch 32 on one H100, does it fit?", "1024 patches each", "words)"),
        ("roberta-large for NER, seq 256, batch 64 on one T4, does that fit?", "activations", "words)"),
        ("does a 1.2B U-Net fit on one A100 80GB?", "no sum for the activations of U-Net", "tokens"),
        ("stable diffusion xl, full fine-tuning on one L40S, enough?", "no sum for the activations", "LoRA instead"),
        ("Swin-L (197M), 64 images per A100 40GB, fits?", "no sum for the activations of Swin", "words)"),
        ("resnet-101 with 1024 images per V100 16GB, ok?", "does not fit on 1 x V100 16 GB", "0 GB of states"),
        ("a neural operator with 900M parameters on 2 H100, enough?", "no sum for the activations", "tokens"),
    ],
)
def test_a_model_that_is_no_language_model(text: str, told: str, untold: str, say: Say) -> None:
    answer = shown(say(text))
    assert told in answer
    assert untold not in answer


def test_a_model_without_a_sum_is_never_promised_to_fit() -> None:
    plan = plan_resources(ResourceQuestion(model="GNN 0.01B", gpu="H100", gpu_gb=80, gpus=1))
    assert not plan.fits
    assert plan.options[0].fit.memory.part("logits") == 0


def test_a_head_of_classes_has_no_logits_over_the_words() -> None:
    asked = ResourceQuestion(model="BERT-base", gpu="V100", gpu_gb=16, gpus=1, micro_batch=16)
    words = plan_resources(asked).options[0].fit.memory
    head = plan_resources(follow("BERT-base for text classification").after(asked)).options[0].fit.memory
    assert words.part("logits") > 0
    assert head.part("logits") == 0


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("8B on three A100-80s.", {"gpu": "A100", "gpu_gb": 80.0}),
        ("13B on a 4 x A100 80 node, ok?", {"gpu_gb": 80.0, "nodes": 1, "each": 4}),
        ("13B LoRA on two MI250X cards, ok?", {"gpus": 4}),
        ("7B on one APU of tuolumne?", {"gpus": 1}),
        ("ViT-B with 512 images per A100, ok?", {"micro_batch": 512}),
        ("global batch must be 2048 on 8 H100, 7B", {"global_batch": 2048, "sequence": None}),
        ("on 8 V100, one epoch takes 20 minutes, 30 epochs", {"pace_gpus": 8, "pace_s": 1200.0}),
        ("a 30B, a checkpoint every 250 of 5000 steps, quota of 8 TB", {"save_steps": 250.0, "disk_gb": 8000.0}),
        ("do I need 2, 3 or 6 nodes of vista for a 13B?", {"aim": "nodes", "nodes": None}),
        ("3B on CNN/DailyMail on two L40S", {"model": "3B"}),
        ("DeiT-B, batch at 384, four V100", {"sequence": None, "global_batch": 384}),
        ("largest batch of 8B on 2 H200?", {"aim": "batch", "model": "8B", "global_batch": None}),
        ("how long up to epoch 80 with 20 min per epoch?", {"epochs_done": None}),
        ("a net that was trained 60 epochs", {"epochs_done": None}),
        ("we're at epoch 25 of 60", {"epochs_done": 25}),
        ("we save the weights of a 3B every 200 steps. checkpoint size?", {"kept": None, "save_steps": 200.0}),
        ("3B, and we only store the weights. checkpoint size?", {"kept": "weights"}),
        ("how many days does a 3B with HSDP need for 20B tokens on 2 nodes of lumi?", {"aim": "hours"}),
        ("will a 3B with HSDP fit on 2 nodes of lumi?", {"aim": "hybrid"}),
        ("quota 4 TB, 30B, we checkpoint every 500 steps. enough?", {"aim": "checkpoint", "disk_gb": 4000.0}),
        ("how many jobs: 12h limit per job, the run needs 4 days", {"job_h": 12.0, "hours": 96.0, "start_h": None}),
        ("fine-tune a chatbot like mistral 7b, how many gpus?", {"task": None}),
        ("LoRA of a 3B on a cheap gpu with 12 GB?", {"gpus": 1, "gpu_gb": 12.0}),
        ("do we need a larger gpu for a 3B?", {"gpus": None}),
        ("reicht der Arbeitsspeicher von 256 GB um 30B auf 4 GPUs zu laden?", {"host_gb": 256.0, "gpu_gb": None}),
        ("34B Inferenz auf zwei L40S?", {"task": "serve"}),
        ("each of our 3 lab PCs has one RTX 4090, 3B?", {"gpu": "RTX 4090"}),
        ("a 3B on 3 lab PCs with one RTX 4090 each", {"nodes": 3, "each": 1}),
        ("LoRA de um 3B numa RTX 3090?", {"gpus": 1}),
        ("QLoRA of a 3B with adam 8 bits on one T4", {"optimizer": "adam8bit"}),
        ("1.4 s/step on 2 nodes, 90k steps, will it end in 24 h?", {"pace_s": 1.4, "hours": 24.0, "paces": ()}),
        ("4 Mio. core-h are granted: 7B, 100B tokens?", {"site_units": 4e6}),
        ("6 runs of a 3B on 5B tokens", {"runs": 6, "model": "3B"}),
        # One number counts one thing: by the unit before or behind it, in any language.
        ("3B auf 200 M Tokens, 5 Durchläufe auf 2 Knoten LUMI", {"epochs": 5, "tokens": 2e8, "nodes": 2}),
        ("обучить 3B на 2 узлах LUMI, 1B токенов, 2 эпохи", {"epochs": 2, "nodes": 2}),
        ("DeiT-B @224 for a global 1024 on 2 nodes of alps", {"global_batch": 1024, "sequence": 197}),
        ("un UNet de 0,9 G de paramètres sur 2 A100", {"gpus": 2, "model": "UNet 0.9B"}),
        ("QLoRA (r=8 su tutti i layer) di un 8B su una A100", {"site_units": None, "lora_rank": 8}),
        ("900 GPU node-hours are granted, 1B on 50B tokens?", {"node_hours": 900.0, "gpu_hours": None}),
        ("batch of about 1M tokens (2^20), seq 2048, grad accum?", {"global_batch": 512, "aim": "accumulation"}),
        ("serve an 8B on one A100 with --max-model-len 8192, ok?", {"aim": "fit"}),
        ("1.3B (24 layers, d=2048, 50k vocab) on one A100", {"model": "1.3B", "sequence": None}),
        ("llama-2-13b-chat on one H100 behind vLLM, 12 users", {"task": "serve", "users": 12}),
        ("40 configs with 3 seeds of bert-base on 9k labelled sentences", {"runs": 120, "samples": 9000.0}),
        ("affiner un 1B sur une V100, batch effectif 32", {"global_batch": 32, "micro_batch": None}),
        ("bert-large, eager attention, no grad ckpt, on one T4", {"attention": "eager", "recompute": "none"}),
        ("a 7B on 1B tokens, 2 nodes of lumi, at most 24 h a job, how many jobs?", {"hours": 24.0, "per_job": True}),
    ],
)
def test_amounts_are_read_as_what_they_are(text: str, fields: dict[str, object]) -> None:
    question = follow(text)
    assert {name: getattr(question, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("texts", "fields"),
    [
        (("7B on 4 nodes of alps, 5000 tokens/s per GPU, 3B tokens. how long?", "in node hours?"), {"speed": 5000.0}),
        (
            ("600 node hours left on leonardo, a node makes 20k tok/s with a 3B. how many tokens?", "we want 90B"),
            {"model": "3B", "tokens": 90e9},
        ),
        (
            ("how large is a checkpoint of a 30B? every 100 of 2000 steps", "and if I store only the weights in fp16?"),
            {"kept": "weights", "precision": None},
        ),
        (("largest micro batch for 7B on 8 H100?", "say 4. total batch of 256, how much accumulation?"),
         {"micro_batch": 4, "global_batch": 256}),
        (("500 node hours of vista for a 3B: how many tokens?", "and for 8B?"), {"model": "8B", "tokens": None}),
        (("500 node hours of vista for a 3B: how many tokens?", "we'd need 90B"), {"model": "3B", "tokens": 90e9}),
        (("7B on one V100 32GB?", "and on 16?"), {"gpus": 16, "gpu_gb": 32.0}),
        (("largest micro-batch for 7B on 4 H100?", "and on 32?"), {"gpus": 32, "micro_batch": None}),
        (("7B on 4 nodes of lumi?", "und auf 16?"), {"nodes": 16, "gpus": None}),
        (("LoRA of a 30B on one L40S?", "in 4 bit then?"), {"task": "qlora"}),
        (("7B on 4 A100 40GB?", "y con adam de 8 bits?"), {"gpus": 4, "optimizer": "adam8bit"}),
        (("7B on 4 A100 40GB?", "and with 32 layers?"), {"gpus": 4}),
        (("7B on one node of lumi, 4B tokens?", "and on the two?"), {"nodes": 2}),
        (("on 4 A100 an epoch of resnet50 takes 9 min, 60 epochs?", "20 epochs are done"), {"epochs_done": 20}),
        (("7B with FSDP on one node of tuolumne?", "and 20B with offload on that same node?"), {"nodes": 1}),
        (("1B on 10B tokens on one H100 node of anvil?", "only the A100 ones, how long?"),
         {"machines": ("anvil",), "gpu": "A100"}),
        (("13B on 2 nodes of frontier, 1B tokens?", "then in extended?"), {"queue": "extended", "nodes": 2}),
        (("LoRA of an 8B on one node of lumi?", "zamiast LoRA pełny fine-tuning"), {"task": "train", "nodes": 1}),
        (("30B on 2 nodes of alps?", "how many tokens in a day there? our target is 40B"),
         {"model": "30B", "tokens": 4e10}),
    ],
)  # fmt: skip
def test_a_follow_up_keeps_what_was_said(texts: tuple[str, ...], fields: dict[str, object]) -> None:
    question = follow(*texts)
    assert {name: getattr(question, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("a 30B with AdamW, saving every 250 of 5000 steps, quota 5 TB: how big is a checkpoint, can I keep all?",),
         "No, 5 TB: All 20 of them"),
        (("8 ranks of a LUMI node each load a 30B in fp32 and the node dies. is it the host memory while loading?",),
         "Yes, main memory: 8 ranks that each load 30B take 8 x 120 = 960 GB"),
        (("7B on 8 nodes x 4 A100 80: hybrid shard or full shard over all?",), "HYBRID_SHARD: it fits"),
        (("ddp of gpt2-xl on 4 Delta A100 nodes: compute takes 0.5 s, a step takes 1.2 s. why so slow?",),
         "0.7 s of each step of 1.2 s (58%) are not arithmetic"),
        (("600 node hours left on leonardo, a node makes 20k tok/s with a 3B. how many tokens?", "we want 90B"),
         "short by"),
        (("on 4 A100 an epoch of resnet50 takes 9 min, 60 epochs, how long?", "20 epochs are done"),
         "60 - 20 = 40 epochs"),
        (("serve Qwen2.5-32B on one A100 80GB with 32k context, ok?",), "leave 7.0 GiB for keys and values"),
        (("4 nodes on frontier for 8 hours, can I submit it like that?",), "not in the usual `batch`"),
        (("llama 3 8B on 8 H100 80GB with FSDP, context 65536, recomputing, it goes OOM at the cross entropy",),
         "It is the logits: 65,536 tokens x 128,256 words"),
        (("8B on 12 LUMI nodes, 15B tokens: how many GPU hours does that cost?",), "charged as about"),
        (("quota 4 TB, 30B, we checkpoint every 500 steps. enough?",), "4,000 GB hold 9 of them"),
        (("how many days does a 3B with HSDP need for 20B tokens on 2 nodes of lumi?",), "of wall time"),
        (("3B on CNN/DailyMail, 300k samples of 1024 tokens, 2 L40S: how long?",), "L40S GPU hours"),
        (("die Frage ist: reicht der Arbeitsspeicher von 384 GB um 30B auf 4 GPUs zu laden?",), "Enough to load it"),
        (("which one for a full 13B: 8 A100 40GB or 4 H100 80GB?",), "Only 4 x H100 80 GB surely holds it"),
        (("how many jobs: 12h limit per job, the run needs 4 days",), "8 jobs of 12 h are 96 h"),
        (("mamba 1.4b inference on one A40?",), "2.8 GB in bf16. 1 x A40 48 GB leaves"),
        (("1 node with 8 GPUs or 2 nodes with 4 for a 3B?",), "Both surely hold it; the quickest is 1 node"),
        (("our quota is 2 TB, and a 7B saves every hour. will that be enough?",), "2,000 GB hold 20 of them"),
        (("1.4 s/step on 2 nodes, 90k steps, will it end in 24 h?", "and on 4 nodes?"), "17.5 h on 4 nodes"),
        (("is 20k SU on delta enough for a 1B on 50B tokens?",), "it takes about 800 SU (690 to 1,100) of 20,000"),
        (("6 runs of a 1B on 10B tokens each, on 1 node of vista. how many hours?",), "All 6 of them: about"),
        (("256 GPUs for 4 days in one job: which machine?",), "24 h in one job, not 96"),
        (("which of frontier, aurora and alps holds a 405B on the fewest nodes?",), "Aurora, by nodes"),
        (("how many H100 hours for inference on a million prompts with 8B?",), "I have no sum for"),
        (("does a 13B fit, before we submit it? 4 nodes of expanse",), "13B fits on 4 nodes of Expanse"),
        (("does a 13B fit on A100s?",), "One A100 80 GB alone does not hold it"),
        (("does a 30B fit in one GH200?", "only served?"), "serve 30B in bf16"),
        (("does a 13B fit on an A100 40GB?",), "13B does not fit on 1 x A100 40 GB"),
        (("passt ein 7B mit LoRA auf meine 3060 mit 12 GB?",), "7B does not fit on 1 x GPU with 12 GB"),
        (("can our 2x8 V100 (32GB) train a 20B?",), "on 16 x V100 32 GB"),
        (("full fine-tuning or LoRA for 8B on 2 L40S?",), "Only LoRA, DDP surely holds it"),
        (("which is cheaper in node hours for a 13B on 100B tokens, lumi or leonardo?",), "Leonardo, by node hours"),
        (("one epoch takes 40 min on 2 gpus, 30 epochs, limit 12 h. ok with 4?",), "10 h on 4 GPUs"),
        (("how long for 2 epochs on 3M sequences of 512 tokens with bert-large on 4 V100?",), "3.07 B tokens"),
        (("128 nodes of frontier fail every 12 h, a save takes 4 min. how often to save?", "and on 256 nodes?"),
         "on 2048 GPUs (256 nodes) of Frontier"),
        (("TP 4 on 6 H100 for a 13B?",), "6 GPUs do not divide by 4"),
        (("llama 8b lora, batch size 2, seq 8192 a100 80, will it run out of memory?",), "on 1 x A100 80 GB"),
        (("4 jobs, each 6 h on 5 nodes: are 150 node hours enough?",), "Yes, 30 are left: 4 x 5 nodes x 6 h = 120"),
        (("combien de nœuds d'Adastra pour un 7B ?",), "Of Adastra I have no facts"),
        (("quiero servir un 8B a 200 usuarios con 16k de contexto en una A100 de 40GB, ¿cabe?",), "not 200"),
        (("full fine-tune of 30B on 2 DGX A100 (8x80GB), fits?",), "on 16 x A100 80 GB"),
        (("each node has 4 A100 40GB. 13B with FSDP: how many?",), "13B fits on 16 x A100 40 GB"),
        (("30B on 16 A100 80GB with ZeRO-3, offload: none. ok?",), "30B fits on 16 x A100 80 GB with ZeRO-3 ("),
        (("можно ли обучить 13B на одной H100?",), "13B does not fit on 1 x H100 80 GB"),
        # What the usual node does not hold is said before the node that does.
        (("Llama 3.1 8B, all weights, FSDP, 4k, on one usual Perlmutter node: ok?",), "Not surely on a usual node of"),
        # By what the site charges, the queue that was named, and against the other card.
        (("2 nodes of Delta: 350M on 5B tokens, how long?", "what in SU on gpuA40x4-preempt against the a100 nodes?"),
         "In `gpuA40x4-preempt` about"),
        (("cheapest in SU for a QLoRA of a 3B on 20M tokens on one GPU of Delta?",),
         "`gpuA100x4-preempt` costs the least"),
        (("pvc or h100 of Stampede3 for a 13B: which does more per SU?",), "in `h100` costs the least: 4 SU an hour"),
        (("LoRA of a 3B, 50M tokens, Vista or Lonestar6: which one is cheaper?",), "costs the least: about 0.7 SU"),
        # A queue that is opened on request is no answer.
        (("3B on 30B tokens on 40 nodes of Aurora: how many hours?",), "at most 16 go there, or 256 and more"),
        # The verdict on a queue, a limit, a budget.
        (("13B on 1B tokens, 4 nodes of frontier: does it finish in batch?",),
         "Not in one job of `batch` (2 h for 4 nodes)"),
        (("13B on 1B tokens, 4 nodes of frontier: how long?", "then in extended?"), "Yes, in one job of `extended`"),
        (("900 GPU node-hours on Perlmutter: enough for 1B on 100B tokens?",),
         "node hours (260 to 500) of 900, that is 39%"),
        # A clear question is answered, whatever stands beside it.
        (("my colleague wants FSDP for a full 7B on a DeltaAI node, 96GB each. Why not DDP?",),
         "with DDP does not fit on"),
        (("bert-large at 512 tokens, batch 48 a V100-32 of bridges2, eager attention, no ckpt: will it OOM?",),
         "BERT-large does not fit on"),
        (("our own GPT-4 on 4 nodes of lumi by summer, which batch?",), "has not been published"),
        (("sgd recipe: lr 0.2 for 512. resnet50 on 4 nodes of alps, 64 images a GPU, which lr?",), "learning rate 0.4"),
        (("accumulation for a batch of 2M tokens (2^21), seq 4096, micro batch 4, 16 GPUs?",
          "with TP 4? and the steps of 10B tokens?"),
         "10 B tokens are about 4,768 steps"),
        (("kicked out every 9 hours on delta, a save takes 2 minutes. how often? we save every 4 h",),
         "Every 4 h is too rarely"),
        (("a 13B checkpoint at 4 GB/s: how large, and we keep the last two",), "2 of them are 364 GB"),
        # Nobody needs 64 GPUs for a minute's work.
        (("bert-base on 8k labelled sentences, 3 epochs, 16 nodes of leonardo: how long?",), "far too many"),
        (("full 20B with FSDP and cpu offload on one node of tuolumne, ok?",), "Offload wins nothing there"),
        (("teach mistral 7b my 900 answers on one V100 16GB of bridges2, possible?",), "but it does with QLoRA"),
        # What a number counts is not guessed.
        (("13B with FSDP on 2 nodes of frontier, 400M tokens, 3 rounds. how many hours?",), "What *3 rounds* counts"),
    ],
)  # fmt: skip
def test_the_question_is_answered(turns: tuple[str, ...], told: str, say: Say) -> None:
    assert told in shown([say(turn) for turn in turns][-1])


def test_each_option_shows_what_its_script_is_asked_for() -> None:
    answer = plan_tool("Llama-3-8B", ("perlmutter",), gpu="A100-80", nodes=4)
    with_scripts = [one for one in answer.options if one.request]
    assert with_scripts
    assert all(one.micro_batch == int(one.request["micro_batch"]) for one in with_scripts)


def test_the_tool_and_the_command_take_a_card_of_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    answer = plan_tool("Llama-3-70B", ("delta",), task="qlora", gpu="gpuA40x4", gpus=2, micro_batch=1, precision="bf16")
    assert {one.gpu for one in answer.options} == {"A40 48 GB"}
    assert main(["plan", "--model", "7B", "--machine", "perlmutter", "--gpu", "A100-40", "--gpus", "1"]) == 1
    assert "A100 40 GB" in capsys.readouterr().out
    for refused in ("nothing", "my-A100s", "4x A100"):
        assert main(["plan", "--model", "7B", "--machine", "perlmutter", "--gpu", refused]) == 2


def test_a_queue_that_is_named_is_kept_with_all_its_nodes() -> None:
    answer = plan_tool("3B", ("perlmutter",), gpu="premium")
    assert {one.gpu for one in answer.options} == {"A100 40 GB", "A100 80 GB"}
    assert {one.request["queue"] for one in answer.options} == {"premium"}


@pytest.mark.parametrize(("task", "precision"), [("pretrain", "int4"), ("lora", "int8"), ("serve", "pure")])
def test_a_precision_of_another_task_is_refused(task: str, precision: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", "7B", "--gpu", "A100-80", "--task", task, "--precision", precision]) == 2
    assert "is for" in capsys.readouterr().err


def test_a_batch_that_nothing_holds_is_told_of_gpus_that_hold_the_model() -> None:
    plan = plan_resources(ResourceQuestion(model="30B", machines=("vista",), micro_batch=4096))
    assert plan.options[0].fit.verdict == "no"
    assert plan.options[0].fit.layout.gpus > 4


def test_the_budget_and_the_charge_are_the_same_sum(say: Say) -> None:
    whole = shown(say("is 100 node hours of frontier enough for a 3B on 2B tokens?"))
    assert "charged as" not in whole  # the node is charged whole, as the budget has it
    dear = shown(say("3B on 2B tokens in the premium queue of perlmutter, 100 node hours, enough?"))
    assert "it takes about 40 node hours" in dear
    assert "charged as about 40 node hours" in dear


def test_advice_is_possible_there() -> None:
    question = ResourceQuestion(model="Mistral-7B", machines=("vista",), nodes=4)
    told = str(plan_resources(question).document)
    assert "HYBRID_SHARD" not in told
    assert "no_sync" not in told


def test_a_way_with_offload_says_so() -> None:
    question = ResourceQuestion(
        model="13B", machines=("perlmutter",), gpu_gb=40, nodes=1, strategy="zero3", offload="optimizer"
    )
    told = str(plan_resources(question).document)
    assert "the optimizer in main memory on 2 nodes" in told
    assert "Without offload" in told


def test_a_quantised_base_is_told_with_its_embeddings() -> None:
    fit = (
        plan_resources(ResourceQuestion(model="Llama-3-70B", task="qlora", gpu="A100", gpu_gb=80, gpus=1))
        .options[0]
        .fit
    )
    (base,) = (part for part in fit.memory.parts if part.name == "base model")
    assert "68.5 B parameters x 0.55 bytes, 2.1 B of embeddings x 2" in base.how
    assert base.gib == pytest.approx((68.5 * 0.55 + 2.1 * 2) * 1e9 / 2**30, rel=0.01)


def test_a_sequence_of_so_many_tokens_for_each_gpu_is_a_length() -> None:
    said = "8B with FSDP on 16 nodes of Delta A100, one sequence of 4096 per GPU per step"
    question = read_question(read_utterance(said, ThreadView()))
    assert (question.sequence, question.micro_batch) in ((4096, None), (4096, 1))
