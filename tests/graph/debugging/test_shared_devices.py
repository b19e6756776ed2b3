"""A GPU bound to each task while LOCAL_RANK counts up: the script's own cure."""

from __future__ import annotations

from graph.debugging.diagnosis import diagnose
from graph.usecases.diagnose_job import report_of

SCRIPT = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH -t 4:00:00
module load pytorch
srun -l bash -c "
  export LOCAL_RANK=\\$SLURM_LOCALID
  python train.py
"
"""
LOG = 'Traceback (most recent call last):\n  File "train.py", line 5, in main\n    torch.cuda.set_device(1)\n'
LOG += "RuntimeError: CUDA error: invalid device ordinal\n"


def test_the_tasks_of_a_node_share_its_gpus() -> None:
    mended = report_of(diagnose(LOG), SCRIPT, None).mended
    assert mended is not None and "#SBATCH --gpus-per-node=4\n" in mended.text and "per-task" not in mended.text
    assert mended.text.replace("--gpus-per-node=4", "--gpus-per-task=1") == SCRIPT


def test_a_script_whose_tasks_take_device_0_is_left_alone() -> None:
    other = SCRIPT.replace("LOCAL_RANK=\\$SLURM_LOCALID", "LOCAL_RANK=0")
    mended = report_of(diagnose(LOG), other, None).mended
    assert mended is None or mended.text == other
