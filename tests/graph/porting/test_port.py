"""Porting: the user's part kept to the letter there and back, the machine's part replaced, the rest said."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from graph.extraction.commands import Assignment
from graph.extraction.script import read_script
from graph.extraction.script_record import understand_script
from graph.planning.patches import patches_between, with_patches
from graph.porting.collector import Collector
from graph.porting.parts import UserPart, user_part
from graph.porting.port import Ported, carried_over, port
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Refusal

PERLMUTTER = """#!/bin/bash
#SBATCH -A m0042_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH -t 00:50:00
#SBATCH --array=1-3
module load pytorch/2.6.0
conda activate /global/cfs/cdirs/m0042/envs/moss
export WANDB_MODE=offline
export NCCL_SOCKET_IFNAME=hsn0
export MASTER_ADDR=$(hostname)
RUN=moss_$(date +%F)
LR=3e-4
cat > moss_$SLURM_JOB_ID.json <<EOF
{"zero_optimization": {"stage": 3}, "lr": $LR}
EOF
mkdir -p $PSCRATCH/moss/out
python fetch_tiles.py
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 --rdzv_endpoint=$MASTER_ADDR:29500 \\
    moss/fit.py --deepspeed_config moss_$SLURM_JOB_ID.json --tiles $PSCRATCH/moss/tiles --run $RUN --devices 4 "a b"
