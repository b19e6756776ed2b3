"""An account or queue that is given as empty leaves its line out, and no note speaks of its placeholder."""

from __future__ import annotations

from player import Player, Thread, call

SAID = "our slurm cluster has no accounts and one default partition: train.py, lightning ddp, 3 nodes of 2 GPUs, 1 hour"
JOB = {"machine": "our slurm cluster", "framework": "lightning", "strategy": "ddp", "nodes": 3, "gpus_per_node": 2,
       "walltime": "01:00:00", "entry": "train.py"}  # fmt: skip


def test_an_empty_account_and_queue_leave_their_lines_out() -> None:
    thread = Thread(Player(call("write_script", **JOB, account="", queue=""), "Below.\n\n[[script]]"))
    told = thread.say(SAID)
    assert "#SBATCH --nodes=3" in thread.script and "YOUR_" not in thread.script
    assert "YOUR_ACCOUNT" not in told and "YOUR_PARTITION" not in told
    assert "YOUR_ACCOUNT" not in thread.player.asked[-1][-1].text


def test_they_go_later_too_and_come_with_a_name() -> None:
    thread = Thread(Player(call("write_script", **JOB), "Below.\n\n[[script]]"))
    thread.say(SAID.replace(" has no accounts and one default partition", ""))
    assert "YOUR_ACCOUNT" in thread.script
    thread.player.moves = [call("edit_script", fields={"account": ""}, purpose="order"), "Left out."]
    thread.say("leave the account line out")
    assert "YOUR_ACCOUNT" not in thread.script and "--nodes=3" in thread.script
    thread.player.moves = [call("edit_script", fields={"account": "abc12"}, purpose="order"), "Set."]
    thread.say("it is abc12 after all")
    assert "#SBATCH --account=abc12" in thread.script
