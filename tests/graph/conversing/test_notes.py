"""What stands beneath an answer: the difference between a turn's beginning and its end, and what is open then."""

from __future__ import annotations

from typing import Any

from player import Player, Thread, call, first_script

from knowledge.types import OfferChoice, OfferEdit


def edit(**fields: str) -> Any:
    return call("edit_script", fields=fields)


def patch(old: str, new: str) -> Any:
    return call("edit_script", patch=[{"old": old, "new": new}])


def led(said: str, *moves: Any) -> tuple[Thread, str]:
    thread = Thread(Player(*moves), first_script())
    return thread, thread.say(said)


SLOW = "it is too slow"


def test_an_offer_that_the_model_corrected_is_none() -> None:
    thread, told = led(SLOW, edit(nodes="11"), edit(nodes="2"), "It stays at two.")
    assert thread.state["pending"] is None and told == "It stays at two."
    thread, told = led(SLOW, edit(nodes="11"), edit(nodes="5"), "More would help.")
    assert "11" not in told and "5 nodes instead of 2 (up to 20 node hours instead of 8)" in told
    thread, told = led("3 nodes", edit(nodes="11"), edit(nodes="3"), "Three.")
    assert "11" not in told and thread.state["pending"] is None and "--nodes=3" in thread.script


def test_an_offer_has_the_price_that_it_has_at_the_end() -> None:
    moves = [edit(nodes="8"), edit(walltime="06:00:00"), "More nodes would help."]
    assert "up to 48 node hours instead of 12" in led("make it 6 hours; it is too slow", *moves)[1]


def test_a_price_is_that_of_the_whole_turn() -> None:
    _, told = led("6 nodes, 12 hours", edit(nodes="6"), edit(walltime="12:00:00"), "Done.")
    assert "What that costs: up to 72 node hours instead of 8." in told and told.count("What that costs") == 1


LOG = patch("train.py --bs 8)", 'train.py --bs 8 --log "$SLURM_JOB_ID.txt")')
LOG_AGAIN = patch("train.py --bs 16)", 'train.py --bs 16 --log "$SLURM_JOB_ID.txt")')


def test_a_change_that_was_put_back_in_is_not_told_as_lost() -> None:
    thread, _ = led("log into a file with the job's number", LOG, "Yes.")
    thread.player.moves = [edit(args="--bs 16"), LOG_AGAIN, "Sixteen."]
    told = thread.say("bs 16")
    assert '--bs 16 --log "$SLURM_JOB_ID.txt"' in thread.script and "left out" not in told
    thread.player.moves = [edit(args="--bs 32"), "Thirty-two."]
    assert "has no place in this script any more" in thread.say("bs 32")
    thread.player.moves = [edit(nodes="3"), "Three."]
    assert "has no place" not in thread.say("3 nodes")


def test_a_change_that_was_taken_back_is_not_told_as_lost() -> None:
    hello = patch("set -eo pipefail", "set -eo pipefail\necho hello")
    thread, _ = led("say hello at the start", hello, "Yes.")
    began = thread.state
    gone = call("edit_script", patch=[{"old": "echo hello\n", "new": ""}])
    for move in (gone, call("history", action="undo")):
        thread = Thread(Player(move, "Gone."), began)
        thread.turn = 5
        told = thread.say("take the hello out again please, I do not want it after all")
        assert "echo hello" not in thread.script and "left out" not in told
    thread.player.moves = [edit(nodes="3"), "Three."]
    assert "left out" not in thread.say("3 nodes")


def test_a_change_of_this_turn_that_a_later_call_lost_is_told() -> None:
    _, told = led("bs 16, and a log", LOG, edit(args="--bs 16"), "Sixteen.")
    assert "has no place in this script any more" in told


def test_a_refusal_that_the_model_corrected_is_none() -> None:
    thread, told = led("4000 nodes, or 3", edit(nodes="4000"), edit(nodes="3"), "Three.")
    assert "4000" not in told and "--nodes=3" in thread.script and thread.state["pending"] is None


def test_a_refusal_stays_open_beside_what_was_done() -> None:
    thread, told = led("4000 nodes, and call it big", edit(nodes="4000"), edit(job_name="big"), "It is called big.")
    open_ = thread.state["pending"]
    assert isinstance(open_, OfferChoice) and open_.request and open_.request.job_name == "big" and "1. " in told


def test_what_was_changed_and_changed_back_is_told_of_no_more() -> None:
    thread, told = led("try 3 nodes, no, leave it", edit(nodes="3"), edit(nodes="2"), "It stays.")
    assert told == "It stays." and len(thread.state["revisions"]) == len(first_script()["revisions"])


def test_a_field_that_came_into_the_script_after_all_is_not_told_as_missing() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="train.py",
                 more_fields={"precision": "bf16"})  # fmt: skip
    said = "train.py with ddp on 1 node of delta, bf16"
    assert "Not in the script: precision=bf16." in Thread(Player(write, "Below.")).say(said)
    args = edit(args="--precision bf16")
    assert "Not in the script" not in Thread(Player(write, args, "Below.")).say(said)


def test_two_offers_of_a_turn_stand_together() -> None:
    thread, _ = led(SLOW, edit(nodes="8"), edit(walltime="30:00:00"), "Two ways.")
    open_ = thread.state["pending"]
    assert isinstance(open_, OfferEdit) and len(open_.offers) == 2


def test_a_price_in_the_sites_own_unit_is_told_once() -> None:
    fields = {"queue": "gpuA40x4-preempt", "array": "--fasta=a,b,c,d,e,f"}
    write = call("write_script", machine="delta", framework="pytorch", strategy="none", nodes=1, gpus_per_node=1,
                 entry="embed.py", account="bcqx-delta-gpu", walltime="08:00:00",
                 more_fields={"array": "--fasta=a,b"})  # fmt: skip
    for words, untold in (("Six: 6 tasks x 8 h x 0.25 = 12 SUs.", False), ("Six tasks now.", True)):
        thread = Thread(Player(write, "Two.", call("edit_script", fields=fields), words))
        thread.say("embed.py --fasta a and b on delta, one gpu, 8 hours, bcqx-delta-gpu")
        told = thread.say("six files a to f, on the preempt queue of the A40")
        assert ("What that costs" in told) is untold, told
