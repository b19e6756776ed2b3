"""Defects that people put into good scripts: each is found, and the good script gives no finding."""

from __future__ import annotations

import pytest

from graph.verification.checks import check

SLURM = """#!/bin/bash
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:4
#SBATCH --cpus-per-task=32
#SBATCH --time=04:00:00
set -eo pipefail
source /opt/miniconda3/etc/profile.d/conda.sh
conda activate train
export OMP_NUM_THREADS=8
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=29500
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT train.py
"""
LAUNCH = SLURM.splitlines()[-1]
TASKS = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=04:00:00
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export MASTER_PORT=29500
srun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS; python train.py --lr 1'
"""
PBS = """#!/bin/bash
#PBS -l select=2:ncpus=32:ngpus=4
#PBS -l walltime=04:00:00
cd $PBS_O_WORKDIR
export MASTER_ADDR=$(head -n 1 $PBS_NODEFILE)
export MASTER_PORT=29500
mpiexec -n 8 --ppn 4 python train.py --lr 1
"""
DEFECTS = [
    ("call-behind-text", TASKS, "--lr 1'", "' --lr 1"),
    ("call-doubled-equals", SLURM, "--nodes=2", "--nodes==2"),
    ("call-doubled-equals", SLURM, "--nproc_per_node=4", "--nproc_per_node==4"),
    ("call-single-quotes", SLURM, "$MASTER_ADDR:$MASTER_PORT", "'$MASTER_ADDR:$MASTER_PORT'"),
    ("launch-variable", SLURM, "srun torchrun", "srun NCCL_DEBUG=INFO torchrun"),
    ("launch-variable", SLURM, "srun torchrun", "srun -N 2 NCCL_DEBUG=INFO OMP_NUM_THREADS=8 torchrun"),
    ("launch-python", SLURM, "train.py", "python train.py"),
    ("launch-option", SLURM, "--rdzv_backend", "--rdvz_backend"),
    ("launch-no-program", SLURM, " train.py", ""),
    ("launch-ends-soon", SLURM, LAUNCH, LAUNCH + " &"),
    ("shell-exit", SLURM, LAUNCH, "exit 0\n" + LAUNCH),
    ("launch-hostfile", SLURM, LAUNCH, "deepspeed --hostfile=hosts.txt train.py"),
    ("shell-interpreter", SLURM, "#!/bin/bash", "#!/bin/bsh"),
    ("shell-interpreter", SLURM, "#!/bin/bash", "#!bin/bash"),
    ("directive-stray", SLURM, "#SBATCH --time=", "#PBS -l walltime="),
    ("shell-nounset-early", SLURM, "set -eo", "set -euo"),
    ("environment-conda-hook", SLURM, "source /opt/miniconda3/etc/profile.d/conda.sh\n", ""),
    ("environment-threads", SLURM, "THREADS=8", "THREADS=64"),
    ("environment-folder", PBS, "cd $PBS_O_WORKDIR\n", ""),
    ("directive-tasks", SLURM, "#SBATCH --gres", "#SBATCH --ntasks=4\n#SBATCH --gres"),
    ("directive-minutes", SLURM, "04:00:00", "24"),
    ("variable-nounset", SLURM, LAUNCH, "set -u\n" + LAUNCH + " --data $DATADIR"),
    ("shell-export", SLURM, "export MASTER_PORT", "export $MASTER_PORT"),
    ("shell-export", SLURM, "MASTER_PORT=29500", "MASTER_PORT= 29500"),
    ("launch-machines", SLURM, "srun torchrun", "srun -n 1 torchrun"),
    ("shell-hidden", SLURM, "train.py", "train\u202e.py"),
    ("shell-hidden", SLURM, "#!/bin/bash\n", "#!/bin/bash\n# \u2066fine\n"),
    ("variable-commanding", SLURM, "#!/bin/bash\n", "#!/bin/bash\nPATH=/opt/mine\n"),
    ("directive-unknown-option", SLURM, "--gres=gpu:4", "--gpu=4"),
]


@pytest.mark.parametrize("text", [SLURM, TASKS, PBS])
def test_the_good_scripts_are_good(text: str) -> None:
    assert [one for one in check(text, None) if one.severity != "info"] == []


@pytest.mark.parametrize(("rule", "text", "old", "new"), DEFECTS)
def test_the_defect_is_found(rule: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert rule in {one.rule for one in check(text.replace(old, new), None) if one.severity != "info"}


@pytest.mark.broke("commanding variables")
@pytest.mark.parametrize("line", ["export LD_PRELOAD=/tmp/x.so", "export BASH_ENV=/tmp/x", "PATH=/opt/mine"])
def test_a_variable_that_changes_which_programs_run_is_told(line: str) -> None:
    found = check(SLURM.replace("#!/bin/bash\n", f"#!/bin/bash\n{line}\n"), None)
    assert [one.line for one in found if one.rule == "variable-commanding"], found


@pytest.mark.broke("direction marks")
@pytest.mark.parametrize("mark", "\u202a\u202e\u2066\u2069\u200f")
def test_a_mark_that_turns_letters_is_an_error(mark: str) -> None:
    found = check(SLURM.replace("train.py", f"train{mark}.py"), None)
    assert "error" in [one.severity for one in found if one.rule == "shell-hidden"]


@pytest.mark.parametrize(
    "text",
    [
        SLURM.replace("srun torchrun", "srun bash -c 'exec \"$@\"' worker torchrun"),
        SLURM.replace("--nnodes=2", "--nproc-per-nod=4 --nnodes=2"),
        SLURM.replace("train.py", "--no-python python train.py"),
        SLURM.replace("srun torchrun", "srun python -m torch.distributed.run"),
        SLURM.replace(LAUNCH, LAUNCH + " &\nwait"),
        SLURM.replace(LAUNCH, "if [ -f done ]; then\nexit 0\nfi\n" + LAUNCH),
        SLURM.replace(LAUNCH, "set -u\n" + LAUNCH + " --data ${DATADIR:-data}"),
        SLURM.replace("set -eo", "set +u; set -eo"),
    ],
)
def test_what_is_right_stays_unsaid(text: str) -> None:
    assert [one for one in check(text, None) if one.severity != "info"] == []


def test_minutes_that_people_mean_are_no_warning() -> None:
    found = [one for one in check(SLURM.replace("04:00:00", "15"), None) if one.rule == "directive-minutes"]
    assert [one.severity for one in found] == ["info"]


def test_a_server_beside_a_program_keeps_the_job_alive() -> None:
    assert not [one for one in check(SLURM.replace(LAUNCH, f"{LAUNCH} &\npython ask.py"), None) if "ends" in one.rule]


@pytest.mark.parametrize("more", ["srun a\n" * 4_001, f"srun a {'b ' * 20_000}\n"], ids=["commands", "words"])
def test_what_is_too_much_to_read_is_told(more: str) -> None:
    """Half a megabyte of commands would take seconds; nothing is left out without a word."""
    told = [one for one in check(SLURM + more, None) if one.rule == "script-unread"]
    assert [one.severity for one in told] == ["warning"] and "nothing was checked" in told[0].says
    assert len(SLURM.splitlines()) < told[0].line <= len((SLURM + more).splitlines())
    assert not [one for one in check(SLURM + "srun a\n" * 400, None) if one.rule == "script-unread"]
