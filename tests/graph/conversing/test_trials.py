"""What is tried is one offer, whole; several trials are several offers; an order names what was spoken of before."""

from __future__ import annotations

from player import Player, Thread, call, first_script

from knowledge.types import OfferEdit


def trial(**fields: str) -> object:
    return call("edit_script", fields=fields, purpose="trial")


def led(*moves: object) -> Thread:
    return Thread(Player(*moves), first_script())  # type: ignore[arg-type]


def offers(thread: Thread) -> tuple[str, ...]:
    pending = thread.state["pending"]
    return tuple(one.says for one in pending.offers) if isinstance(pending, OfferEdit) else ()


def test_a_trial_of_several_fields_is_shown_whole_and_is_one_offer() -> None:
    thread = led(trial(nodes="4", queue="premium", walltime="2h"), "4 nodes in premium for 2 h. Say *yes*.")
    thread.say("and what would it be in the faster queue, with more?")
    told = thread.player.asked[-1][-1].text
    assert all(one in told for one in ("+#SBATCH --nodes=4", "+#SBATCH --qos=premium", "+#SBATCH --time=02:00:00"))
    assert "NOT done" not in told and "What that costs" not in told and "would cost" in told
    assert len(offers(thread)) == 1 and "--nodes=2" in thread.script
    thread.say("yes")
    assert all(one in thread.script for one in ("--nodes=4", "--qos=premium", "--time=02:00:00"))


def test_several_trials_are_several_numbered_offers() -> None:
    thread = led([trial(nodes="4"), trial(nodes="8")], "1. 4 nodes: 16 node hours. 2. 8 nodes: 32 node hours. Say 1.")
    thread.say("what would more nodes cost?")
    assert len(offers(thread)) == 2
    thread.say("2")
    assert "--nodes=8" in thread.script


def test_an_order_without_a_number_is_for_what_was_spoken_of_last() -> None:
    order = call("edit_script", fields={"nodes": "4", "strategy": "ddp"}, purpose="order")
    thread = led("With 4 nodes and ddp it takes half the time, at 16 node hours.")
    thread.say("would it be faster on four nodes with ddp?")
    thread.player.moves = [order, "Done."]
    thread.say("Then that is what he would like to try out first, please.")
    assert "--nodes=4" in thread.script and "torchrun" in thread.script


def test_what_is_only_offered_is_not_told_as_there_already() -> None:
    order = call("edit_script", fields={"nodes": "8", "framework": "pytorch"}, purpose="order")
    thread = led(order, "8 nodes would cost 32 node hours.")
    thread.say("write 3 lines on it")
    told = thread.player.asked[-1][-1].text
    assert "NOT done, offered" in told and "already" not in told
