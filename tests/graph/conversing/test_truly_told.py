"""What is told beneath an answer is so: that nothing was changed, what was chosen, what it costs; and what a field of a
person's own script does."""

from __future__ import annotations

import pytest
from player import Player, Thread, call

OWN = """#!/bin/bash
#SBATCH -A bdxx-delta-gpu
#SBATCH -p gpuA100x4
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -t 08:00:00
srun python train.py --lr 1e-4 --bs 8
"""
PREP = "#!/bin/bash\n#SBATCH -N 3\n#SBATCH -t 5:00:00\npython prep.py --shards 10\n"
NOTE = "Nothing was changed in a script"


def own(*moves: object, script: str = OWN, says: str = "my script") -> Thread:
    thread = Thread(Player("Read."))
    thread.say(f"{says}\n```bash\n{script}```")
    thread.player.moves = [*moves]  # type: ignore[list-item]
    return thread


def results(thread: Thread) -> str:
    return "\n".join(one.text for one in thread.player.asked[-1] if one.role == "tool")


@pytest.mark.parametrize(
    "says",
    [
        "I have not changed the script: I added up what 8 hours cost.",
        "I changed nothing; I put the two ways side by side.",
        "The script stays as it is. I switched the order of the two ways.",
        "I added the two lines already in the last turn.",
        "Yes, the script now asks for `--gpus-per-node=4`.",
        "The script uses 2 nodes now.",
        "The job now waits for the queue.",
        "No changes were made: I replaced nothing.",
    ],
)
def test_that_nothing_was_changed_is_not_said_beside_words_that_are_true(says: str) -> None:
    assert NOTE not in own(says).say("what would that cost?")


@pytest.mark.parametrize(
    "says",
    [
        "I changed it to 16 nodes.",
        "I changed the time to `12:00:00`. Nothing else was changed.",
        "I have added the module line. You need not change your program.",
        "The script now loads your modules.",
    ],
)
def test_that_nothing_was_changed_is_said_beside_words_that_are_false(says: str) -> None:
    assert NOTE in own(says).say("12 hours please")


def test_what_a_script_of_theirs_has_was_not_chosen_for_them() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="none", entry="prep.py", nodes=3,
                 walltime="05:00:00")  # fmt: skip
    thread = Thread(Player("Read."))
    thread.say(f"two jobs\n```bash\n{OWN}```\n```bash\n{PREP}```")
    thread.player.moves = [write, "Below."]
    told = thread.say("write the prep job for Delta with your template, size as in my second script")
    chosen = [row for row in told.splitlines() if "chosen for you" in row]
    assert "--nodes=3" in thread.script and not any("nodes" in row or "walltime" in row for row in chosen)


def test_an_array_over_arguments_gets_its_lines() -> None:
    thread = own(call("edit_script", fields={"array": "lr=1e-3,1e-4;bs=8,16%2"}), "Done.")
    thread.say("an array over lr 1e-3 and 1e-4 and batch 8 and 16, two at once")
    rows = thread.script.splitlines()
    assert "#SBATCH --array=0-3%2" in rows and "LR_VALUES=(1e-3 1e-4)" in rows
    launch = next(row for row in rows if row.startswith("srun"))
    assert '--lr "${LR_VALUES[TASK / 2 % 2]}"' in launch and '--bs "${BS_VALUES[TASK % 2]}"' in launch
    assert "1e-4" not in launch and rows.index("LR_VALUES=(1e-3 1e-4)") < rows.index(launch)


def test_an_array_in_the_programs_own_form_and_by_its_indices() -> None:
    hydra = OWN.replace("--lr 1e-4 --bs 8", "lr=1e-4 bs=8")
    thread = own(call("edit_script", fields={"array": "lr=1e-3,1e-4"}), "Done.", script=hydra)
    thread.say("an array over lr 1e-3 and 1e-4")
    assert 'lr="${LR_VALUES[TASK]}" bs=8' in thread.script
    for value in ("1-10%3", "0-9"):
        thread = own(call("edit_script", fields={"array": value}), "Done.")
        thread.say(f"an array of {value}")
        assert f"#SBATCH --array={value}" in thread.script


def test_a_port_with_other_gpus_a_node_keeps_the_nodes_and_its_price_is_by_the_scripts() -> None:
    thread = own(call("port_script", machine="delta", fields={"gpus_per_node": "2"}), "Done.", says="on Delta")
    told = thread.say("written anew with 2 GPUs a node")
    assert "--nodes=2" in thread.script and "--gpus-per-node=2" in thread.script
    assert "another account is charged" not in told and "written for ddp" not in told


def test_what_a_script_has_already_is_said_as_it_was_wished() -> None:
    thread = own("ok", script=OWN.replace("-N 2", "-N 4").replace("08:00", "12:00"))
    thread.say("use 4 nodes and 12 hours")
    told = thread.player.asked[-1][1].text.partition("RULES would answer")[2]
    assert "*4 nodes*, *12:00:00* already" in told


def test_an_order_is_done_though_an_error_that_was_there_names_another_number_then() -> None:
    wrong = OWN.replace("python train.py", "torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 train.py")
    thread = own(call("edit_script", fields={"nodes": "3"}), "Done.", script=wrong)
    thread.say("3 nodes")
    assert "#SBATCH -N 3" in thread.script and "wrong before, and still so" in results(thread)
    fine = wrong.replace("torchrun", "torchrun --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500")
    thread = own(
        call("edit_script", patch=[{"old": " --rdzv_endpoint=$(hostname):29500", "new": ""}]), "No.", script=fine
    )
    thread.say("take the endpoint out")
    assert "the checks refuse it" in results(thread) and "rdzv_endpoint" in thread.script
