"""Each script of a turn is seen by the person."""

from __future__ import annotations

from player import Player, Thread, call

from graph.conversing.hand import in_outline
from graph.modelling.model import ToolCall


def job(entry: str) -> ToolCall:
    return call(
        "write_script", machine="perlmutter", framework="pytorch", strategy="ddp", nodes=1, gpus_per_node=4,
        walltime="01:00:00", account="m1_g", entry=entry,
    )  # fmt: skip


def test_scripts_that_a_turn_parks_are_shown_too() -> None:
    calls = [job("one.py"), call("history", action="new_job"), job("two.py"), job("three.py")]
    thread = Thread(Player(calls, "Three scripts, one a step."))
    told = thread.say("perlmutter, account m1_g: one.py, two.py and three.py, each an hour on a node of 4 GPUs, ddp")
    assert all(told.count(f"PROGRAM=({name}.py)") == 1 for name in ("one", "two", "three"))


def test_marks_for_each_script_of_a_turn_place_them() -> None:
    calls = [job("one.py"), call("history", action="new_job"), job("two.py")]
    thread = Thread(Player(calls, "The first:\n\n[[T1]]\n\nThe second:\n\n[[T3]]\n\nThat is all."))
    told = thread.say("perlmutter, account m1_g: one.py and two.py, each an hour on a node of 4 GPUs, ddp")
    places = [told.index(one) for one in ("The first", "(one.py)", "The second", "(two.py)", "That is all")]
    assert places == sorted(places) and told.count("(one.py)") == 1


def test_a_shortened_answer_keeps_the_heads_of_its_numbered_items() -> None:
    text = "Two ways:\n1. Take four nodes. That costs more than now.\n12. Take the debug queue. It starts soon.\n"
    told = in_outline(text, len(text) - 1)
    assert "1. Take four nodes." in told and "12. Take the debug queue." in told and "costs more" not in told


def test_a_draft_of_this_turn_that_is_dropped_is_neither_shown_nor_kept() -> None:
    draft = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="draft.py")
    final = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=2, entry="final.py")
    thread = Thread(Player(draft, call("history", action="reset"), final, "Two nodes."))
    told = thread.say("ddp on delta, final.py, two nodes")
    assert "final.py" in told and "draft.py" not in told and not thread.state.get("jobs")
