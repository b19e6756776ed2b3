"""Wishes in words that no pattern holds, through the message's reader; and the lines that the tagger learns."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.extraction.request import understand
from graph.reading.wishes.corpus import read_lines
from graph.reading.wishes.tagger import WEIGHTS, read_wishes
from graph.reading.wishes.values import ENVIRONMENTS, EVENTS, FLAGS, OTHERS, SEVERAL, SINGLE, WAITS
from knowledge.job_parts import LimitSignal
from knowledge.types import JobRequest
from knowledge.word_lists import word_set

LINES = sorted((Path(__file__).parent / "wishes").glob("*.txt"))
BESIDE = word_set(
    "was given joined_output undo resume deadline priority sweep_value sweep_files mail module_version var_value"
    " arg_value node_type framework_config edf prefetch copy_out rank_setup binding profiler redo reset show line_gone"
    " comment"
)
SLOTS = {*SINGLE, *FLAGS, *SEVERAL, *WAITS, *EVENTS, *ENVIRONMENTS, *OTHERS, *BESIDE, "mail_to"}
STANDS = JobRequest(
    machine="perlmutter",
    framework="pytorch",
    strategy="ddp",
    nodes=4,
    gpus_per_node=4,
    walltime="02:00:00",
    account="m1234",
    queue="regular",
    entry="train.py",
    args="--lr 1e-3 --epochs 10",
)


@pytest.mark.parametrize("path", LINES, ids=lambda path: path.stem)
def test_every_line_is_annotated_with_known_slots(path: Path) -> None:
    lines = read_lines(path)
    assert len(lines) > 400 and len({line.text for line in lines}) > 0.98 * len(lines)
    for line in lines:
        for mark in line.marks:
            assert mark.slot in SLOTS, line
            assert line.text[mark.start : mark.end].strip() == line.text[mark.start : mark.end] != "", line


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("have the job name be llama-sft", "job_name", "llama-sft"),
        ("I'd rather it ran under the name moe-warmup", "job_name", "moe-warmup"),
        ("raise the warning time to 8 minutes", "signal", LimitSignal("USR1", 480)),
        ("each node must have 200 GB of host memory", "memory_gb", 200),
    ],
)
def test_a_wish_in_other_words_is_read(words: str, field: str, value: Any) -> None:
    read = understand(words, STANDS, None, None)
    assert getattr(read.request, field) == value
    assert (read.request.nodes, read.request.walltime) == (4, "02:00:00")


def test_what_only_asks_or_tells_changes_nothing() -> None:
    for words in ("would it help to name it llama-sft?", "the job name was llama-sft last time"):
        assert understand(words, STANDS, None, None).request.job_name is None


def test_the_weights_stay_small_and_quick() -> None:
    assert WEIGHTS.stat().st_size < 2_000_000
    read_wishes("warm")
    began = time.process_time()
    for n in range(20):
        read_wishes(f"make it {n} nodes, call it run-{n}, and mail me@site.org when it is done")
    assert (time.process_time() - began) / 20 < 0.02


@pytest.mark.parametrize(
    ("words", "option", "value"),
    [
        ("bf16, no longer fp16, the loss explodes", "--precision", "bf16"),
        ("set the micro batch to 2, it runs out of memory", "--micro-batch-size", "2"),
    ],
)
def test_an_option_that_the_program_has_of_its_own_is_what_changes(words: str, option: str, value: str) -> None:
    stands = replace(STANDS, args="--precision fp16 --micro-batch-size 8")
    read = understand(words, stands, None, None).request
    assert [(one.name, one.value) for one in read.argument_edits] == [(option, value)]
    assert (read.precision, read.micro_batch) == (None, None)


def test_a_number_word_that_is_no_wish_changes_no_size() -> None:
    read = understand("put it into debug, that's half the price there", STANDS, None, None).request
    assert (read.nodes, read.walltime, read.queue) == (4, "02:00:00", "debug")


@pytest.mark.parametrize(
    ("words", "entry", "args"),
    [
        ("once training is over, also run test.py --split val in the same job", "test.py", "--split val"),
        ("after the training run score.py --ckpt best.pt on the same nodes", "score.py", "--ckpt best.pt"),
    ],
)
def test_a_further_program_keeps_the_value_of_its_last_option(words: str, entry: str, args: str) -> None:
    request = understand(words, STANDS, None, None).request
    assert (request.entry, [(one.entry, one.args) for one in request.then]) == ("train.py", [(entry, args)])
