"""Rules for memory, splits and batches, where no model's size is said: graph/planning/resources works out the rest."""

from __future__ import annotations

import re

from graph.answering.ask import Ask
from graph.answering.in_hand import in_hand
from graph.answering.script_sizes import tell_same_batch
from graph.answering.situation import cite, write_document
from graph.extraction.batch_numbers import batch_numbers, named
from graph.planning.gpus import SOURCE, STATE_BYTES
from knowledge.document import Document

REMEDIES = (
    "In the order of their price: a smaller batch a GPU with gradient accumulation (same global batch); activation "
    "checkpointing (about a third slower); FSDP or ZeRO-3 instead of DDP; an 8-bit optimizer; offload to CPU memory "
    "(slow); more GPUs last, for they cost node hours."
)
LITTLE = 0.8  # of a batch: what changes less asks for no other rate
GOYAL, GPT3 = "https://arxiv.org/abs/1706.02677", "https://arxiv.org/abs/2005.14165"


def tell_memory(ask: Ask) -> Document:
    """What takes memory, and what helps."""
    return write_document(
        REMEDIES,
        f"Behind it: each parameter costs {STATE_BYTES} bytes with Adam in mixed precision (2 weights, 2 gradients, 12 "
        "optimizer); activations come on top and grow with batch and sequence length. Say the model's size and the "
        "machine and I work it out.",
        cite([SOURCE], ""),
    )


def split_model(ask: Ask) -> Document:
    """Which split goes where."""
    return write_document(
        "Tensor parallel stays inside a node (its GPUs' fast links): at most the GPUs of a node. Pipeline stages come "
        "next, as few as make it fit; the rest is data parallel.",
        "Say model size, machine and nodes, and I work it out: *30B on 64 nodes of LUMI*.",
    )


def choose_batch(ask: Ask) -> Document:
    """The order in which to choose, usual ranges, the learning rate; or whether a moved script keeps its own."""
    if same := tell_same_batch(ask):
        return same
    return write_document(
        script_batch(ask),
        "Take the largest batch a GPU (micro-batch) that fits, then as many accumulation steps as the global batch "
        "wants: "
        "global = micro-batch x data-parallel GPUs x accumulation steps, and it must divide.",
        "Usual global batches: 256 to 4,096 images for vision models; 0.5 to 4 M tokens for language models, that is "
        "250 "
        "to 2,000 sequences of 2,048 (GPT-3 took 0.5 to 3.2 M). Larger ones save time only until the loss suffers.",
        "Learning rate: twice the batch is twice the rate for SGD with warm-up; with Adam the square root of two is "
        "safer.",
        cite([GOYAL, GPT3], ""),
    )


def script_batch(ask: Ask) -> str:
    """What the script in hand makes of it."""
    hand = in_hand(ask)
    said = re.search(r"\b(\d{2,5})\b", ask.text)
    if hand is None or not hand.gpus:
        return ""
    whole = named(batch_numbers(hand.text), "whole")
    part = int(said[1]) / whole.value if said and whole and whole.value else 0.0
    same = f"{said[1]} instead of {whole.value}: the learning rate may stay. " if said and whole else ""
    same = same if LITTLE < part < 1 / LITTLE and part != 1 else ""
    if ask.report and ask.report.cause == "gpu-not-visible":
        return same  # how many ranks the script starts is what was wrong
    example = int(said[1]) if said else 1024
    each, left = divmod(example, hand.gpus)
    near = hand.gpus * max(1, round(example / hand.gpus))
    fits = f"no whole number a GPU: take {near}" if left else f"{each} a GPU and step"
    return f"{same}Your script has {hand.gpus} GPUs: a global batch of {example} is {fits}."
