"""Questions about a script in hand, a stranger's as well as ours."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.answering.ask import Ask
from graph.answering.script import explain_launch, explain_part, explain_script, tell_counts, tell_output
from graph.answering.script_sizes import allows, in_gpus, review_script, tell_batch, tell_cost, tell_whatif
from knowledge.catalogue import catalogue
from knowledge.document import Document

SLURM = r"""#!/bin/bash
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -A m1759_g
#SBATCH -N 4
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH -c 32
#SBATCH -t 03:00:00
export MASTER_ADDR=$(hostname)
srun -l bash -c "export RANK=\$SLURM_PROCID; python train.py --bs 64"
"""
PBS = """#PBS -A LightSheet
#PBS -l select=2:system=polaris
#PBS -l walltime=02:00:00
#PBS -l filesystems=home:eagle
#PBS -q debug
cd $PBS_O_WORKDIR
mpiexec -n 8 --ppn 4 --depth=8 --cpu-bind depth python train.py
"""
RANKS = """#SBATCH -p batch
#SBATCH -N 16
#SBATCH -t 02:00:00
srun -N16 -n128 -c7 --gpus-per-task=1 python train.py --data /mnt/bb/$USER/x
"""
TACC = """#SBATCH -p gpu-a100
#SBATCH -N 2
#SBATCH -n 6
#SBATCH -t 24:00:00
export MASTER_ADDR=$(scontrol show hostname $SLURM_NODELIST | head -n 1)
ibrun python train.py
"""
GRID = "#$ -cwd\n#$ -l node_f=2\n#$ -l h_rt=06:00:00\n#$ -N vit\nmpirun -np 8 -npernode 4 python train.py\n"
LSF = """#BSUB -nnodes 4
#BSUB -W 240
#BSUB -q pbatch
#BSUB -G wxml
jsrun -r 4 -a 1 -g 1 -c 10 python train.py
"""
MEETING = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_id=$RANDOM --rdzv_endpoint=$head:29500 train.py\n"
MEGATRON = (
    "#SBATCH -N 16\n#SBATCH --gpus-per-node=4\n#SBATCH --ntasks-per-node=4\nsrun python pretrain_gpt.py "
    "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --global-batch-size {} --micro-batch-size 2\n"
)
FRONTIER = "ddp on frontier 4 nodes train.py CSC599 1h30"

Asking = Callable[..., Ask]
Words = Callable[[Document | None], str]


@pytest.mark.parametrize(
    ("script", "question", "says"),
    [
        (SLURM, "why the backslashes?", ["Line 11", "keeps the outer shell"]),
        (SLURM, "is -c 32 right?", ["Yes, it adds up", "128 CPUs", "4 x 32"]),
        (SLURM, "what does line 10 do", ["Line 10", "first node of the job"]),
        (SLURM, "what does line 40 do", ["The script has 11 lines"]),
        (LSF, "what is -W 240?", ["Line 2", "240 minutes (4 hours)"]),
        (PBS, "what's filesystems for", ["Line 4", "not started while one of them is down"]),
        (MEETING, "what does --rdzv_id=$RANDOM do", ["All torchruns of one job must have the same one", "never meet"]),
    ],
)
def test_a_part_of_a_strangers_script_is_told(
    asking: Asking, words: Words, script: str, question: str, says: list[str]
) -> None:
    told = words(explain_part(asking(question, script=script)))
    assert all(one in told for one in says), told


@pytest.mark.parametrize(
    ("script", "machine", "question", "says"),
    [
        (RANKS, "frontier", "why -c7, 64 cores / 8 should be 8 no", ["8 x 7 = 56", "8 x 8 = 64, more than the 56"]),
        (RANKS, "frontier", "warum nur 7 kerne pro task?", ["8 x 7 = 56 uses them all"]),
        (TACC, "lonestar6", "why 6 in -n? not 8 or so", ["has 3 x A100: 2 x 3 = 6", "8 in all would be more ranks"]),
        (TACC, "lonestar6", "is MASTER_ADDR right on the second node?", ["finds nothing against it", "one address"]),
        (MEETING, "perlmutter", "is rdzv_id right?", ["RANDOM"]),
        (TACC, "lonestar6", "what does line 6 do?", ["`ibrun`, the launcher of TACC"]),
        (RANKS, "frontier", "whats the /mnt/bb thing", ["each node's own disk", "No line of the script copies"]),
    ],
)
def test_a_value_is_held_against_the_machine_and_the_script(
    asking: Asking, words: Words, script: str, machine: str, question: str, says: list[str]
) -> None:
    told = words(explain_part(asking(question, script=script, machine=machine)))
    assert all(one in told for one in says), told


@pytest.mark.parametrize(
    ("question", "topic", "says"),
    [
        ("can i just set -t 6:00:00 on this", "log.helps", "No: batch, the script's queue, does not take 16 nodes"),
        ("is -N 20 possible?", "site.directives", "Yes: batch of Frontier takes 20 nodes for 2 h"),
        ("puedo pedir 20 nodos?", "site.limits", "Yes: batch of Frontier takes 20 nodes for 2 h"),
        ("what does -t 6:00:00 mean", "option", ""),
        ("how long may 200 nodes run?", "site.limits", ""),
        ("does -c 8 fit?", "script.line", ""),
    ],
)
def test_another_size_that_is_asked_for_is_held_against_the_queue(
    asking: Asking, words: Words, question: str, topic: str, says: str
) -> None:
    told = words(allows(asking(question, topic, script=RANKS, machine="frontier")))
    assert told.startswith(says) if says else not told, told


@pytest.mark.parametrize(
    "question",
    ["and if it hits the 2h, does it carry on?", "e se dopo 2 ore non ha finito?", "what at the time limit?"],
)
def test_what_happens_at_the_end_of_its_time(asking: Asking, words: Words, question: str) -> None:
    told = words(tell_whatif(asking(question, script=RANKS, machine="frontier")))
    assert "ends it after 2 h" in told and "starts over, unless train.py" in told and "extended (24 h)" in told


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (GRID, "`vit.oJOBID` (output) and `vit.eJOBID` (errors), in the folder of qsub, written while it runs"),
        (PBS, "`NAME.oJOBID` (output) and `NAME.eJOBID` (errors), in the folder of qsub, copied there when"),
        ("#PBS -N emu\n#PBS -j oe\n#PBS -k doe\n" + PBS, "`emu.oJOBID`, output and errors together (line 2"),
        ("#PBS -o a.out\n" + PBS, "`a.out` (line 1, `#PBS -o a.out`), errors to a file of their own"),
    ],
)
def test_where_a_job_prints_follows_its_own_lines(asking: Asking, words: Words, script: str, says: str) -> None:
    assert says in words(tell_output(asking("where do the prints go", script=script)))


def test_our_own_script_tells_why_a_value_was_taken(asking: Asking, words: Words) -> None:
    ours = asking("why the regular queue?", ours="fsdp on perlmutter 4 nodes train.py")
    assert "I took queue regular" in words(explain_part(ours))


def test_a_line_that_is_pointed_at_without_saying_which_is_asked_for(asking: Asking, words: Words) -> None:
    assert "Which line?" in words(explain_part(asking("what does this line mean?", script=PBS)))


def test_a_script_is_explained_from_its_own_lines(asking: Asking, words: Words) -> None:
    told = words(explain_script(asking("explain this pls", script=SLURM)))
    assert told.startswith("It asks Perlmutter for 4 nodes with 4 GPUs each (16 in all) for at most 3 h, in regular")
    assert "`srun` starts 16 ranks" in told and "Line 10" in told and "`-C gpu`" in told


def test_why_not_the_other_launcher(asking: Asking, words: Words) -> None:
    told = words(explain_launch(asking("why not torchrun?", ours=FRONTIER)))
    assert told.startswith("Because on Frontier torchrun goes wrong")
    assert "a second time" in words(explain_launch(asking("why not torchrun?", script=SLURM)))


def test_files_of_the_job_and_of_the_program_are_told_apart(asking: Asking, words: Words) -> None:
    logs = words(tell_output(asking("where do the logs go", ours="vista 4 nodes fsdp train.py 6h gh")))
    assert "`train-JOBID.out` (line 3" in logs.split("\n")[0]
    model = words(tell_output(asking("where will my model be saved", script=SLURM)))
    assert model.startswith("Models and results are not the script's matter") and "8 weeks" in model


@pytest.mark.parametrize(("script", "in_all"), [(SLURM, 16), (LSF, 16), (PBS, 8)])
def test_gpus_in_all_come_with_their_lines(asking: Asking, words: Words, script: str, in_all: int) -> None:
    told = words(tell_counts(asking("how many gpus is that", script=script)))
    assert f"**{in_all} GPUs**" in told and "line " in told


def test_the_price_has_its_parts_and_the_machines_rule(asking: Asking, words: Words) -> None:
    told = words(tell_cost(asking("how much will it cost", ours="vista 4 nodes fsdp train.py 6h gh")))
    assert "4 nodes x 6 h = **24 node hours**" in told and "SUs" in told
    said = words(tell_cost(asking("2 nodes for 10 hrs, how many gpu hours", machine="perlmutter")))
    assert "80 GPU hours" in said


def test_the_global_batch_is_multiplied_out(asking: Asking, words: Words) -> None:
    assert "64 x 16 ranks = **1024**" in words(tell_batch(asking("global batch?", script=SLURM)))
    assert "= 32 passes" in words(tell_batch(asking("global batch?", script=MEGATRON.format(512))))
    assert "does not divide" in words(tell_batch(asking("global batch?", script=MEGATRON.format(500))))
    assert "that is train.py's own" in words(tell_batch(asking("global batch?", script=PBS)))


@pytest.mark.parametrize(
    ("question", "more", "says"),
    [
        ("would it run with 90 nodes for 3 hours?", {"ours": FRONTIER}, ["No: batch", "2 h at most", "92 nodes"]),
        ("would 8 nodes work?", {"script": SLURM}, ["Yes: regular", "24 node hours"]),
        (
            "16 nodes for 24h, does it fit?",
            {"machine": "polaris"},
            ["No: no queue", "384 node hours", "4 nodes for 24"],
        ),
        (
            "what if a node dies?",
            {"ours": FRONTIER},
            ["The whole job ends", "since the last checkpoint"],
        ),
    ],
)
def test_what_if_is_answered_by_the_limits(
    asking: Asking, words: Words, question: str, more: dict[str, str], says: list[str]
) -> None:
    told = words(tell_whatif(asking(question, **more)))
    assert all(one in told for one in says), told


def test_a_review_says_no_with_the_line_and_its_reason(asking: Asking, words: Words) -> None:
    told = words(review_script(asking("will qsub accept that?", script=PBS)))
    assert told.startswith("No: 1 thing would stop it on Polaris") and "**Line 3:**" in told and "01:00:00" in told


@pytest.mark.parametrize("answer", [explain_script, review_script, tell_cost])
def test_without_a_script_it_is_asked_for(
    asking: Asking, words: Words, answer: Callable[[Ask], Document | None]
) -> None:
    assert "paste it here" in words(answer(asking("what does it do?")))


@pytest.mark.parametrize(
    ("script", "says"),
    [(PBS, "Not by itself"), (MEETING, "LOCAL_RANK"), (LSF, "gives each rank its own GPU")],
)
def test_whether_each_rank_has_its_own_gpu(asking: Asking, words: Words, script: str, says: str) -> None:
    assert says in words(tell_counts(asking("does every rank get its own gpu?", script=script)))


def test_a_number_that_stands_in_no_line_is_no_line(asking: Asking, words: Words) -> None:
    assert words(explain_part(asking("what is the line with 29500?", script=LSF))) == ""


def test_the_c_of_a_shell_is_no_option_of_the_scheduler(asking: Asking, words: Words) -> None:
    told = words(explain_part(asking("what does bash -c do in there?", script=SLURM)))
    assert "starts a small shell in each task" in told and "How many CPUs" not in told


def test_a_cost_counts_cards_where_a_device_is_a_part_of_one() -> None:
    lumi = catalogue().clusters["lumi"]
    assert in_gpus(192.0, 8, lumi) == ", that is x 8 GCDs a node = 1536 GCD hours = 768 GPU hours"
    assert in_gpus(10.0, 4, catalogue().clusters["perlmutter"]) == ", that is x 4 GPUs a node = 40 GPU hours"
