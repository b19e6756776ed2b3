"""The machine that a log or a scheduler's output shows by itself."""

from __future__ import annotations

import time

import pytest

from graph.extraction.machine import machine_shown


@pytest.mark.parametrize(
    "text, machine, proved",
    [
        ('x4117c3s2b0n0.hostmgmt2117.cm.aurora.alcf.anl.gov 0:   File "/flare/Proj/main.py", line 4', "aurora", True),
        ('[rank12]:   File "/leonardo_work/EUHPC_D24_118/me/train.py", line 91', "leonardo", True),
        ("  7731904 gpuA100x4 vidmae-l   me PD  0:00  4 (Priority)", "delta", False),
        ("sbatch: error: invalid partition specified: boost_usr_prod", "leonardo", False),
        ('from_pretrained("microsoft/aurora", filename="aurora-0.25.ckpt")', None, False),
        ("/home/leonardo/project/train.py:3: RuntimeError", None, False),
        ("ValueError: frontier is empty", None, False),
        ("", None, False),
    ],
)
def test_paths_hosts_and_queues_tell_the_machine_and_plain_words_do_not(
    text: str, machine: str | None, proved: bool
) -> None:
    assert machine_shown([text]) == (machine, proved)


@pytest.mark.parametrize("text", ["a" * 100_000, "-" * 100_000, "/" + "a" * 100_000, "a-" * 50_000])
def test_a_word_without_end_is_looked_at_once(text: str) -> None:
    began = time.process_time()
    assert machine_shown([text, text]) == (None, False)
    assert time.process_time() - began < 4
