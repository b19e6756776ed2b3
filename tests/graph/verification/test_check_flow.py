"""Defects of where values flow: planted in scripts that are right without them."""

from __future__ import annotations

import pytest

from graph.verification.checks.run import check
from knowledge.catalogue import catalogue

HEAD = "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n#SBATCH -o logs/%j.out\n"
MASTER = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)\n'
RUN = (
    "torchrun --nnodes=$SLURM_NNODES --nproc-per-node=4 --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d "
    "--rdzv-endpoint=$MASTER_ADDR:29500 train.py --data /lustre/d --output /lustre/o\n"
)
RIGHT = f"{HEAD}{MASTER}srun {RUN}"
ARRAY = (
    "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=1\n#SBATCH --array=0-7\n#SBATCH -o logs/%A_%a.out\n"
    "torchrun --nproc-per-node=1 --master-port=$((29500 + SLURM_ARRAY_TASK_ID)) train.py "
    "--seed $SLURM_ARRAY_TASK_ID --output /lustre/$SLURM_ARRAY_TASK_ID\n"
)


@pytest.mark.parametrize(
    ("right", "old", "new", "rule"),
    [
        (ARRAY, "/lustre/$SLURM_ARRAY_TASK_ID", "/lustre/one", "array-clash"),
        (ARRAY, "$((29500 + SLURM_ARRAY_TASK_ID))", "29500", "array-clash"),
        (ARRAY, "%A_%a.out", "train.out", "array-clash"),
        (ARRAY, "#SBATCH --array=0-7\n", "", "array-no-index"),
        (RIGHT, MASTER, f"echo 29500 | read PORT\n{MASTER}export PORT\n", "variable-lost"),
        (RIGHT, MASTER, f"(cd /lustre/code)\n{MASTER}", "variable-lost"),
        (RIGHT, "srun torchrun", "RDZV=a srun torchrun --role=$RDZV", "variable-own-line"),
        (RIGHT, "--data /lustre/d", "--data /tmp/d", "path-node-local"),
        (RIGHT, "--data /lustre/d", '"$ARGS"', "call-one-word"),
        (RIGHT, "srun torchrun", "srun srun torchrun", "launch-nested"),
        (RIGHT, "srun torchrun", "srun apptainer exec /i.sif torchrun", "container-closed"),
        (RIGHT, "srun torchrun", "srun apptainer exec --nv --cleanenv /i.sif torchrun", "container-closed"),
        (RIGHT, "srun torchrun", "srun dcgm_watch &\nsrun torchrun", "launch-step-waits"),
        (RIGHT, "--output /lustre/o", "--output /lustre/o | tee log.txt", "shell-exit-lost"),
        (RIGHT, MASTER, f"set -e\nLAST=$(ls /lustre | grep step)\n{MASTER}", "shell-grep-ends"),
        (RIGHT, MASTER, f"source /v/bin/activate\nmodule load python/3.11\n{MASTER}", "environment-order"),
        (RIGHT, "#SBATCH -N 4\n", "#SBATCH -N 4\n#SBATCH --mem=9G\n#SBATCH --mem-per-cpu=1G\n", "directive-memory"),
        (RIGHT, "#SBATCH -N 4\n", "#SBATCH -N 4\n#SBATCH --mem=200\n", "directive-memory"),
        (RIGHT, "#SBATCH -N 4\n", "#SBATCH -N 4\n#SBATCH --time=24:00\n", "directive-minutes"),
    ],
)
def test_a_planted_defect_is_found_and_the_right_script_is_left_alone(
    right: str, old: str, new: str, rule: str
) -> None:
    before = "cp -r /lustre/d /tmp/d\n" if rule == "path-node-local" else ""
    before += 'ARGS="--lr 1e-4 --wd 0.1"\n' if rule == "call-one-word" else ""
    right = right.replace(MASTER, before + MASTER)
    assert old in right
    assert rule not in {one.rule for one in check(right, None)}
    assert rule in {one.rule for one in check(right.replace(old, new), None)}


AURORA = """#!/bin/bash -l
#PBS -A Proj
#PBS -q debug
#PBS -l select=2
#PBS -l walltime=01:00:00
#PBS -l filesystems=home:flare
cd $PBS_O_WORKDIR
export ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE
export MASTER_ADDR=$(head -1 $PBS_NODEFILE) MASTER_PORT=2345
mpiexec -n 12 --ppn 6 python train.py
"""


def test_a_card_is_one_device_where_the_script_says_so() -> None:
    aurora = catalogue().clusters["aurora"]
    assert "launch-ranks" not in {one.rule for one in check(AURORA, aurora)}
    assert "launch-ranks" in {one.rule for one in check(AURORA.replace("COMPOSITE", "FLAT"), aurora)}


def test_the_index_of_an_array_reaches_a_list_by_its_own_name() -> None:
    lists = "RUN=$SLURM_ARRAY_TASK_ID\nSEEDS=(1 2 3 4 5 6 7 8)\ntorchrun"
    text = ARRAY.replace("torchrun", lists).replace("--seed $SLURM_ARRAY_TASK_ID", '--seed "${SEEDS[RUN]}"')
    same = text.replace("/lustre/$SLURM_ARRAY_TASK_ID", "/lustre/one")
    found = [{one.rule for one in check(one, None)} for one in (text, same)]
    assert "array-clash" not in found[0] and "array-clash" in found[1]
