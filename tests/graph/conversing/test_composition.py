"""The document of a led turn: one, put together from the state behind the turn; nothing that contradicts the words."""

from __future__ import annotations

from typing import Any

import pytest
from player import Player, Thread, call, first_script

from graph.conversing.sources import Numbered
from graph.modelling.asking import is_public_name
from knowledge.masking import Masker


def led(*moves: Any, say: str = "go on") -> tuple[Thread, str]:
    thread = Thread(Player(*moves), first_script())
    return thread, thread.say(say)


def test_a_change_is_shown_once_whatever_marks_name_it() -> None:
    edit = call("edit_script", fields={"nodes": "3"})
    for words in (
        "Three nodes:\n\n[[script]]\n\nThat is all.\n\n[[script]]",
        "Three nodes.\n\n[[rules]]\n\n[[script]]",
    ):
        thread, told = led(edit, words, say="3 nodes")
        assert told.count("#SBATCH --nodes=3") == 1 and thread.script.rstrip() in told and "```diff" not in told
    thread, told = led(edit, "Three nodes.", say="3 nodes")
    assert told.count("+#SBATCH --nodes=3") == 1 and told.count("```") == 2


def test_a_script_that_the_model_types_is_the_one_in_hand() -> None:
    thread, _ = led("Fine.")
    typed = thread.script.replace("train.py --bs 8", "train.py --bs 9")
    thread.player.moves = [f"Here:\n\n```bash\n{typed}\n```"]
    told = thread.say("send me the script back please")
    assert "--bs 9" not in told and thread.script.rstrip() in told and told.count("#SBATCH --nodes=2") == 1


def test_a_script_that_comes_back_is_shown() -> None:
    thread, _ = led(call("edit_script", fields={"nodes": "3"}), "Three.", say="3 nodes")
    thread.player.moves = [call("history", action="undo"), "Two nodes again."]
    assert "+#SBATCH --nodes=2" in thread.say("hm, rather take that step back please, all of it")


def test_files_beside_the_script_come_with_it() -> None:
    asked = "perlmutter, accelerate fsdp, train.py, 2 nodes, 2 hours, account m1234_g"
    thread = Thread(Player("Here:\n\n[[rules]]", "Again:\n\n[[script]]"))
    thread.say(asked)
    assert "fsdp_config" in thread.say("show all the files once more")


def test_what_is_left_to_do_is_told_by_the_state_behind_the_turn_and_once() -> None:
    asked = "perlmutter, pytorch ddp, train.py, 1 node, 1 hour"
    thread = Thread(Player("Below.\n\n[[rules]]"))
    assert "replace `YOUR_ACCOUNT_g`" in thread.say(asked)
    thread = Thread(Player("Put your project for `YOUR_ACCOUNT`.\n\n[[rules]]"))
    assert "Before you submit" not in thread.say(asked)
    thread.player.moves = [call("edit_script", fields={"account": "m99_g"}), "Set."]
    told = thread.say("my account is m99_g")
    assert "m99_g" in thread.script and "Before you submit" not in told and "Assumed" not in told


def test_what_the_rules_know_is_told_to_the_model_and_not_behind_its_words() -> None:
    asked = "leonardo, pytorch ddp, train.py, 1 node, 1 hour, account abc_1"
    alone = Thread(Player("[[rules]]"))
    whole = alone.say(asked)
    thread = Thread(Player("One node with four GPUs, for an hour.\n\n[[rules]]"))
    told = thread.say(asked)
    assert "Note:" in whole and "Note:" not in told and thread.script == alone.script
    note = whole.partition("Note: ")[2][:60]
    assert "internet" in whole and note in thread.player.asked[-1][1].text


def test_a_price_is_told_once() -> None:
    edit = call("edit_script", fields={"nodes": "4"})
    assert "What that costs: up to 16 node hours" in led(edit, "Four nodes.", say="4 nodes")[1]
    assert "What that costs" not in led(edit, "4 Knoten: 4 x 4 h = 16 Knotenstunden.", say="4 nodes")[1]


@pytest.mark.parametrize(
    "said", ["can the 4 hours be 6?", "kann ich 6 Stunden nehmen?", "Hi! Could the 4 h be 6? Thanks"]
)
def test_a_question_about_a_change_changes_nothing_until_it_is_ordered(said: str) -> None:
    edit = call("edit_script", fields={"walltime": "6h"})
    thread, _ = led(edit, "Yes, regular takes 48 hours. Say so and I set it.", say=said)
    assert "--time=04:00:00" in thread.script and "not done" in thread.player.asked[-1][-1].text.lower()
    thread.player.moves = [edit, "Six."]
    thread.say("yes, do that")
    assert "--time=06:00:00" in thread.script
    assert "--time=06:00:00" in led(edit, "Six.", say="can you make it 6 hours?")[0].script


def test_the_points_of_an_earlier_answer_stay_known() -> None:
    points = "\n".join(f"{letter}) way {letter}: {'and then some more of it ' * 30}" for letter in "abcde")
    thread, _ = led(f"Five ways:\n\n{points}", "Fine.", say="what can I do?")
    thread.say("I see")
    thread.say("and then")
    assert all(f"{letter}) way {letter}" in thread.player.asked[-1][1].text for letter in "abcde")


def test_sources_behind_a_fact_are_numbered() -> None:
    pages = Numbered()
    fact = "  - It is cut. https://a.example/x and, for the rest,\n    https://b.example/y\n  - See `git clone https://c.example/z`."
    told = pages.numbered(fact)
    assert "cut. [1] [2]\n" in told and "`git clone https://c.example/z`" in told and len(pages.pages) == 2
    assert pages.cited("So it is [7].") == "So it is."


def test_an_account_that_is_an_ordinary_word_leaves_other_words_alone() -> None:
    masker = Masker({"normal": "ACCOUNT", "climate": "ACCOUNT"}, is_public_name)
    told = masker.mask("account=climate on v100/x, the normal queue, node v001").text
    assert "climate" not in told and "v100/x" in told and "the normal queue" in told


def test_every_file_of_a_message_reaches_the_model_and_stays_known() -> None:
    own = "#!/bin/bash\n#SBATCH -A m1_g\n#SBATCH -C gpu\n#SBATCH -N 2\n#SBATCH -t 1:00:00\nsrun -n 8 ./run.sh"
    beside = "#!/bin/bash\nexport RANK=$SLURM_PROCID\npython train.py --lr 7e-5"
    thread = Thread(Player("Ranks come from Slurm."))
    thread.say(f"why is it slow?\n\nsubmit.sh:\n```bash\n{own}\n```\nrun.sh:\n```bash\n{beside}\n```\nthanks")
    first = thread.player.asked[0][1].text
    assert "run.sh:" in first and "--lr 7e-5" in first and first.count("srun -n 8 ./run.sh") == 1
    thread.say("and what does it set?")
    assert "--lr 7e-5" in thread.player.asked[-1][1].text
