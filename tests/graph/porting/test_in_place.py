"""What a port makes of containers, inner steps, held launches, loops over nodes, some nodes, and what it tells."""

from __future__ import annotations

import subprocess

import pytest

from graph.porting.port import Ported, port
from knowledge.catalogue import catalogue
from knowledge.errors import InputError

BOOSTER = """#!/bin/bash
#SBATCH --job-name=7b_run
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=1
#SBATCH --partition=booster
#SBATCH --account=abc
#SBATCH --time=01:00:00
"""
ELSEWHERE = BOOSTER.replace("booster", "mygpus")
RENDEZVOUS = "--nnodes=2 --nproc_per_node=4 --rdzv_endpoint=$(hostname):29500"


def ported(text: str, machine: str = "delta") -> Ported:
    target = catalogue().find(machine)
    assert target is not None
    made = port(text, target)
    assert isinstance(made, Ported), made
    script = made.bundle.script
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert not done.stderr, script
    return made


def told(made: Ported) -> str:
    return "\n".join(one.says for one in made.notes)


def test_a_container_that_runs_there_is_kept_with_its_folders_and_steps() -> None:
    inner = f'bash -c "cd /workspace && torchrun {RENDEZVOUS} train.py --bs 4"'
    launch = f"srun apptainer exec --nv --pwd /w --bind /p/data:/data,$PWD:/workspace /p/box.sif {inner}\n"
    made = ported(BOOSTER + launch)
    script = made.bundle.script
    assert "export IMAGE=/p/box.sif" in script
    assert (
        '--pwd /w --nv --bind "/p/data:/data,$PWD:/workspace" "$IMAGE" bash -c \'cd /workspace; exec "$@"\'' in script
    )
    assert "cd /workspace\nsrun" not in script and script.rstrip().endswith("train.py --bs 4")
    assert "Container /p/box.sif is kept" in told(made) and "/p/data:/data" in told(made)


@pytest.mark.parametrize(
    ("image", "machine", "why"),
    [
        ("/p/box.sif", "frontier", "made for NVIDIA GPUs"),
        ("/p/box.sif", "isambard-ai", "made for x86 processors"),
        ("/p/box.sif", "perlmutter", "shifter there does not read box.sif"),
        ("$WHERE/box.sif", "delta", "put together in the script"),
    ],
)
def test_a_container_that_cannot_run_there_is_told_with_the_reason(image: str, machine: str, why: str) -> None:
    text = BOOSTER + f"srun singularity exec --nv -B /p:/p {image} torchrun {RENDEZVOUS} train.py\n"
    says = told(ported(text, machine))
    assert "is not carried over" in says and why in says and "-B /p:/p" in says


def test_what_each_task_did_first_runs_there_still() -> None:
    text = (
        BOOSTER.replace("node=1", "node=4")
        + "D=/scratch/x\nsrun bash -c '\n  curl $D/a | tar x\n  python train.py --lr 1'\n"
    )
    script = ported(text).bundle.script
    assert "bash -c 'curl $D/a | tar x; exec \"$@\"' steps python -u train.py --lr 1" in script
    assert "export D\n" in script


@pytest.mark.parametrize(
    ("lines", "held", "launch"),
    [
        (
            f'CMD=(torchrun {RENDEZVOUS})\nCMD+=(train.py)\nCMD+=(--lr 1)\nsrun "${{CMD[@]}}"',
            "CMD=()\nCMD+=(train.py)",
            '"${CMD[@]}"',
        ),
        (f'L="torchrun {RENDEZVOUS}"\nCMD="$L train.py --lr 1"\nsrun $CMD', 'CMD="train.py --lr 1"', "$CMD"),
        (
            f'CMD="torchrun {RENDEZVOUS} train.py"\nif x; then CMD="$CMD --y 1"; fi\neval $CMD',
            'CMD="train.py"',
            'eval "PROGRAM=($CMD)"',
        ),
    ],
)
def test_a_launch_held_in_a_variable_keeps_the_variable(lines: str, held: str, launch: str) -> None:
    script = ported(ELSEWHERE + lines + "\n").bundle.script
    assert held in script and launch in script and RENDEZVOUS not in script


def test_a_loop_over_the_nodes_becomes_one_launch() -> None:
    text = """#!/bin/bash
#PBS -l select=2:ncpus=32:ngpus=4
#PBS -l walltime=01:00:00
#PBS -q small
R=0
for NODE in $(sort -u $PBS_NODEFILE); do
  FULL="cd /work/me && export A=1 && torchrun --nnodes=2 --nproc_per_node=4 --node_rank=$R train.py --lr 1"
  if [ "$NODE" = "$HOSTNAME" ]; then eval $FULL & else ssh $NODE "$FULL" & fi
  R=$((R + 1))
done
wait
"""
    made = ported(text)
    script = made.bundle.script
    assert script.count("train.py") == 1 and "ssh" not in script and "for NODE" not in script
    assert "export A=1\ncd /work/me\nsrun" in script and script.rstrip().endswith("wait")
    assert "the loop over the nodes (to line 10) is one launch" in told(made)


