"""The job that a model is told of is the one of the script in hand: its own values, its machine, its scheduler."""

from __future__ import annotations

import pytest
from player import Player, Thread, call, first_script

PBS = """#!/bin/bash
#PBS -P ab12
#PBS -q gpuvolta
#PBS -l ncpus=48,ngpus=4,mem=380GB,walltime=24:00:00
cd $PBS_O_WORKDIR
module load pytorch/1.13
torchrun --standalone --nproc_per_node=4 train.py --bs 32 --data /g/data/ab12/imagenet
"""
SLURM = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --gpus-per-node=4\n#SBATCH -t 8:00:00\nsrun python train.py --bs 8\n"


def brief(thread: Thread) -> str:
    return thread.player.asked[-1][1].text


def job(thread: Thread) -> str:
    return f"\n{brief(thread)}".partition("\nJOB ")[2].partition("\n\n")[0]


def test_what_patches_changed_in_our_script_is_told_as_the_script_has_it() -> None:
    patch = [
        {"old": "PROGRAM=(train.py --bs 8)", "new": "PROGRAM=(eval.py --bs 4)"},
        {"old": "#SBATCH --constraint=gpu", "new": "#SBATCH --constraint=gpu&hbm80g"},
    ]
    thread = Thread(Player(call("edit_script", patch=patch), "Done.", "Three."), first_script())
    thread.say("eval.py with batch 4 on the 80 GB cards please")
    thread.say("use 3 nodes")
    assert "entry=eval.py" in job(thread) and "args=--bs 4" in job(thread) and "nodes=2" in job(thread)
    rules = brief(thread).partition("RULES would answer")[2]
    assert "they take: nodes=3" in rules and "train.py" not in rules and "--bs 8" not in rules


def test_a_decision_that_a_patch_took_back_is_told_no_more() -> None:
    started = Thread(Player("Yes."), first_script())
    started.say("ok?")
    assert "- queue = regular" in brief(started)
    patch = [{"old": "module load pytorch", "new": "module load conda; conda activate mine"}]
    moves = [call("edit_script", patch=patch, fields={"queue": "premium"}), "Done.", "Yes."]
    thread = Thread(Player(*moves), first_script())
    thread.say("premium queue, and my own conda env mine")
    thread.say("ok?")
    assert "conda activate mine" in thread.script and "- queue = regular" not in brief(thread)


def test_a_script_of_the_rules_that_undoes_a_change_is_not_told() -> None:
    patch = [{"old": '    "${PROGRAM[@]}"', "new": '    --max-restarts=3 "${PROGRAM[@]}"'}]
    thread = Thread(Player(call("edit_script", patch=patch), "Done.", "It would start otherwise."), first_script())
    thread.say("three restarts please")
    assert "--max-restarts=3" in thread.script
    thread.say("use ddp on 1 gpu with strategy none")
    assert "-    --max-restarts=3" not in brief(thread)


def test_a_persons_script_keeps_its_program_after_each_change() -> None:
    moves = [call("edit_script", patch=[{"old": "--bs 32", "new": "--bs 16"}]), "Done.", "Yes."]
    thread = Thread(Player(*moves))
    thread.say(f"halve the batch\n```bash\n{PBS}```")
    thread.say("right?")
    assert "entry=train.py" in job(thread) and "args=--bs 16" in job(thread) and "account=ab12" in job(thread)


@pytest.mark.parametrize("turns", [("my script on Derecho, halve the batch\n{}",), ("i am on Derecho", "halve it\n{}")])
def test_a_machine_that_nobody_described_has_its_name_and_the_scheduler_of_the_script(turns: tuple[str, ...]) -> None:
    thread = Thread(Player("Noted."))
    told = [thread.say(one.format(f"```bash\n{PBS}```")) for one in turns[:-1]]
    thread.player.moves = [call("edit_script", patch=[{"old": "--bs 32", "new": "--bs 16"}]), "Done."]
    told.append(thread.say(turns[-1].format(f"```bash\n{PBS}```")))
    assert "for Derecho" in told[-1] and "your machine" not in told[-1] and "machine=Derecho" in job(thread)
    write = call("write_script", machine="derecho", framework="pytorch", strategy="none", nodes=1, gpus_per_node=1,
                 entry="eval.py", walltime="02:00:00")  # fmt: skip
    thread.player.moves = [write, "Below."]
    thread.say("and one for eval.py on one GPU for 2 hours, same machine")
    assert "#PBS -l walltime=02:00:00" in thread.script and "#SBATCH" not in thread.script


def test_the_scheduler_of_one_machine_is_not_that_of_another() -> None:
    thread = Thread(Player("Read.", call("port_script", machine="Zephyr"), "Ported."))
    thread.say(f"here is my script on Derecho\n```bash\n{PBS}```")
    thread.say("port it to our other cluster Zephyr please")
    assert "#SBATCH" in thread.script and "machine=Zephyr" in job(later(thread))


def later(thread: Thread) -> Thread:
    """The thread one message later, whose brief tells what the last one left."""
    thread.player.moves = ["Yes."]
    thread.say("right?")
    return thread


def test_a_model_may_tell_the_scheduler_of_a_machine_that_nobody_described() -> None:
    port = call("port_script", machine="Zephyr", fields={"scheduler": "PBS Pro"})
    thread = Thread(Player(port, "Ported."), first_script())
    thread.say("port my slurm script from Perlmutter to Zephyr")
    assert "#PBS" in thread.script and "#SBATCH" not in thread.script


def test_a_script_whose_scheduler_is_another_is_not_for_the_machine_of_the_thread() -> None:
    thread = Thread(Player("Read.", "Yes."), first_script())
    thread.say(f"and what is wrong in this one?\n```bash\n{PBS}```")
    thread.say("ok?")
    assert "machine=perlmutter" not in job(thread) and "PBS" not in job(thread).partition("account")[0]


def test_a_model_learns_that_a_drafts_scheduler_was_taken_and_gives_another() -> None:
    thread = Thread(Player("Noted."))
    thread.say("i work on a cluster called Zephyr")
    write = call("write_script", machine="Zephyr", framework="pytorch", strategy="ddp", nodes=2, entry="train.py")
    thread.player.moves = [write, call("edit_script", fields={"scheduler": "pbs"}), "Below."]
    thread.say("train.py with ddp on 2 nodes there")
    told = [one.text for one in thread.player.asked[-1] if one.role == "tool"]
    assert "taken for slurm" in told[0] and "taken for slurm" not in told[1]
    assert "#PBS" in thread.script and "#SBATCH" not in thread.script


def test_a_machine_without_a_name_may_be_called_by_any_words_of_the_person() -> None:
    write = call("write_script", machine="department cluster", framework="pytorch", strategy="none", nodes=1,
                 gpus_per_node=1, queue="mlgpu", walltime="24:00:00", entry="seg.py", args="--fold 0")  # fmt: skip
    thread = Thread(Player(write, "Written."))
    thread.say(
        "our department has a little slurm cluster: partition mlgpu, 3 nodes with 2 RTX A5000 each, no account needed."
        " i want to run seg.py --fold 0 on one gpu, 1 day"
    )
    assert "#SBATCH --partition=mlgpu" in thread.script and "--fold 0" in thread.script