"""
POLARIS = """#!/bin/bash -l
#PBS -A lab
#PBS -q debug-scaling
#PBS -l select=3:system=polaris
#PBS -l walltime=00:30:00
#PBS -l filesystems=home:eagle
cd $PBS_O_WORKDIR
module use /soft/modulefiles; module load conda; conda activate
N=$(wc -l < $PBS_NODEFILE)
export TOKENIZERS_PARALLELISM=false
mpiexec -n $((N*4)) --ppn 4 python -m ferns.fit --strategy ddp --data /eagle/lab/ferns --num_nodes $N
"""


def cluster(name: str) -> Cluster:
    found = catalogue().find(name)
    assert found is not None
    return found


def ported(text: str, name: str, changes: JobRequest | None = None) -> Ported:
    made = port(text, cluster(name), changes)
    assert isinstance(made, Ported), made
    return made


def comparable(part: UserPart | None) -> tuple[object, ...]:
    assert part is not None
    variables = tuple((v.name, v.value, v.expand) for v in part.variables)
    return part.entry, part.is_module, part.args, variables, part.files


def test_the_users_part_goes_along_and_the_machines_does_not() -> None:
    made = ported(PERLMUTTER, "polaris")
    script = made.bundle.script
    assert "#PBS -l select=2:system=polaris" in script
    assert "export WANDB_MODE=offline" in script
    assert "moss_${PBS_JOBID}.json" in script or "moss_$PBS_JOBID.json" in script
    assert 'mkdir -p "$PSCRATCH/moss/out"' in script or "mkdir -p $PSCRATCH/moss/out" in script
    for gone in ("#SBATCH", "srun", "hsn0", "pytorch/2.6.0", "SLURM", "m0042"):
        assert gone not in script, gone


def test_notes_name_what_has_no_counterpart() -> None:
    notes = " ".join(note.says for note in ported(PERLMUTTER, "polaris").notes)
    for expected in (
        "Queue regular",
        "Account m0042_g",
        "$PSCRATCH: nothing sets it",
        "`conda activate /global/cfs/cdirs/m0042/envs/moss`: left out",
        "--env",
    ):
        assert expected in notes, expected


@pytest.mark.parametrize("target", ["polaris", "frontier", "lonestar6", "lassen", "tuolumne", "aurora", "abci3"])
def test_there_and_back_keeps_the_users_part(target: str) -> None:
    source = cluster("perlmutter")
    there = ported(PERLMUTTER, target)
    back = ported(there.bundle.script, "perlmutter")
    before = user_part(read_script(PERLMUTTER), source, source)
    after = user_part(read_script(back.bundle.script), source, source)
    assert comparable(before) == comparable(after)
    record, again = understand_script(PERLMUTTER), understand_script(back.bundle.script)
    assert (record.nodes, record.gpus_per_node, record.walltime) == (again.nodes, again.gpus_per_node, again.walltime)


@pytest.mark.parametrize("target", ["perlmutter", "lumi", "vista"])
def test_there_and_back_from_pbs(target: str) -> None:
    source = cluster("polaris")
    back = ported(ported(POLARIS, target).bundle.script, "polaris")
    assert comparable(user_part(read_script(POLARIS), source, source)) == comparable(
        user_part(read_script(back.bundle.script), source, source)
    )


def test_the_ranks_stay_where_nodes_hold_another_number() -> None:
    made = ported(PERLMUTTER, "frontier")
    assert (made.plan.nodes, made.plan.ranks_per_node) == (1, 8)
    assert any("the global batch stays" in note.says for note in made.notes)


def test_an_odd_node_leaves_gpus_idle_rather_than_change_the_batch() -> None:
    made = ported(PERLMUTTER, "lonestar6")
    assert made.plan.ranks == 8
    assert made.plan.ranks_per_node < 3
    assert any("idle" in note.says for note in made.notes)


def test_counts_that_the_program_is_told_follow() -> None:
    made = ported(PERLMUTTER, "frontier")
    assert made.plan.args[made.plan.args.index("--devices") + 1] == "8"


def test_what_was_said_beside_wins_and_a_changed_batch_is_said() -> None:
    made = ported(PERLMUTTER, "polaris", JobRequest(nodes=4, gpus_per_node=4, account="other", walltime="00:20:00"))
    assert (made.plan.nodes, made.plan.account, made.plan.walltime) == (4, "other", "00:20:00")
    assert any("8 ranks become 16" in note.says for note in made.notes)


def test_tensor_parallel_sizes_stay_the_users() -> None:
    text = (
        "#SBATCH -N 2 --gpus-per-node=4 -t 20 -C gpu -A m1_g -q debug\n"
        "srun python pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --bf16\n"
    )
    made = ported(text, "polaris")
    assert (made.plan.tensor_parallel, made.plan.pipeline_parallel) == (2, 2)
    assert made.bundle.script.count("--tensor-model-parallel-size") == 1


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("target", ["polaris", "lumi", "lassen", "tuolumne", "stampede3"])
def test_ported_scripts_are_valid_bash(target: str) -> None:
    script = ported(PERLMUTTER, target).bundle.script
    done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_request_to_go_on_with_in_a_conversation() -> None:
    request = carried_over(PERLMUTTER)
    assert (request.source_machine, request.total_gpus, request.entry) == ("perlmutter", 8, "moss/fit.py")
    assert (request.machine, request.account, request.queue, request.nodes) == (None, None, None, None)
    assert request.variables[0].name == "WANDB_MODE"


@pytest.mark.parametrize(
    "text",
    [
        "#SBATCH -N 2\nmodule load x\necho hello\n",
        'import torch\n\nrun = "srun torchrun a.py"\n\n\ndef main():\n    print(run)\n',
    ],
)
def test_what_cannot_be_ported_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as error:
        port(text, cluster("polaris"))
    assert "\n" not in str(error.value)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_quotes_in_values_cannot_leave_their_place(tmp_path: Path) -> None:
    text = (
        '#SBATCH -N 2 --gpus-per-node=4 -t 20\nexport NOTE=\'a " b\'$(date +%Y)" $(id -u)"\nA=`date "+%F"`\n'
        'srun python fit.py --strategy ddp --note "$NOTE" --day "x\\"y$A" --job $SLURM_ARRAY_TASK_ID\n'
    )
    script = ported(text, "polaris").bundle.script
    launch = script.index("mpiexec")
    asks = script[script.index("export NOTE=") : script.index("# --- Yours")]
    done = subprocess.run(
        ["bash"],
        input=f"{asks}printf '%s\\n' {script[script.index('fit.py', launch) :]}",
        text=True,
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    words = done.stdout.splitlines()
    assert words[words.index("--note") + 1].startswith('a " b20')
    assert words[words.index("--day") + 1].startswith('x"y20')


TOLD = """#SBATCH -A m1_g -C gpu -q regular -N 2 --gpus-per-node=4 -t 30
export HEAD=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
cd ~/fits
srun bash -c 'python fit.py --ddp --rank $SLURM_PROCID --local_rank=$SLURM_LOCALID --lr 1 \\
    --init_method tcp://$HEAD:2345 --world_size $SLURM_NTASKS --workers $SLURM_CPUS_PER_TASK last'