def test_a_launch_on_some_of_the_nodes_stays_there() -> None:
    lines = "FIRST=$(scontrol show hostnames | head -n 1)\nsrun -N 1 -w $FIRST python train.py &\n"
    lines += "srun -N 1 -x $FIRST python train.py --more\n"
    script = ported(BOOSTER + lines).bundle.script
    assert "srun --overlap -N 1 -w $FIRST --ntasks-per-node=1" in script
    assert "srun --overlap -N 1 -x $FIRST --ntasks-per-node=1" in script
    other = ported(BOOSTER + lines, "polaris")
    assert "the old launch took some of the nodes" in told(other)


def test_one_process_a_node_and_a_task_for_each_process_stay() -> None:
    one = ported(BOOSTER + "srun python train.py\n")
    assert "export RANKS_PER_NODE=1" in one.bundle.script and "one process a node" in told(one)
    each = ported(BOOSTER.replace("node=1", "node=4") + "srun python train.py\n")
    assert "export RANKS_PER_NODE=4" in each.bundle.script and "torchrun" not in each.bundle.script


def test_a_script_that_tells_no_nodes_gets_one() -> None:
    launch = "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 train.py\n"
    made = ported(BOOSTER.replace("#SBATCH --nodes=2\n", "") + launch)
    assert "#SBATCH --nodes=1" in made.bundle.script and "sbatch --nodes=N" in told(made)


def test_every_directive_is_carried_or_named() -> None:
    more = "#SBATCH --mem=100G\n#SBATCH --chdir=/old/place\n#SBATCH --qos=mine\n#SBATCH --mail-user=a@b.c\n"
    more += "#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL\n"
    made = ported(BOOSTER + more + f"srun torchrun {RENDEZVOUS} train.py\n")
    assert all(word in told(made) for word in ("--mem 100G", "--chdir /old/place", "--qos mine"))
    assert "--job-name=7b_run" in made.bundle.script and "END,FAIL" in made.bundle.script
    assert "7b_run is no name that goes along" in told(ported(BOOSTER + "srun python train.py\n", "polaris"))


def test_a_project_s_own_runner_stays_in_front() -> None:
    made = ported(ELSEWHERE + "uv run --locked --python 3.11 python train.py --lr 1\n", "bridges2")
    assert "uv run --locked --python 3.11 python" in made.bundle.script and "singularity" not in made.bundle.script
    assert "its project's environment" in told(made)


def test_places_in_the_programs_arguments_are_told() -> None:
    made = ported(BOOSTER + f"srun torchrun {RENDEZVOUS} train.py --data /p/scratch/me/set1\n")
    assert "/p/scratch/me/set1" in told(made)


@pytest.mark.parametrize(
    ("line", "machine", "says"),
    [
        ("nvidia-smi", "frontier", "`nvidia-smi` (line 9): for NVIDIA GPUs, here are MI250X"),
        ("pip install torch --index-url https://x/whl/cu121", "aurora", "for NVIDIA GPUs"),
        ('python -c "import torch; torch.xpu.synchronize()"', "delta", "`torch.xpu` (line 9): for Intel GPUs"),
        ("export TORCH_CUDA_ARCH_LIST=9.0", "delta", "TORCH_CUDA_ARCH_LIST=9.0 is of the old GPUs"),
        ("source load_env.sh", "delta", "`source load_env.sh` stays"),
        ("cd $SLURM_TMPDIR", "delta", "SLURM_TMPDIR"),
        ('echo "$RUN_NAME $1"', "polaris", "qsub hands on nothing of your shell"),
        ("pip install .", "bridges2", "runs outside of the container"),
        ("true", "aurora", "has to name xpu and xccl"),
    ],
)
def test_what_still_stands_of_the_old_machine_is_told(line: str, machine: str, says: str) -> None:
    assert says in told(ported(f"{BOOSTER}{line}\nsrun torchrun {RENDEZVOUS} train.py\n", machine))


def test_less_memory_a_gpu_is_told() -> None:
    text = BOOSTER.replace("--partition=booster", "--partition=ghx4").replace("abc", "abc-dtai-gh")
    assert "GPUs here have 40 GB" in told(ported(text + f"srun torchrun {RENDEZVOUS} train.py\n", "perlmutter"))


