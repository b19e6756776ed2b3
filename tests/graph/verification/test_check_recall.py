# ruff: noqa: E501
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


def above(lines: str, base: str = SLURM) -> str:
    """The script with these lines above its launch."""
    launch = base.splitlines()[-1]
    return base.replace(launch, f"{lines}\n{launch}")


def below(lines: str, base: str = SLURM) -> str:
    return f"{base}{lines}\n"


MEGATRON = SLURM.replace(
    "train.py",
    "pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 512",
).replace("export OMP", "export CUDA_DEVICE_MAX_CONNECTIONS=1\nexport OMP")
LSF = """#!/bin/bash
#BSUB -nnodes 1
#BSUB -W 1:00
source activate.sh
jsrun --nrs 1 --tasks_per_rs 1 --cpu_per_rs 36 --gpu_per_rs 6 --rs_per_host 1 torchrun --nnodes 1 --nproc_per_node 6 train.py
"""
RAY = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --time=04:00:00
source ~/env/bin/activate
srun --nodes=1 --ntasks=1 --overlap -w "$HEAD" ray start --head --block &
sleep 10
python train.py
"""
# What the shell, the scheduler or a library takes as it stands, and nobody means.
SLIPS = [
    (
        "shell-swallowed",
        below("clean() { rm -rf tmp; }\n" + LAUNCH + " \\\n    --lr 1\nclean").replace(LAUNCH + "\nclean", "clean", 1),
        "--lr 1\nclean",
        "--lr 1 \\\nclean",
    ),
    ("shell-assignment-run", above('cmd="env NCCL_DEBUG=INFO srun hostname"\n$cmd'), "env NCCL", "NCCL"),
    (
        "shell-trap-early",
        above("trap 'kill -15 $PID' TERM\nsleep 1 &\nPID=$!\nwait"),
        "'kill -15 $PID'",
        '"kill -15 $PID"',
    ),
    (
        "variable-lost-in-pipe",
        above("pick() {\n  WHERE=$(hostname)\n}\npick > picked.log\necho $WHERE"),
        "pick > picked.log",
        "pick | tee picked.log",
    ),
    (
        "shell-exit-in-brackets",
        above('[ -n "$1" ] || { echo no name; exit 1; }').replace("set -eo", "set -o"),
        "{ echo no name; exit 1; }",
        "(echo no name; exit 1)",
    ),
    ("shell-document-quoted", above("OUT=results\ncat > conf.yaml <<EOF\nout: ${OUT}\nEOF"), "<<EOF", "<<'EOF'"),
    (
        "shell-separators",
        above("ARGS='--wait=60 --kill-on-bad-exit=1'\nNODES=$(IFS=,; echo a)").replace(
            "srun torchrun", "srun $ARGS torchrun"
        ),
        "NODES=$(IFS=,; echo a)",
        "IFS=,",
    ),
    ("variable-unbraced", above("echo log_${SLURM_JOB_ID}_out"), "${SLURM_JOB_ID}_out", "$SLURM_JOB_ID_out"),
    ("variable-unbraced", above("RUN=big\necho ${RUN}_lr3"), "${RUN}_lr3", "$RUN_lr3"),
    (
        "array-other-pbs",
        PBS.replace("#PBS -l walltime", "#PBS -t 1-4\n#PBS -l walltime").replace("--lr 1", "--lr $PBS_ARRAYID"),
        "$PBS_ARRAYID",
        "$PBS_ARRAY_INDEX",
    ),
    ("launch-set-gpus", LSF, "--gpu_per_rs 6", "--gpu_per_rs 1"),
    (
        "shell-same-process",
        above("sleep 9 &\nFIRST=$!\nsleep 9 &\nSECOND=$!\nwait $FIRST $SECOND"),
        "sleep 9 &\nSECOND",
        "sleep 9\nSECOND",
    ),
    (
        "variable-path-replaced",
        above(
            "export LD_LIBRARY_PATH=/opt/efa/lib:$LD_LIBRARY_PATH\nexport LD_LIBRARY_PATH=/usr/local/lib:$LD_LIBRARY_PATH"
        ),
        "/usr/local/lib:$LD_LIBRARY_PATH",
        "/usr/local/lib",
    ),
    (
        "shell-getopts",
        above(
            "while getopts 'd:l:' flag; do\n  case $flag in\n    d) data=$OPTARG ;;\n    l) layers=$OPTARG ;;\n  esac\ndone"
        ),
        "'d:l:'",
        "'d:l'",
    ),
    (
        "call-split-value",
        above('SETS="--sets=\n- name: \\"a\\"\n"').replace("train.py", 'train.py "$SETS"'),
        '"$SETS"',
        "$SETS",
    ),
    (
        "container-overlay",
        SLURM.replace("srun torchrun", "srun singularity exec --nv --overlay data.ext3:ro box.sif torchrun"),
        ".ext3:ro",
        ".ext3",
    ),
    ("rendezvous-port-long", SLURM.replace("MASTER_PORT=29500", "MASTER_PORT=1${SLURM_JOB_ID: -4}"), ": -4}", ": -5}"),
    (
        "array-one-task",
        SLURM.replace("#SBATCH --nodes", "#SBATCH --array=0-23%4\n#SBATCH --nodes"),
        "0-23%4",
        "0-23:24",
    ),
    (
        "launch-waits-in-loop",
        SLURM.replace(
            LAUNCH,
            "for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do\n  srun -N 1 -n 1 -w $n python train.py --node_rank $RANK &\ndone\nwait",
        ),
        " &\ndone\nwait",
        " &\n  wait\ndone",
    ),
    ("shell-brace-range", above("LAST=3\nfor i in $(seq 0 $LAST); do echo $i; done"), "$(seq 0 $LAST)", "{0..$LAST}"),
    (
        "shell-awk-quotes",
        above("NAME=$(scontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}')"),
        "'/Command=/{print $2}'",
        '"/Command=/{print $2}"',
    ),
    ("shell-sorted-text", above("LAST=$(ls out | grep checkpoint | sort -V | tail -1)\necho $LAST"), "sort -V", "sort"),
    ("directive-walltime-minutes", PBS, "walltime=04:00:00", "walltime=4:00"),
    (
        "rank-device-global",
        TASKS.replace("python train", "CUDA_VISIBLE_DEVICES=$SLURM_LOCALID python train"),
        "CUDA_VISIBLE_DEVICES=$SLURM_LOCALID",
        "CUDA_VISIBLE_DEVICES=$SLURM_PROCID",
    ),
    (
        "shell-written-anew",
        above("for node in a b; do\n  echo $node slots=4 >> hosts.txt\ndone"),
        ">> hosts",
        "> hosts",
    ),
    (
        "network-turned-off",
        above("export NCCL_IB_HCA=mlx5_0:1\nexport NCCL_IB_DISABLE=0"),
        "NCCL_IB_DISABLE=0",
        "NCCL_IB_DISABLE=1",
    ),
    ("shell-quoted-tilde", below('cp -r save "$HOME/kept/"'), '"$HOME/kept/"', '"~/kept/"'),
    ("shell-list-commas", above("WAYS=(a.py b.py c.py)\necho ${WAYS[0]}"), "(a.py b.py c.py)", "(a.py, b.py, c.py)"),
    (
        "submit-empty-line",
        below("cat << EOF > next.sh\n#!/bin/bash\n#SBATCH -N 1\nhostname\nEOF\nsbatch next.sh"),
        "next.sh\n#!",
        "next.sh\n\n#!",
    ),
    (
        "shell-octal",
        above('ID=$(printf "%02d" $SLURM_ARRAY_TASK_ID)\necho $((10#$ID + 100))').replace(
            "#SBATCH --nodes", "#SBATCH --array=1-9\n#SBATCH --output=x-%a.out\n#SBATCH --nodes"
        ),
        "10#$ID",
        "ID",
    ),
    ("shell-test-redirects", above("AGAIN=0\nif [ $AGAIN -gt 0 ]; then echo again; fi"), "-gt 0", "> 0"),
    ("environment-allocator", above("export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512"), "mb:512", "mb=512"),
    (
        "rendezvous-local-file",
        TASKS.replace("--lr 1", "--dist-url file:///scratch/me/meet"),
        "///scratch/me/meet",
        "///tmp/meet",
    ),
    (
        "environment-child-shell",
        SLURM.replace("source /opt/miniconda3/etc/profile.d/conda.sh\nconda activate train", "source setup_env.sh"),
        "source setup_env.sh",
        "bash setup_env.sh",
    ),
    ("launch-ray-returns", RAY, " --block", ""),
    ("launch-global-batch", MEGATRON, "--global-batch-size 512", "--global-batch-size 510"),
    (
        "shell-remark-in-command",
        below("srun python eval.py \\\n    a=1 \\\n    lr=2 \\\n    b=3 \\\n    c=4"),
        "    lr=2",
        "    # lr=2",
    ),
    (
        "launch-more-than-asked",
        TASKS.replace("export MASTER_PORT", "srun -n 8 hostname\nexport MASTER_PORT"),
        "srun -n 8 hostname",
        "srun -n 16 hostname",
    ),
    (
        "environment-elsewhere",
        SLURM.replace(
            "source /opt/miniconda3/etc/profile.d/conda.sh\nconda activate train",
            "virtualenv $SLURM_TMPDIR/env\nsource $SLURM_TMPDIR/env/bin/activate",
        ),
        "env/bin",
        "venv/bin",
    ),
    (
        "launch-server-blocks",
        below("srun --overlap -n 1 ollama serve &\nsleep 5\nsrun --overlap -n 1 python ask.py"),
        "ollama serve &",
        "ollama serve",
    ),
    (
        "call-blank-in-list",
        below('BOX="--container-image=a.sqsh --container-mounts=/a:/a,/b:/b"\nsrun $BOX hostname'),
        "/a,/b",
        "/a, /b",
    ),
    (
        "shell-written-anew",
        above("for SIZE in 1 2 3; do\n  srun -n 1 ./gemm $SIZE >> sizes.csv\ndone"),
        ">> sizes",
        "> sizes",
    ),
    (
        "environment-folder",
        PBS.replace("cd $PBS_O_WORKDIR", "cd $PBS_O_WORKDIR\necho in $PBS_O_WORKDIR"),
        "cd $PBS_O_WORKDIR\n",
        "",
    ),
]
DEFECTS += SLIPS  # type: ignore[arg-type]


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


@pytest.mark.parametrize(("rule", "text", "old", "new"), SLIPS)
def test_the_right_form_of_a_slip_is_not_told(rule: str, text: str, old: str, new: str) -> None:
    assert rule not in {one.rule for one in check(text, None)}, (old, new)


def test_a_requeued_job_that_writes_its_log_anew_is_told() -> None:
    text = SLURM.replace("#SBATCH --nodes", "#SBATCH --requeue\n#SBATCH --output=a.out\n#SBATCH --nodes")
    assert "directive-log-lost" in {one.rule for one in check(text, None)}
    kept = text.replace("--requeue\n", "--requeue\n#SBATCH --open-mode=append\n")
    assert "directive-log-lost" not in {one.rule for one in check(kept, None)}


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