"""


@pytest.mark.parametrize("target", ["polaris", "vista"])
def test_what_tells_a_task_its_place_is_told_anew_or_falls_away_with_its_option(target: str) -> None:
    made = ported(TOLD, target)
    script = made.bundle.script
    assert made.plan.args == ("--ddp", "--lr", "1", "last")
    launch = script[script.rindex("fit.py") :]
    assert launch.split()[:5] == ["fit.py", "--ddp", "--lr", "1", "--init_method"]
    assert "tcp://$HEAD:2345 --world_size $WORLD_SIZE" in launch and "PROCID" not in launch and "LOCALID" not in launch
    assert script.index("export WORLD_SIZE=") < script.index("HEAD=$MASTER_ADDR") < script.index("cd ~/fits")
    assert any("--rank $SLURM_PROCID" in note.says for note in made.notes)


def test_a_variable_that_decides_the_launch_is_not_kept_as_a_name() -> None:
    text = PERLMUTTER.replace("moss/fit.py", "$CODE --mode $MODE").replace("LR=", "CODE=moss/fit.py\nMODE=--x\nLR=")
    made = ported(text, "polaris")
    assert made.plan.entry == "moss/fit.py"
    assert "--x" in made.plan.args


def test_account_and_queue_stay_on_the_same_machine() -> None:
    made = ported(PERLMUTTER, "perlmutter")
    assert (made.plan.account, made.plan.queue) == ("m0042_g", "regular")
    assert not any("path on" in note.says or "Account" in note.says for note in made.notes)


def test_the_jobs_name_and_the_collective_library() -> None:
    text = PERLMUTTER.replace("#SBATCH -N 2", "#SBATCH -N 2\n#SBATCH -J moss-3").replace(
        "--devices", "--backend nccl --device cuda:0 -d"
    )
    made = ported(text, "aurora")
    assert "#PBS -N moss-3" in made.bundle.script
    assert made.plan.args[made.plan.args.index("--backend") + 1] == "xccl"
    assert made.plan.args[made.plan.args.index("--device") + 1] == "xpu:0"
    assert "cuda:0" in ported(text, "frontier").plan.args


def test_sharded_training_is_not_cut_to_fewer_ranks_by_itself() -> None:
    text = PERLMUTTER.replace("-N 2", "-N 8")
    refused = port(text, cluster("anvil"))
    assert isinstance(refused, Refusal)
    assert dict(refused.instead[0].change)["nodes"] == 2
    ddp = text.replace("--deepspeed_config moss_$SLURM_JOB_ID.json", "--ddp")
    assert ported(ddp, "anvil").plan.ranks == 8
    assert isinstance(port(ddp, cluster("anvil"), JobRequest(nodes=8, gpus_per_node=4)), Refusal)


def test_what_follows_the_training_stays() -> None:
    lines = PERLMUTTER.replace("-C gpu", "-C gpu&hbm80g").rstrip().splitlines()
    piped = "\n".join([*lines[:-1], f"{lines[-1]} | tee moss.log", "echo done", "python eval_moss.py --last", ""])
    made = ported(piped, "polaris")
    assert "gpu&hbm80g is Perlmutter's" in " ".join(note.says for note in made.notes)
    assert "| tee moss.log\necho done\npython eval_moss.py --last\n" in made.bundle.script
    plain = " ".join(note.says for note in ported(PERLMUTTER, "polaris").notes)
    assert "constraint" not in plain and "runs after" not in plain and "tee" not in plain


ODD = """#!/bin/bash
#SBATCH -A m0042_g
#SBATCH -C gpu
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -t 00:50:00
export LAUNCHER="torchrun --nnodes=2 --nproc_per_node=4"
args="${@}"
export CMD="$LAUNCHER train.py $args"
export TOKENIZERS_PARALLELISM=false
srun torchrun --nnodes=2 --nproc_per_node=4 train.py --epochs 3 ${args}
"""


def test_the_old_launch_and_the_scripts_own_arguments_are_not_carried_in_variables() -> None:
    part = user_part(read_script(ODD), cluster("perlmutter"), cluster("frontier"))
    assert part is not None and part.args == ("--epochs", "3")
    assert {v.name for v in part.variables} >= {"TOKENIZERS_PARALLELISM"}
    assert not {v.name for v in part.variables} & {"LAUNCHER", "CMD", "args"}


def test_variables_that_hold_each_other_end_the_search() -> None:
    script = read_script(ODD)
    circle = (Assignment(7, "A", "$B x", '"$B x"', True, False), Assignment(8, "B", "$A y", '"$A y"', True, False))
    script = replace(script, assignments=(*script.assignments, *circle))
    collector = Collector(script, cluster("perlmutter"), cluster("frontier"), {})
    collector.need("A")
    assert set(collector.variables) == {"A", "B"}


def test_what_stands_in_front_of_the_launch_goes_along() -> None:
    text = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=4\nPYTHONHASHSEED=7 srun -n 4 python train.py --lr 1\n"
    machine = catalogue().find("delta")
    assert machine
    done = port(text, machine)
    assert isinstance(done, Ported)
    assert "\nPYTHONHASHSEED=7 srun " in done.bundle.script


OWN_CONFIG = """#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:4
#SBATCH --time=20:00:00
#SBATCH --output={}
srun bash -c 'accelerate launch --config_file acc_fsdp.yaml --num_machines 4 --num_processes 16 \\
  --machine_rank $SLURM_NODEID --main_process_ip $HOST --main_process_port 29544 sft.py --epochs 2'