def test_software_stands_above_the_first_line_that_needs_it() -> None:
    script = ported(
        BOOSTER + f'python -c "import torch"\nsource a.sh\nmodule load CUDA\nsrun torchrun {RENDEZVOUS} train.py\n'
    )
    lines = script.bundle.script.split("\n")
    assert next(n for n, one in enumerate(lines) if "module load" in one) < lines.index('python -c "import torch"')


def test_an_environments_name_that_both_scripts_have_is_the_new_ones() -> None:
    text = (
        ELSEWHERE
        + f'VENV=/old/venv\n[ -d "$VENV" ] || exit 1\nsource $VENV/bin/activate\nsrun torchrun {RENDEZVOUS} train.py\n'
    )
    assert "/old/venv" not in ported(text, "leonardo").bundle.script


def test_a_script_whose_guards_end_it_without_an_argument_is_read_to_its_end() -> None:
    assert ported(
        BOOSTER + f'[ -z "$1" ] && {{ echo "give a name"; exit 1; }}\nsrun torchrun {RENDEZVOUS} train.py $1\n'
    )


def test_words_of_a_sentence_are_no_key() -> None:
    guard = '[ -z "$RUNNAME" ] && { echo "Need to set RUNNAME"; exit 1; }\n'
    assert guard in ported(BOOSTER + guard + f"srun torchrun {RENDEZVOUS} train.py\n").bundle.script


def test_mail_where_none_is_written_is_left_out_and_told() -> None:
    text = BOOSTER + f"#SBATCH --mail-type=END\n#SBATCH --mail-user=a@b.c\nsrun torchrun {RENDEZVOUS} train.py\n"
    assert "mail is left out" in told(ported(text, "tuolumne"))


def test_gpus_that_one_process_takes_stay_gpus() -> None:
    made = ported(BOOSTER + "GPUS_PER_NODE=4\nsrun bash run.sh --gpus $GPUS_PER_NODE\n")
    assert "GPUS_PER_NODE=4" in made.bundle.script and "export RANKS_PER_NODE=1" in made.bundle.script
    assert "the same 8" not in told(made)


def test_a_default_that_the_submitting_shell_may_change_stays_one() -> None:
    text = (
        BOOSTER
        + f'NGPUS="${{NGPUS:-4}}"\necho $NGPUS\nLR=${{LR:-1e-4}}\nsrun torchrun {RENDEZVOUS} train.py --lr $LR\n'
    )
    assert 'NGPUS="${NGPUS:-$RANKS_PER_NODE}"' in ported(text).bundle.script
    assert "`LR`: given from the shell that submits" in told(ported(text, "polaris"))


def test_a_task_that_saw_one_gpu_is_told_that_it_sees_all() -> None:
    text = BOOSTER.replace("node=1", "node=4") + "srun --gpus-per-task=1 python train.py\n"
    assert "here it sees all of its node" in told(ported(text))


def test_a_text_fed_to_a_shell_in_the_launch_is_refused() -> None:
    target = catalogue().find("delta")
    assert target is not None
    inner = "export A=1\npython train.py"
    with pytest.raises(InputError, match="starts the training with words that stand elsewhere"):
        port(BOOSTER + f"srun singularity exec --nv box.sif bash <<EOF\n{inner}\nEOF\n", target)


def test_a_condition_of_csh_is_told() -> None:
    target = catalogue().find("delta")
    assert target is not None
    lines = "#SBATCH -N 1\n#SBATCH --gpus-per-node=1\nif ($#argv > 0) then\n  echo $1\nendif\npython train.py\n"
    made = port(f"#!/bin/csh\n{lines}", target)
    assert isinstance(made, Ported) and "write it for bash" in told(made)


@pytest.mark.parametrize("machine", sorted(catalogue().clusters))
def test_no_mark_of_ours_is_left_in_any_machines_port(machine: str) -> None:
    target = catalogue().clusters[machine]
    for line in (
        f"srun torchrun {RENDEZVOUS} train.py",
        "srun python train.py",
        "srun bash -c 'tar xf a; python train.py'",
    ):
        made = port(ELSEWHERE + line + "\n", target)
        if isinstance(made, Ported):
            assert "each-task-first" not in made.bundle.script


def test_a_key_among_a_containers_options_is_not_copied() -> None:
    key = "0123456789abcdef0123456789abcdef01234567"
    made = ported(BOOSTER + f"srun apptainer exec --nv --env WANDB_API_KEY={key} /p/box.sif python train.py\n")
    assert key not in made.bundle.script + str(made.notes) + str(made.account)
