"""A GPU out of memory: the log's numbers and the planner's sum together, and silence where nothing can be known."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from graph.planning.resources.layout import Layout
from graph.planning.resources.parameters import find_model
from graph.planning.resources.shortfall import OutOfMemory, weigh
from graph.usecases.diagnose_job import diagnose_job

LINE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 3 has a total capacity of 39.39 GiB "
    "of which 1.02 GiB is free. Including non-PyTorch memory, this process has 38.36 GiB memory in use. Of the "
    "allocated memory 35.10 GiB is allocated by PyTorch, and {unused} GiB is reserved by PyTorch but unallocated.\n"
)
SCRIPT = """\
#!/bin/bash
#SBATCH -A m1_g
#SBATCH -C gpu
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc-per-node=4 train.py --model_name_or_path meta-llama/Llama-3.1-8B \\
    --per_device_train_batch_size 4 --max_seq_length 2048 --fsdp full_shard
"""
SHORT = OutOfMemory(asked=3.91, free=1.02, total=39.39, allocated=35.10, unused=1.62)


def test_the_logs_own_sum() -> None:
    assert SHORT.needed == pytest.approx(39.01) and SHORT.room == pytest.approx(37.74, abs=0.01)
    assert not SHORT.unused_suffices
    assert OutOfMemory(asked=2.0, free=1.0, total=40.0, allocated=34.0, unused=4.0).unused_suffices
    assert OutOfMemory(asked=2.0).needed is None and OutOfMemory(asked=2.0).room is None


@pytest.mark.parametrize("name", ["Llama-3-8B", "Llama-2-13B", "7B"])
def test_a_larger_step_of_the_same_remedy_never_needs_more(name: str) -> None:
    model = find_model(name)
    assert model
    found = {one.name: one for one in weigh(SHORT, model, Layout(gpus=8, micro_batch=8, recompute="none"))}
    assert found["a micro-batch of 1"].most <= found["a micro-batch of 4 instead of 8"].most
    assert found["32 GPUs"].most <= found["16 GPUs"].most
    assert all(one.gib <= one.most * 1.0001 for one in found.values())


def test_where_the_states_alone_are_too_large_no_batch_helps() -> None:
    model = find_model("Llama-3-8B")
    assert model
    layout = Layout(spread="ddp", gpus=4, micro_batch=4, recompute="none")
    found = {one.name: one for one in weigh(SHORT, model, layout)}
    assert found["a micro-batch of 1"].verdict == found["activation checkpointing"].verdict == "no"
    assert found["LoRA"].gib < found["a micro-batch of 1"].gib


def test_with_a_script_each_remedy_is_weighed() -> None:
    fix = " ".join(diagnose_job(LINE.format(unused="1.62"), SCRIPT).diagnosis.fix)
    assert "Llama-3.1-8B with FSDP over 8 GPUs" in fix and "Fits: a micro-batch of 2 instead of 4" in fix
    assert "at least 39.0 GiB of 37.7" in fix and "cannot be told" not in fix


def test_without_model_or_spread_no_saving_is_told() -> None:
    fix = diagnose(LINE.format(unused="1.62")).fix
    assert "at least 39.0 GiB" in fix[-1] and "cannot be told" in fix[-1]
    assert not any("Fits:" in step or ("expandable" in step and "holds this request" in step) for step in fix)


def test_unused_memory_that_suffices_is_told() -> None:
    assert "holds this request" in " ".join(diagnose(LINE.format(unused="5.20")).fix)


def test_a_log_without_numbers_tells_none() -> None:
    assert not any("log's numbers" in step for step in diagnose("RuntimeError: CUDA error: out of memory\n").fix)