"""


def test_the_persons_own_configuration_and_output_go_along() -> None:
    done = ported(OWN_CONFIG.format("logs/%j.out"), "marenostrum5")
    assert "--config_file acc_fsdp.yaml " in done.bundle.script and "--output=logs/%j.out\n" in done.bundle.script
    assert not done.bundle.files and "mkdir -p logs && " in done.bundle.submit
    assert any("acc_fsdp.yaml is kept" in one.says for one in done.notes)


def test_an_output_of_the_old_machine_or_scheduler_stays_there() -> None:
    assert "--output=%x-%j.out" in ported(OWN_CONFIG.format("/work/me/%j.out"), "marenostrum5").bundle.script
    assert "%j" not in ported(OWN_CONFIG.format("logs/%j.out"), "polaris").bundle.script


def test_a_file_that_no_line_names_any_more_is_not_written() -> None:
    done = ported(OWN_CONFIG.format("a.out").replace("--config_file acc_fsdp.yaml", ""), "marenostrum5")
    script = done.bundle.script
    patches = patches_between(script, script.replace("accelerate.yaml", "mine.yaml"))
    assert [one.name for one in done.bundle.files] == ["accelerate.yaml"]
    assert not with_patches(done.plan, done.bundle, patches)[1].files
    assert with_patches(done.plan, done.bundle, ())[1].files == done.bundle.files


def test_a_dollar_sign_that_names_nothing_hides_no_launch() -> None:
    text = "#!/bin/bash\n#PBS -l select=2:ngpus=4\nN=$(sed -n $= $PBS_NODEFILE)\nmpiexec -n 8 python t.py\n"
    assert read_script(text).program is not None


BEHAVING = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=02:00:00
#SBATCH --output=mosses.txt
export NCCL_DEBUG=WARN
HEAD=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun --no-kill apptainer exec --nv --bind /opt/kernels:/kernels \\
  --env WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567 moss.sif bash -c "
  ( python fit.py --log moss_\\$SLURM_PROCID.txt --lr 3 ) || ( sleep infinity )" >> fit.log
"""


def test_what_the_launch_did_beside_its_counts_is_named() -> None:
    done = port(BEHAVING, catalogue().named("tuolumne"))
    assert isinstance(done, Ported)
    told = " ".join(note.says for note in done.notes)
    for said in ("--no-kill", "sleep infinity", "--bind /opt/kernels:/kernels", "--log moss_"):
        assert said in told
    assert "0123456789abcdef" not in told
    assert "export NCCL_DEBUG=WARN" in done.bundle.script
    assert "--output=mosses.txt" in done.bundle.script
    assert done.plan.args == ("--lr", "3") and "fit.py --lr 3 >> fit.log" in done.bundle.script


def test_a_script_with_gaps_in_its_launch_is_not_guessed_at() -> None:
    with pytest.raises(InputError, match="<program>"):
        port(POLARIS.replace("-m ferns.fit", "<program>"), catalogue().named("perlmutter"))
    told = POLARIS.replace("export TOK", 'echo "Usage: $0 <file> or more"\nexport TOK')
    assert isinstance(port(told, catalogue().named("perlmutter")), Ported)


def test_accelerate_behind_a_sites_word_for_its_image_keeps_its_precision() -> None:
    text = (
        "#!/bin/bash\n#SBATCH -N 2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n#SBATCH --time=1:00:00\n"
        'srun singularity_wrapper exec bash -c "accelerate launch --mixed_precision no --num_machines 2 '
        '--num_processes 8 --machine_rank \\$SLURM_NODEID --main_process_ip $H --main_process_port 29511 fit.py"\n'
    )
    done = port(text, catalogue().named("perlmutter"))
    assert isinstance(done, Ported)
    assert (done.plan.entry, done.plan.mixed_precision) == ("fit.py", "no")
