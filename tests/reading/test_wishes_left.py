"""A first request is read by the rules and the tagger of wishes, and what neither makes something of is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.extraction.request import understand
from graph.reading.wishes.left import unread
from knowledge.types import JobRequest

JOB = "Delta gpuA100x4, 2 nodes with 4 GPUs, DDP, train.py, 3 hours, account bbzz-delta-gpu"


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (f"{JOB}, conda env vision (module load gcc, then cuda)", "environment", "vision"),
        (f"{JOB}, conda env vision under /u/ada/miniforge3", "environment", "/u/ada/miniforge3/envs/vision"),
        (f"{JOB}, image /u/ada/pt.sif with /u/ada/data bound to /data", "binds", ("/u/ada/data:/data",)),
        (JOB.replace("DDP", "accelerate FSDP with my own_fsdp.yaml"), "config_file", "own_fsdp.yaml"),
        (JOB.replace("DDP", "DDP by torchrun"), "launcher", "torchrun"),
        (f"{JOB}, requeue it when it hits the limit", "requeue", True),
        (f"{JOB}, on the 80GB A100s", "memory_gb", None),
    ],
)
def test_what_only_the_tagger_reads_completes_a_first_request(words: str, field: str, value: Any) -> None:
    read = understand(words, None, None, None)
    assert read.intent == "generate" and getattr(read.request, field) == value
    assert (read.request.nodes, read.request.walltime, read.request.entry) == (2, "03:00:00", "train.py")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (f"{JOB}, then score.py on one node", "score.py"),
        (f"{JOB}, vorher die Bilder nach $TMPDIR kopieren", "Bilder nach $TMPDIR"),
        (f"{JOB}, checkpoints on the burst buffer", "burst buffer"),
    ],
)
def test_what_neither_reads_is_named(words: str, named: str) -> None:
    read = understand(words, None, None, None)
    known = " ".join(map(str, (read.request.then, read.request.after)))
    assert named in " | ".join(read.left) or named in known


@pytest.mark.parametrize(
    "words",
    [
        f"{JOB}, reservation spring",
        f"{JOB}, job name probe, mail to ada@x.example when it ends",
        f"{JOB}, array over seed 0-4",
        "Our group has 6 nodes and no docs. Which strategy for a 7B?",
    ],
)
def test_what_is_read_is_not_named(words: str) -> None:
    assert understand(words, None, None, None).left == ()


def test_a_change_in_plain_words_is_left_to_its_reader() -> None:
    before = JobRequest(machine="delta", nodes=4, gpus_per_node=4, walltime="03:00:00", entry="train.py")
    read = understand("give it one more hour", before, None, None)
    assert read.request.walltime == "04:00:00" and read.left == ()


def test_every_piece_that_an_offer_holds_nothing_of_is_named() -> None:
    text = "8 nodes please, wave height goes into ocean.nc, and the results come back to my home afterwards"
    job = JobRequest(machine="delta", nodes=8)
    named = unread(text, job, ["nodes"])
    assert named == ("wave height goes into ocean.nc", "and the results come back to my home afterwards")
    assert unread(text, replace(job, output="ocean.nc"), ["output"]) == named[1:]
    assert unread(text, job, ["nodes"], ("results",)) == named[:1]
