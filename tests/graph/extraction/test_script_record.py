"""Whole records: what a script asks for and runs, in the words of the request's fields."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from graph.extraction.script_record import missing_fields, understand_script


def fields(text: str) -> dict[str, object]:
    return {name: value for name, value in asdict(understand_script(text)).items() if value is not None}


def test_a_slurm_script() -> None:
    assert fields(
        "#!/bin/bash\n#SBATCH -A m0042_g\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -N 3\n#SBATCH --gpus-per-node=4\n"
        "#SBATCH -t 90\nexport MASTER_ADDR=$(hostname)\ncd $PSCRATCH/x\n"
        "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 fit.py --use_fsdp --model vit_b\n"
    ) == {
        "scheduler": "slurm",
        "launcher": "torchrun",
        "machine": "perlmutter",
        "framework": "pytorch",
        "strategy": "fsdp",
        "nodes": 3,
        "gpus_per_node": 4,
        "walltime": "01:30:00",
        "model": "vit_b",
        "entry": "fit.py",
        "account": "m0042_g",
        "queue": "regular",
        "args": "--use_fsdp --model vit_b",
    }


def test_a_pbs_script_counts_by_its_ranks() -> None:
    found = fields(
        "#PBS -l select=6:system=polaris\n#PBS -l walltime=0:30:00\n#PBS -A lab\nN=$(wc -l < $PBS_NODEFILE)\nR=4\n"
        "mpiexec -n $((N*R)) --ppn $R python -m pkg.fit --mode ddp\n"
    )
    assert (found["machine"], found["nodes"], found["gpus_per_node"], found["strategy"]) == ("polaris", 6, 4, "ddp")
    assert (found["entry"], found["account"], found["launcher"]) == ("pkg.fit", "lab", "mpiexec")


@pytest.mark.parametrize(
    ("directives", "nodes", "gpus"),
    [
        ("#SBATCH --gpus=16 --nodes=2", 2, 8),
        ("#SBATCH --gres=gpu:h100:4 -N 5", 5, 4),
        ("#SBATCH --gres=nvme:1,gpu:2 -N 1", 1, 2),
        ("#SBATCH --ntasks=32 --ntasks-per-node=8 --gpus-per-task=1", 4, 8),
        ("#SBATCH -N 2 --gpus-per-task=4 --ntasks-per-node=1", 2, 4),
        ("#SBATCH -N 2 --ntasks-per-node=4", 2, 4),
        ("#PBS -l select=3:ngpus=8", 3, 8),
        ("#PBS -l nodes=2:ppn=16:gpus=4", 2, 4),
        ('#BSUB -n 16\n#BSUB -R "span[ptile=8]"\n#BSUB -gpu "num=4:mode=shared"', 2, 4),
        ("#flux: -N 2\n#flux: -n 8 -g 1", 2, 4),
        ("#$ -l rt_AF=2\n#$-l h_rt=1:00:00", 2, 8),
    ],
)
def test_counts_of_directives(directives: str, nodes: int, gpus: int) -> None:
    found = fields(f"{directives}\nsrun python fit.py --strategy ddp\n")
    assert (found["nodes"], found["gpus_per_node"]) == (nodes, gpus)


@pytest.mark.parametrize(
    ("command", "nodes", "gpus"),
    [
        ('#SBATCH -N 2\nN="$SLURM_NNODES"\nG="${GPUS:-4}"\nmpirun -np "$((N * G))" python fit.py', 2, 4),
        ('N="$SLURM_NNODES"\nG="${GPUS:-4}"\nmpirun -np "$((N * G))" python fit.py', None, 4),
        ("torchrun --standalone --nproc_per_node 3 fit.py", 1, 3),
        ("accelerate launch --num_machines 2 --num_processes 8 fit.py", 2, 4),
        ("mpirun -np 12 -H a:4,b:4,c:4 python fit.py", 3, 4),
        ("mpirun -np 16 --map-by ppr:8:node python fit.py", 1, 8),
        ("deepspeed --num_gpus 2 fit.py", 1, 2),
        ("printf x\ncat > h <<E\na slots=2\nb slots=2\nE\ndeepspeed --hostfile h fit.py", 2, 2),
        ("CUDA_VISIBLE_DEVICES=0,1 python fit.py", 1, 2),
        ("#SBATCH -N 2\nsrun --ntasks-per-node=1 ./start_node.sh", 2, None),
        ("#SBATCH -N 2\nsrun --ntasks-per-node=4 ./start_rank.sh", 2, 4),
        ("#BSUB -nnodes 2\njsrun -r 4 -c 10 python fit.py", 2, 4),
        ("#BSUB -nnodes 2\njsrun -n 12 -a 1 -c 7 -g 1 python fit.py", 2, 6),
        ("#SBATCH --gpus=4 --ntasks=8\nsh run_all.sh", 1, 4),
        ("torchrun --nproc_per_node gpu fit.py", 1, None),
        ("#SBATCH -N 2\n#SBATCH --ntasks-per-node=16\nmpirun python grid.py", 2, None),
        ("#SBATCH -N 2\n#SBATCH --ntasks-per-node=4\nexport NCCL_DEBUG=INFO\nsrun python grid.py", 2, 4),
        ("#SBATCH -N 2\nexport NCCL_DEBUG=INFO\nsrun --ntasks-per-node=96 ./solver", 2, None),
        (
            "#PBS -l select=2:ncpus=8:ngpus=0\nexport MPICH_GPU_SUPPORT_ENABLED=0\nmpiexec -n 16 -ppn 8 python a.py",
            2,
            None,
        ),
        ("#SBATCH -N 1 --ntasks-per-node=1\nexport CUDA_VISIBLE_DEVICES=0,1,2\nsrun python fit.py", 1, 3),
        ("torchrun --nproc_per_node $1 fit.py", 1, None),
        ('N=${SLURM_NNODES:-"2"}\nA=(--nnodes $N --nproc_per_node 8)\ntorchrun ${A[@]} fit.py', 2, 8),
        ("#SBATCH -N 2 -p cpu_long --ntasks-per-node=8\nsrun python fit.py", 2, None),
        (
            "#PBS -l select=2\nmpiexec -n 1 python fit.py\nmpiexec -n 8 -ppn 4 python fit.py\nmpiexec -n 2 python f.py",
            2,
            4,
        ),
    ],
)
def test_counts_of_launch_lines(command: str, nodes: int | None, gpus: int | None) -> None:
    found = fields(command)
    assert (found.get("nodes"), found.get("gpus_per_node")) == (nodes, gpus)


def test_an_unknown_node_count_stays_unknown() -> None:
    record = understand_script("#SBATCH -t 10\nsrun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 fit.py\n")
    assert record.nodes is None
    assert "nodes" in missing_fields(record)


@pytest.mark.parametrize(
    ("command", "framework", "strategy"),
    [
        ("torchrun --nproc_per_node 4 fit.py", "pytorch", None),
        ("torchrun --nproc_per_node 4 fit.py --strategy hsdp", "pytorch", "fsdp"),
        ("torchrun --nproc_per_node 4 fit.py trainer.fsdp=false", "pytorch", None),
        ("torchrun --nproc_per_node 4 fit.py --fsdp --no-zero3", "pytorch", "fsdp"),
        ("deepspeed --num_gpus 4 fit.py --deepspeed ds_z3_offload.json", "deepspeed", "zero3"),
        ("deepspeed --num_gpus 4 fit.py --stage sft --zero_stage 2", "deepspeed", "zero2"),
        ("torchrun --nproc_per_node 8 fit.py --tensor-model-parallel-size 2", "megatron", "tp"),
        ("torchrun --nproc_per_node 8 pretrain_gpt.py --pipeline-model-parallel-size 4", "megatron", "pp"),
        ("torchrun --nproc_per_node 8 fit.py --tensor-model-parallel-size 2 --zero-stage 1", "megatron", "3d"),
        ("accelerate launch --multi_gpu --num_processes 4 fit.py", "accelerate", "ddp"),
        ("accelerate launch --use_deepspeed --zero_stage 3 --num_processes 4 fit.py", "accelerate", "zero3"),
        ("torchrun --nproc_per_node 4 fit.py fit --trainer.strategy deepspeed_stage_2", "lightning", "zero2"),
        ("horovodrun -np 4 python fit.py", None, "ddp"),
        ("CUDA_VISIBLE_DEVICES=1 python fit.py", "pytorch", "none"),
        ("torchrun --nproc_per_node 4 -m pkg.fit data=x engine=fsdp", "pytorch", "fsdp"),
        ("export TF_XLA_FLAGS=--x\npython fit.py", "pytorch", None),
        ("conda activate tf21\npython fit.py", None, None),
        ("#SBATCH -n 1\npython table.py", None, None),
        ("#SBATCH -n 1 --gpus=1\npython table.py", "pytorch", "none"),
        ("torchrun --nproc_per_node 2 fit.py --load /data/from_megatron/llama", "pytorch", None),
        ("torchrun --nproc_per_node 2 megatron/fit.py", "megatron", None),
        ("torchrun --nproc_per_node 2 fit.py --trainer.max_epochs=3", "pytorch", None),
        ("python -m pkg.ppo actor.fsdp_config.offload=False rollout.tensor_parallel_size=2", "pytorch", "fsdp"),
        ("deepspeed --num_gpus 4 fit.py --vllm.tensor_parallel_size 2 --ds.zero_stage 3", "deepspeed", "zero3"),
        ("mpirun -np 4 python fit_jax.py", "jax", None),
        ("torchrun --nproc_per_node 4 fit.py --sharding_strategy=full", "pytorch", "fsdp"),
        ("deepspeed --num_gpus 4 fit.py --deepspeed zero3.json --ddp_timeout 600", "deepspeed", "zero3"),
        ("deepspeed --num_gpus 4 fit.py --deepspeed zero3.json --strategy ddp", "deepspeed", "ddp"),
        ("torchrun --nproc_per_node 4 fit.py --stage 2", "pytorch", None),
        ("deepspeed --num_gpus 4 fit.py --deepspeed ds_config_2gpu.json", "deepspeed", None),
        ("torchrun --nproc_per_node 4 fit.py zero_optimization.stage=2", "deepspeed", "zero2"),
        ("for i in 0 1 2; do CUDA_VISIBLE_DEVICES=$i python fit.py --shard $i & done", "pytorch", "none"),
    ],
)
def test_framework_and_strategy(command: str, framework: str | None, strategy: str | None) -> None:
    record = understand_script(command)
    assert (record.framework, record.strategy) == (framework, strategy)


def test_the_zero_stage_of_a_config_that_the_script_writes() -> None:
    record = understand_script(
        'S=2\ncat > ds_z3.json <<E\n{"zero_optimization": {"stage": $S}}\nE\n'
        "deepspeed fit.py --deepspeed_config ds_z3.json\n"
    )
    assert record.strategy == "zero2"


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("#SBATCH -p standard-g\nsrun python a.py", "lumi"),
        ("#SBATCH -p boost_usr_prod\nsrun python a.py", "leonardo"),
        ("#PBS -q rt_HF\nmpirun python a.py", "abci3"),
        ("# on Polaris\nmpiexec python a.py", "polaris"),
        ("# not for Polaris\nmpiexec python a.py", None),
        ("#SBATCH -p gpu\nsrun python a.py", None),
        ("# Frontier or Summit? both\npython a.py", None),
        ("#SBATCH -p standard-g\n##SBATCH -A x\ncd /lustre/orion/x\nsrun python a.py", None),
    ],
)
def test_machine_by_its_marks(text: str, machine: str | None) -> None:
    assert understand_script(text).machine == machine


@pytest.mark.parametrize(
    ("text", "container"),
    [
        ("I=/x/y.sif\napptainer exec --nv -B /a $I python a.py", "/x/y.sif"),
        ("srun --container-image=reg#img:1 --container-mounts=/a:/b python a.py", "reg#img:1"),
        ("#SBATCH --image=docker:reg/img:1\nsrun shifter python a.py", "reg/img:1"),
        ("docker run --rm -v /a:/b img:2 python a.py", "img:2"),
        ("#apptainer exec x.sif python a.py\npython a.py", None),
    ],
)
def test_container(text: str, container: str | None) -> None:
    assert understand_script(text).container == container


def test_placeholders_are_no_values() -> None:
    found = fields("#SBATCH -A <project>\n#SBATCH -p xxxxxx\n#SBATCH -N 2\nsrun python a.py --strategy ddp\n")
    assert "account" not in found
    assert "queue" not in found


@pytest.mark.parametrize(
    ("text", "entry", "launcher"),
    [
        ("singularity run \u2013nv tf.sif python fit.py", "fit.py", "python"),
        ("srun apptainer exec --nv $SIF python fit.py", "fit.py", "srun"),
        ("srun apptainer exec $BINDS $SIF bash -c 'python fit.py'", "fit.py", "srun"),
        ("#COBALT -n 2 -t 30\nmpirun -n 2 ./fit.sh", "./fit.sh", "mpirun"),
        ('#SBATCH -n 8\nparallel --resume -j 8 "srun -n1 ./fit.sh {}" ::: 1 2', "./fit.sh", "srun"),
        ("#SBATCH -n 1\nmodule load R\nRscript fit.R --seed 1", "fit.R", None),
        ("#SBATCH -n 4\nsrun ./bin/solver --steps 3", "./bin/solver", "srun"),
        ("#SBATCH -n 4\nsrun ${COMMAND}", None, "srun"),
        ("pkg-launch fit.py --steps 2", "fit.py", "python"),
        ("python submit.py --gpus 8 -- accelerate launch --num_processes 8 fit.py", "fit.py", "accelerate"),
        ("python fit.py -- --lr 1", "fit.py", "python"),
        (
            "ray job submit --address http://h:1 --no-wait -- python3 -m pkg.fit --lr 1\nray job logs x",
            "pkg.fit",
            "ray",
        ),
        ("#PBS -l select=2\nmpiexec -n 4 python $*", None, "mpiexec"),
    ],
)
def test_what_is_started(text: str, entry: str | None, launcher: str | None) -> None:
    found = fields(text)
    assert (found.get("entry"), found.get("launcher")) == (entry, launcher)


def test_a_parallel_environment_keeps_the_options_behind_it() -> None:
    found = fields("#$ -pe gpu 2 -l h_rt=00:30:00\npython fit.py\n")
    assert (found["scheduler"], found["gpus_per_node"], found["walltime"]) == ("sge", 2, "00:30:00")


def test_the_image_is_told_also_where_no_program_is_seen() -> None:
    found = fields("#SBATCH -N 1\nsrun --container-image=lab/torch:2 bash -c 'python -c \"1\"'\n")
    assert (found.get("entry"), found["container"]) == (None, "lab/torch:2")


@pytest.mark.parametrize("options", ["$SIF", "$BINDS $SIF", "--nv $SIF"])
def test_an_image_in_a_variable_is_the_image(options: str) -> None:
    assert fields(f"srun apptainer exec {options} python fit.py\n")["container"] == "$SIF"
