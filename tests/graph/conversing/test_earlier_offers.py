"""An offer stays open over several turns, until it is taken, refused, or another of its fields is made."""

from __future__ import annotations

from typing import Any

from player import Player, Thread, call, first_script


def tried() -> Thread:
    move = call("edit_script", fields={"nodes": "8"}, purpose="trial")
    thread = Thread(Player(move, "8 nodes: up to 32 node hours. Say *yes*."), first_script())
    thread.say("what if we used 8 nodes?")
    return thread


def then(thread: Thread, said: str, *moves: Any) -> str:
    """What the model is told with that message."""
    thread.player.moves = list(moves)
    before = len(thread.player.asked)
    thread.say(said)
    return thread.player.asked[before][1].text


def test_an_offer_is_taken_two_turns_later() -> None:
    thread = tried()
    assert "nodes 8" in then(thread, "what is a node hour?", "An hour of a node.").replace("8 nodes", "nodes 8")
    then(thread, "and what does it mean for my project?", "It is charged.")
    told = then(thread, "fine, then the eight nodes we spoke of", call("take_offer", number=1), "Eight.")
    assert "offered before that: 1. 8 nodes instead of 2" in told and "--nodes=8" in thread.script
    assert "offered before" not in then(thread, "thanks for all of that", "Welcome.")


def test_a_bare_yes_later_is_no_order_by_the_rules() -> None:
    thread = tried()
    then(thread, "what is a node hour?", "An hour of a node. Shall I tell more?")
    then(thread, "yes", "An award has so many of them.")
    assert "--nodes=2" in thread.script


def test_another_change_keeps_it_and_one_of_its_field_or_a_no_ends_it() -> None:
    thread = tried()
    then(thread, "3 hours then", call("edit_script", fields={"walltime": "3h"}, purpose="order"), "Three.")
    assert "8 nodes" in then(thread, "and the nodes that we spoke of?", "Those were 8.")
    then(thread, "take them", call("take_offer", number=1), "Eight.")
    assert "--nodes=8" in thread.script and "--time=03:00:00" in thread.script
    thread = tried()
    then(thread, "4 nodes", call("edit_script", fields={"nodes": "4"}, purpose="order"), "Four.")
    assert "offered before" not in then(thread, "thanks for it", "Welcome.")
    thread = tried()
    then(thread, "no, but tell me what a node hour is", "An hour of a node.")
    assert "offered before" not in then(thread, "thanks for it", "Welcome.")


def test_an_offer_of_a_field_outlives_a_return_to_an_earlier_script() -> None:
    one = {"nodes": 1, "gpus_per_node": 1, "walltime": "01:00:00", "strategy": "none", "queue": "acc_debug"}
    small = call("edit_script", fields=one, purpose="order")
    as_ddp = call("edit_script", fields={"strategy": "ddp"}, purpose="order")
    told = "One GPU for an hour. The queue is still `acc_ehpc`; `acc_debug` starts sooner. Say **yes** and I switch it."
    back = call("history", action="to", number=1)
    thread = Thread(Player("[[rules]]", small, as_ddp, told, back, "Two again."))
    thread.say("marenostrum5, pytorch ddp, 2 nodes, train.py, account ehpc417, 12 hours")
    thread.say("before the big one i want a quick test with one gpu only, max 1h. change the script")
    assert "--nodes=1" in thread.script
    assert "Two again" in thread.say("test ok, so the 2 node one goes. how much will it take?")
    assert "--nodes=2" in thread.script
