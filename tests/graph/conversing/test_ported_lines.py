"""A person's own script on another machine of its scheduler: in their own lines, judged by that machine's checks."""

from __future__ import annotations

import pytest
from player import Player, Thread, call

POLARIS = """#!/bin/bash -l
#PBS -l select=4:system=polaris
#PBS -l place=scatter
#PBS -l walltime=03:00:00
#PBS -l filesystems=home:eagle
#PBS -q capacity
#PBS -A MyProj
#PBS -M kim@anl.gov
module load conda
conda activate base
export NCCL_SOCKET_IFNAME=hsn0
source ./venvs/gpt/bin/activate
NRANKS=4
mpiexec -n $((4 * NRANKS)) --ppn $NRANKS python train.py --batch 16
python summarize.py logs/
"""
AURORA = (
    POLARIS.replace(":system=polaris", "").replace("eagle", "flare").replace("NRANKS=4", "NRANKS=12")
    .replace("module load conda\nconda activate base\nexport NCCL_SOCKET_IFNAME=hsn0\n", "module load frameworks\n")
    .replace("mpiexec ", "mpiexec --pmi=pmix --envall ")
)  # fmt: skip


def ported(answer: str, text: str = AURORA) -> tuple[Thread, str]:
    thread = Thread(Player(call("port_script", machine="aurora", text=text), answer))
    return thread, thread.say(f"this runs on Polaris, port it to Aurora\n```\n{POLARIS}```")


def test_their_lines_stay_and_what_goes_is_named_unless_the_words_do() -> None:
    thread, told = ported("Ported; `conda activate base` goes, `frameworks` brings Python.")
    assert "**job.sh** for Aurora" in told and "```diff" not in told and AURORA in told
    assert "that it has no more: `export NCCL_SOCKET_IFNAME=hsn0`." in told, "summarize.py stays, the words name conda"
    thread.player.moves = [call("edit_script", fields={"walltime": "05:00:00"}), "Five hours."]
    again = thread.say("make it 5 hours")
    assert "for Aurora" in again and "walltime=05:00:00" in again and "NRANKS=12" in thread.script


def test_a_text_that_the_machine_refuses_leaves_theirs() -> None:
    thread, _ = ported("It cannot.", AURORA.replace("capacity", "nosuch"))
    assert "the checks for Aurora refuse it" in thread.player.asked[-1][-1].text
    assert thread.script.strip() == POLARIS.strip()


SLURM = """#!/bin/bash
#SBATCH -p gpuA100x8
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --time=10:00:00
#SBATCH --mail-type=END,FAIL
#SBATCH --mail-user=anna@uni-x.de
#SBATCH --licenses=matlab:1
source ~/conda.sh
srun torchrun --nnodes=2 --nproc_per_node=8 finetune.py --bf16
python summarize.py logs/
"""


def test_a_job_without_gpus_is_made_no_gpu_job() -> None:
    own = "#BSUB -q normal\n#BSUB -n 64\n#BSUB -W 12:00\nmpirun ./sim input.dat\n"
    thread = Thread(Player(call("port_script", machine="perlmutter"), "It needs its own lines."))
    told = thread.say(f"port this to Perlmutter, m1234\n```\n{own}```")
    assert "by write_script" in thread.player.asked[-1][-1].text and "torchrun" not in told + thread.script


@pytest.mark.parametrize(
    ("machine", "mail"), [("perlmutter", "--mail-user=anna@uni-x.de"), ("aurora", "#PBS -M anna@uni-x.de")]
)
def test_a_script_made_anew_keeps_who_is_told_and_names_what_it_cannot_hold(machine: str, mail: str) -> None:
    thread = Thread(Player(call("port_script", machine=machine), "Ported; `source ~/conda.sh` is left to you."))
    told = thread.say(f"port this to {machine}, project m1234\n```\n{SLURM}```")
    assert mail in thread.script and "mail-user" not in told.partition("Note:")[2]
    assert "--licenses matlab:1 is not carried over" in told and "python summarize.py logs/" in thread.script
    assert "What that costs" not in told and "Note: `source" not in told
