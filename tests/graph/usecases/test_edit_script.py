"""Words that change a person's own script: that change, and no other line."""

from __future__ import annotations

import pytest

from graph.usecases.edit_script import Edited, edit_script, put_fields
from knowledge.catalogue import catalogue

SLURM = """#!/bin/bash
#SBATCH -A bcqe-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 2
#SBATCH -t 12:00:00
# my own remark
export OMP_NUM_THREADS=20
srun torchrun --nnodes 2 --nproc_per_node 4 main.py data=imagenet trainer.max_steps=90000 --epochs 10
"""
PBS = """#PBS -A GeoAI
#PBS -q debug-scaling
#PBS -l select=4:system=polaris
#PBS -l walltime=00:45:00
mpiexec -n 16 --ppn 4 python t.py --epochs 10
"""


def changed(before: str, words: str) -> list[str]:
    """The lines that are new after the words."""
    edited = edit_script(before, words, None)
    if edited is None:
        return []
    assert edited.says
    return [line for line in edited.text.splitlines() if line not in before.splitlines()]


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ("change line 7 to 10 threads", ["export OMP_NUM_THREADS=10"]),
        ("6 hours is enough", ["#SBATCH -t 06:00:00"]),
        ("account abcd-delta-gpu", ["#SBATCH -A abcd-delta-gpu"]),
        ("put the threads back to 16", ["export OMP_NUM_THREADS=16"]),
        ("set HF_HOME=$SCRATCH/hf", ["export HF_HOME=$SCRATCH/hf"]),
        ("what does --epochs do?", []),
        ("is the time limit ok?", []),
        ("thanks!", []),
    ],
)
def test_one_line_changes(words: str, new: list[str]) -> None:
    assert changed(SLURM, words) == new


@pytest.mark.parametrize(
    ("words", "end"),
    [
        ("change trainer.max_steps to 120000", "trainer.max_steps=120000 --epochs 10"),
        ("epochs from 10 to 12", "--epochs 12"),
        ("add --resume runs/7b/last.pt", "--epochs 10 --resume runs/7b/last.pt"),
        ("optimizer.lr=2e-4 as well", "--epochs 10 optimizer.lr=2e-4"),
        ("drop --epochs", "trainer.max_steps=90000"),
    ],
)
def test_the_programs_arguments(words: str, end: str) -> None:
    (line,) = changed(SLURM, words)
    assert line.endswith(end)


def test_nodes_change_where_they_are_counted() -> None:
    assert changed(SLURM, "use 4 nodes") == [
        "#SBATCH -N 4",
        SLURM.splitlines()[-1].replace("--nnodes 2", "--nnodes 4"),
    ]
    assert changed(PBS, "make it 8 nodes") == [
        "#PBS -l select=8:system=polaris",
        "mpiexec -n 32 --ppn 4 python t.py --epochs 10",
    ]


def test_ranks_of_several_nodes_meet() -> None:
    alone = SLURM.replace("-N 2", "-N 1").replace("--nnodes 2", "--standalone")
    *_, line = changed(alone, "use 2 nodes")
    assert "--standalone" not in line and "--nnodes=2 --rdzv-backend=c10d" in line


def test_an_argument_is_found_by_its_other_name() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\nsrun python ft.py --bs 32 --epochs 20\n"
    edited = edit_script(text, "batch size to 48, epochs 40", None)
    assert edited is not None
    assert "ft.py --bs 48 --epochs 40" in edited.text


OF_PBS = "#!/bin/bash -l\n#PBS -A AIxBio\n#PBS -l select=4:system=polaris\nmpiexec -n 16 python a.py\n"
OF_SLURM = "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -o a.out\n#SBATCH --mem=10G\nsrun python a.py\n"


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        (OF_PBS, "please make it restart by itself if it gets preempted", "#PBS -r y"),
        (OF_SLURM, "please make it restart by itself if it gets preempted", "#SBATCH --requeue"),
        (OF_PBS, "give it 200G of memory", "#PBS -l select=4:system=polaris:mem=200gb"),
        (OF_SLURM, "give it 200G of memory", "#SBATCH --mem=200G"),
        (OF_SLURM, "put the log in logs/run.out", "#SBATCH --output=logs/run.out"),
        (OF_PBS, "have it join stderr into stdout", "#PBS -j oe"),
    ],
)
def test_a_wish_becomes_a_directive_of_the_scripts_own_scheduler(text: str, words: str, line: str) -> None:
    edited = edit_script(text, words, None)
    assert edited is not None
    assert line in edited.text.splitlines()
    assert len(set(text.splitlines()) - set(edited.text.splitlines())) <= 1


def test_gpus_counted_for_the_whole_job_follow_its_nodes() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -p GPU\n#SBATCH --gpus=v100-32:16\n#SBATCH -t 08:00:00\n"
        "srun torchrun --nnodes=2 --nproc_per_node=8 train.py\n"
    )
    cluster = catalogue().find("bridges2")
    more = edit_script(text, "use 4 nodes", cluster)
    fewer = put_fields(Edited(text, ()), {"gpus_per_node": 4}, cluster)
    assert more and "--gpus=v100-32:32" in more.text and "--nnodes=4" in more.text
    assert "--gpus=v100-32:8" in fewer.text
