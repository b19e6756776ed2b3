"""The sum for a GPU out of memory, where the states alone are larger than the card."""

from __future__ import annotations

import pytest

from graph.debugging.memory_sum import with_sum
from knowledge.types import Diagnosis

SCRIPT = """#!/bin/bash
#SBATCH -N 1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
srun torchrun --standalone --nproc_per_node=8 ft.py --model Qwen/Qwen2-VL-7B-Instruct --bs 2 --ddp
"""
FACTS = {"asked": "130.00 MiB", "total": "63.98 GiB", "free": "84.00 MiB", "allocated": "61.92 GiB"}
FIX = (
    "Make a smaller batch per GPU with more gradient accumulation.",
    "Much is unused: `export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
)


@pytest.mark.parametrize("words", ["", "it loads with dtype=torch.bfloat16"])
def test_no_step_contradicts_the_sum(words: str) -> None:
    found = Diagnosis("gpu-oom", "out of memory", 0.95, fix=FIX, facts=tuple(FACTS.items()))
    told = "\n".join(with_sum(found, SCRIPT, words).fix)
    helps = "no smaller batch helps" not in told
    assert helps == ("a smaller batch per GPU" in told) == ("micro-batch" in told)
    assert "both of these" not in told and "FSDP or ZeRO-3 with activation checkpointing (" in told
