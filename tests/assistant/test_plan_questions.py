"""Questions about size, hours, saves and machines in other words than the planner's own, through the conversation."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from assistant.drawing import markdown
from assistant.events import Event
from graph.usecases.answer import plain_text
from graph.usecases.plan_resources import plan_resources
from knowledge.resource_question import ResourceQuestion


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2B tokens with llama 3 8b, one perlmutter 80gb node. can it finish in 24h?", "No: about"),
        ("I have a model with 3 billion parameters and one gpu with 24 gigs. can I train it?", "does not fit"),
        ("1M tokens of context with llama 3 8b on 8 H100 80gb - possible?", "does not fit"),
        ("how often should I save on 1024 gpus of frontier, 12 hours", "on 1024 GPUs of Frontier"),
        ("which cluster has the most memory per gpu", "abci3 and delta and helma (141 GB, H200)"),
        ("cheapest machine in node hours to fully finetune llama2 13b on 1B tokens, which one?", "by node hours"),
        ("qlora mixtral 8x7b on one L40S of bridges2 ok?", "L40S 48 GB"),
        (
            "How many nodes would a full finetune of Llama 3.1 405B need on Alps?",
            "The fewest that hold it: FSDP with TP 4",
        ),
        ("deepspeed zero 3 with cpu offload for llama2 13B on one node of polaris, would that work?", "312 GB of main"),
        ("zero3 with cpu offload for llama 3 70B on one node of polaris, would that work?", "does not fit"),
        ("Llama 3 8B at 1000 tokens/s per GPU on 4 nodes of Delta, 1B tokens, how long?", "about 17 h"),
        ("Llama 3 8B at 16000 tokens/s on 4 nodes of Delta, 1B tokens, how long?", "about 17 h"),
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


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        (("7B full finetune on 8 A100 40GB, does it fit?", "on 16 GPUs?"), "fits on 16 x A100 40 GB"),
        (("7B full finetune on 8 A100 40GB, does it fit?", "and with 8-bit adam?"), "x 10 bytes"),
        (("7B full finetune on 8 A100 40GB, does it fit?", "in fp32?", "on LUMI?"), "1 node of LUMI"),
        (("LoRA of Llama 3 8B on one A100-40, ok?", "and the 70B?"), "Llama-3-70B does not fit on 1 x A100 40 GB"),
        (("30B full finetune on 4 nodes of Frontier?", "and on twice the nodes?"), "8 nodes of Frontier"),
        (("serve llama 3 70b on 4 H100", "for 500 users?"), "No: 4 x H100 80 GB"),
    ],
)
def test_a_fragment_keeps_the_rest(turns: tuple[str, ...], told: str, say: Callable[..., list[Event]]) -> None:
    shown = ["\n".join(map(markdown, say(turn))) for turn in turns]
    assert told in shown[-1].replace("**", ""), shown[-1][:600]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "can FSDP with CPU offload fit a 30B full finetune on one Perlmutter A100-40 node?",
            "does not fit on 1 node of",
        ),
        ("does llama 70b with TP 4 fit on 4 A100 80GB nodes of perlmutter?", "16 x A100 80 GB"),
        ("3 epochs over 400k samples of 2048 tokens, Llama 2 7B on one node of Alps, how long?", "2.46 B tokens"),
        ("for 500 GPU hours on Delta A100s, how many tokens of an 8B model can I train?", "500 GPU hours of A100"),
        ("are 2000 node hours of Perlmutter enough to pretrain a 7B on 100B tokens?", "No: it takes about 2,100"),
        ("is it okay to LoRA a 70B on 8 nodes of Delta's H200 partition?", "No queue of Delta takes 8 nodes"),
        ("what's the biggest model I can full fine-tune on one Perlmutter node with 80GB GPUs?", "14B surely fits"),
        ("will QLoRA 70B run on a single RTX 4090 24GB?", "does not fit on 1 x RTX 4090 24 GB"),
        ("can I fine-tune a 7B on a TPU v4 with 32 GB?", "Of the TPU I have neither"),
        ("does a 13B in 4 epochs fit on one H100?", "Not used in this: '4 epochs'"),
        ("24 layers, hidden 2048, 16 heads, vocab 50k: how many A100 40GB to train it?", "24 layers x 2048 fits"),
        ("memory of ZeRO stage 1, 2 or 3 for a 7.5B on 64 GPUs?", "ZeRO-2 16.6 GB"),
        ("need 8 GPUs in a node with at least 80GB each, which machines?", "ABCI 3.0: 8 x H200"),
        ("DPO of an 8B on 4 H100, does it fit?", "reference model"),
        ("PPO of Llama 3 8B on 16 H100, does it fit?", "is tight"),
    ],
)
def test_what_is_said_is_used_or_named(text: str, told: str, say: Callable[..., list[Event]]) -> None:
    shown = "\n".join(map(markdown, say(text))).replace("**", "").replace("`", "'").replace("*", "'")
    assert told in shown, shown[:600]


@pytest.mark.parametrize(
    ("text", "told", "never"),
    [
        # Main memory that is named is a value of the question, not what is asked; an offloaded optimizer goes there.
        ("can I train a 70B model with 512 GB of RAM on 1 A100 40GB?", "70B does not fit", "Yes"),
        (
            "llama 3 8b, 64 GB RAM node, fits on 1 A100 80GB with offload?",
            "of main memory on each node of 64 GB",
            "Yes",
        ),
        ("how many GPUs for 70B? the CPU memory is 512 GB", "70B fits on", "ranks"),
        ("cost of 7B on 1T tokens with host memory offload on 64 A100", "A100 GPU hours", "ranks"),
        ("how much RAM does a node need to load 405B?", "that each load 405B", "Yes"),
        # A queue that is named and takes no such job.
        ("does llama 3 8b fit on 4 nodes of perlmutter in shared?", "shared takes 1 node and 2 GPUs at most", ""),
        ("70B on 16 nodes of polaris in the debug queue, does it fit?", "debug takes 2 nodes at most", ""),
        # The room for checkpoints.
        ("how large is a checkpoint of 70B with a quota of 200 GB?", "200 GB hold not one of them", "hold 0"),
        ("how often should I save a 70B on 16 nodes of polaris with 200 GB quota", "200 GB hold not one of them", ""),
        ("how often should I save a 7B on 16 nodes of polaris with 200 GB quota", "200 GB hold 2 of them", ""),
        # Experts whose shape is not known.
        ("does a 100B-A10B fit on 32 nodes of polaris?", "is tight", "fits on"),
        ("does a 100B-A10B fit on 32 nodes of polaris?", "config.json", ""),
        ("how many GPUs for a 100B-A10B on polaris?", "is tight", "surely fits"),
        ("how big is the batch I need for 8B", "the largest batch a GPU (micro-batch) that fits", ":** Largest"),
    ],
)
def test_a_value_that_is_named_is_used_and_only_what_is_asked_is_told(
    text: str, told: str, never: str, say: Callable[..., list[Event]]
) -> None:
    shown = "\n".join(map(markdown, say(text)))
    plain = shown.replace("**", "").replace("`", "")
    assert told in plain
    assert not never or never not in (shown if "**" in never else plain)


@pytest.mark.parametrize("nodes", [4, 8, 16, 32])
def test_the_fewest_that_hold_it_are_the_same_from_below_and_from_above(nodes: int) -> None:
    """What is named for too few nodes is what is named for too many, and it holds when it is asked for."""
    question = ResourceQuestion(model="70B", machines=("polaris",), nodes=nodes)
    told = plain_text(plan_resources(question).document)
    (least,) = set(re.findall(r"(?:from there on|surely hold it): [^.]*? on (\d+) nodes", told))
    asked = plan_resources(replace(question, nodes=int(least)))
    assert asked.options[0].fit.verdict == "fits"
    assert int(least) == 12
