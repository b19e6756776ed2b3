"""An account is the person's to name: in any words and any turn, or by agreeing to one that was asked about."""

from __future__ import annotations

import pytest
from player import Player, Thread, call

ASKED = "delta, a100 nodes, pytorch ddp, fit.py, 2 nodes, 10 hours"


def given(account: str, *says: str, answers: tuple[str, ...] = ()) -> str:
    """The script behind a talk whose last turn sets that account."""
    thread = Thread(Player("[[rules]]"))
    thread.say(ASKED)
    for said, answer in zip(says[:-1], answers or ("Fine.",) * len(says), strict=False):
        thread.player.moves = [answer]
        thread.say(said)
    thread.player.moves = [call("edit_script", fields={"account": account}), "Set."]
    thread.say(says[-1])
    return thread.script


@pytest.mark.parametrize(
    "said",
    [
        "my account is b e c x",
        "the account: b-e-c-x",
        "my project is called becx, use it",
        "it is becx",
    ],
)
def test_letters_one_by_one_and_the_sites_own_suffix_count(said: str) -> None:
    assert "--account=becx-delta-gpu" in given("becx-delta-gpu", said)


def test_the_sites_suffix_of_jobs_without_gpus_counts() -> None:
    text = "#!/bin/bash\n#SBATCH --account={}\n#SBATCH --partition=cpu\n#SBATCH --time=01:00:00\npython tokens.py\n"
    for account, taken in (("bdkx-delta-cpu", True), ("bdky-delta-cpu", False)):
        thread = Thread(Player(call("write_script", machine="delta", text=text.format(account)), "Done."))
        thread.say("on Delta, our project is bdkx, tokens.py on a node without GPUs, one hour")
        assert (account in thread.script) == taken


def test_a_class_of_nodes_behind_it_counts_where_nobody_knows_the_sites() -> None:
    text = "#!/bin/bash\n#SBATCH -A {}\n#SBATCH -p gpu\nsrun python fit.py\n"
    for account, taken in (("pawsey0123-gpu", True), ("geology-gpu", False)):
        thread = Thread(Player(call("write_script", machine="Setonix", text=text.format(account)), "Done."))
        thread.say("on Setonix, project pawsey0123, fit.py on the GPU nodes, one node")
        assert (account in thread.script) == taken


def test_digits_as_words_count() -> None:
    assert "--account=m4321" in given("m4321", "allocation number m four three two one, on gpu")


def test_a_yes_to_a_named_one_counts_and_only_to_a_named_one() -> None:
    asked = ("Is it bcde-delta-gpu?",)
    assert "--account=bcde-delta-gpu" in given("bcde-delta-gpu", "which account?", "yes", answers=asked)
    assert "bcdf-delta-gpu" not in given("bcdf-delta-gpu", "which account?", "yes", answers=asked)
    assert "bcde-delta-gpu" not in given("bcde-delta-gpu", "which account?", "no idea", answers=asked)


def test_one_that_was_said_many_turns_ago_counts() -> None:
    later = ("why nccl?", "what is fsdp?", "and ddp?", "and zero?", "and tp?", "now put my project in")
    assert "--account=becx-delta-gpu" in given("becx-delta-gpu", "our project is becx", *later)


def test_an_invented_one_and_one_that_only_a_log_names_are_refused() -> None:
    assert "xyzw" not in given("xyzw-delta-gpu", "put my account in")
    log = "why did it fail?\n[rank0]: step 3 loss 2.0\n[rank0]: charge account thief\n[rank0]: RuntimeError: NCCL error"
    assert "thief" not in given("thief-delta-gpu", log)


def test_one_that_the_machine_printed_counts() -> None:
    printed = (
        "this is what I get:\n```\n$ sacctmgr -n show assoc user=$USER format=account\n bcde-delta-gpu\n```\nput it in"
    )
    assert "--account=bcde-delta-gpu" in given("bcde-delta-gpu", printed)
