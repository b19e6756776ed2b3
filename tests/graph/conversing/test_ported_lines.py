"""A person's own script on another machine of its scheduler: in their own lines, judged by that machine's checks."""

from __future__ import annotations

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
