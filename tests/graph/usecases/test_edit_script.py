"""Words that change a person's own script: that change, and no other line."""

from __future__ import annotations

import pytest

from graph.usecases.edit_script import Edited, edit_script, put_fields
from graph.usecases.own_fields import put_field
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

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


@pytest.mark.parametrize(
    ("launch", "then"),
    [
        ("torchrun --nproc_per_node=4 t.py", 'srun --ntasks=2 --ntasks-per-node=1 --cpus-per-task="$SLURM_CPUS_ON_NODE"'
         ' torchrun --nnodes=2 --rdzv-backend=c10d'),
        ("srun torchrun --nnodes=1 --nproc_per_node=4 --master_addr $H --master_port $P t.py",
         "--rdzv-endpoint=$H:$P --nnodes=2 --nproc_per_node=4 t.py"),
        ("srun torchrun --nnodes=1 --rdzv_endpoint=$H:1 t.py", ' --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --nn'),
        ("mpiexec -n 4 \\\n  --ppn 4 python t.py", "mpiexec -n 8 \\\n  --ppn 4"),
        ("srun -n 4 python t.py", "srun -n 8 python"),
        ("srun -N1 -n4 -c7 python t.py", "srun -N2 -n8 -c7 python"),
        ("mpirun -np 4 python t.py", "mpirun -np 8 python"),
        ("srun accelerate launch --num_machines 1 \\\n  --num_processes 4 t.py", "2 \\\n  --num_processes 8 t.py"),
        ("accelerate launch t.py", "launch --num_machines 2 --num_processes 8 --machine_rank 0 --rdzv_backend c10d"),
        ("export NPROC=4\nNGPU=4\nsrun python t.py -g $NGPU", "export NPROC=8\nNGPU=4"),
        ("NNODES=1\nexport WORLD_SIZE=4\nsrun python t.py --nnodes=$NNODES", "NNODES=2\nexport WORLD_SIZE=8\n"),
    ],
)  # fmt: skip
def test_a_launch_follows_its_nodes(launch: str, then: str) -> None:
    text = f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=4\n{launch}\n"
    edited = edit_script(text, "use 2 nodes", None)
    assert edited and "-N 2" in edited.text and then in edited.text


@pytest.mark.parametrize(
    ("directives", "machine", "then"),
    [
        (
            "#PBS -l select=1:ngpus=4",
            "polaris",
            'mpiexec -n 2 --ppn 1 --hostfile "$PBS_NODEFILE" --cpu-bind none torchrun',
        ),
        (
            "#PBS -l select=1:ngpus=4",
            "",
            'mpirun -np 2 --map-by ppr:1:node --bind-to none --hostfile "$PBS_NODEFILE" tor',
        ),
        (
            "#BSUB -nnodes 1",
            "lassen",
            "jsrun --nrs 2 --rs_per_host 1 --tasks_per_rs 1 --cpu_per_rs ALL_CPUS --gpu_per_rs",
        ),
        (
            "# flux: --nodes=1",
            "tuolumne",
            "flux run --nodes=2 --ntasks=2 --exclusive torchrun --nnodes=2 --rdzv-backend=c10d "
            '--rdzv-id="$(flux getattr jobid)" --rdzv-endpoint="$(flux hostlist -n 0 local):29500"',
        ),
    ],
)
def test_a_launch_of_one_node_meets_on_every_scheduler(directives: str, machine: str, then: str) -> None:
    text = f"#!/bin/bash\n{directives}\ntorchrun --standalone --nproc_per_node=4 t.py\n"
    edited = edit_script(text, "use 2 nodes", catalogue().find(machine) if machine else None)
    assert edited and then in edited.text and "--standalone" not in edited.text


def test_a_variable_of_thousands_of_digits_is_left() -> None:
    text = (
        f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=4\nNGPU={'9' * 5000}\ntorchrun --nproc_per_node=4 t.py\n"
    )
    edited = edit_script(text, "use 2 nodes", None)
    assert edited and "#SBATCH -N 2" in edited.text and f"NGPU={'9' * 5000}\n" in edited.text


def test_totals_in_variables_follow_to_one_node() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 4\n#SBATCH --gpus-per-node=4\nexport NGPU=16\nN_TASKS=16\n"
        "WORLD=16\nGPUS=4\nNUM_WORKERS=16\n"
        "srun torchrun --nnodes=4 --nproc_per_node=$GPUS t.py\n"
    )
    edited = edit_script(text, "use 1 node", None)
    assert edited and "NGPU=4\nN_TASKS=4\nWORLD=4\nGPUS=4\nNUM_WORKERS=16" in edited.text


def test_counts_follow_the_gpus_of_a_node() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\nexport NGPU=8\nGPUS_PER_NODE=4\nP=4\nN=4\n"
        "srun -n 8 torchrun --nproc_per_node=$N t.py --workers $P\n"
    )
    edited = put_field(Edited(text, ()), "gpus_per_node", JobRequest(gpus_per_node=2), None, "job.sh")
    assert "NGPU=4\nGPUS_PER_NODE=2\nP=4\nN=2\nsrun -n 4" in edited.text
