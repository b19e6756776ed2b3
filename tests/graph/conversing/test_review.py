"""An answer that facts, checks or the thread speak against goes back to the model once, before anybody sees it."""

from __future__ import annotations

from player import FIRST, Player, Thread, call

from knowledge.errors import UnavailableError

WRONG = "Take the queue `turbo_x`, it takes 90 hours."
RIGHT = "Take the queue `regular`: at most 48 hours."


def asked_of(thread: Thread) -> str:
    return thread.player.asked[-1][-1].text


def test_what_the_facts_do_not_hold_is_told_to_the_model_and_its_second_answer_is_shown() -> None:
    thread = Thread(Player(WRONG, RIGHT))
    told = thread.say("which queue takes a long job on perlmutter?")
    assert "Nobody has seen" in asked_of(thread) and "`turbo_x`" in asked_of(thread)
    assert "turbo_x" not in told and "`regular`: at most 48 hours" in told
    assert len(thread.player.asked) == 2


def test_it_is_asked_once_and_what_it_insists_on_keeps_its_mark() -> None:
    thread = Thread(Player(WRONG))
    told = thread.say("which queue takes a long job on perlmutter?")
    assert len(thread.player.asked) == 2 and "turbo_x" in told and "Not in our pages" in told


def test_where_no_second_answer_comes_the_first_stands_with_its_marks() -> None:
    thread = Thread(Player(WRONG, UnavailableError("gone")))
    told = thread.say("which queue takes a long job on perlmutter?")
    assert "turbo_x" in told and "Not in our pages" in told


def test_the_script_may_be_mended_before_the_second_answer() -> None:
    thread = Thread(Player(call("write_script", machine="perlmutter", nodes=2, entry="train.py"), WRONG,
                           call("edit_script", fields={"walltime": "4h"}), "Done: 4 hours in `regular`."))  # fmt: skip
    told = thread.say(FIRST)
    assert "--time=04:00:00" in thread.script and "turbo_x" not in told


def test_a_note_that_the_model_calls_wrong_is_not_printed() -> None:
    words = "train.py with ddp on 1 node of delta, bf16"
    write = call(
        "write_script",
        machine="delta",
        framework="pytorch",
        strategy="ddp",
        nodes=1,
        entry="train.py",
        more_fields={"precision": "bf16"},
    )
    assert "Not in the script: precision=bf16." in Thread(Player(write, "Below.")).say(words)
    thread = Thread(Player(write, "Below.", "Below. [[no notes]]"))
    told = thread.say(words)
    assert "Not in the script: precision=bf16." in asked_of(thread)
    assert "Not in the script" not in told and "no notes" not in told
