"""A request in the form of a question is an order; what only asks changes nothing and offers at most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from player import Player, Thread, call, first_script

from knowledge.data_file import read_data
from knowledge.types import OfferEdit

SAID: dict[str, dict[str, list[str]]] = read_data(Path(__file__).with_name("question_orders.yaml"))
ORDERS = [one for rows in SAID["orders"].values() for one in rows]
QUESTIONS = [one for rows in SAID["questions"].values() for one in rows]


def edit(purpose: str = "", **fields: str) -> Any:
    return call("edit_script", fields=fields, **({"purpose": purpose} if purpose else {}))


def led(said: str, *moves: Any) -> tuple[Thread, str]:
    thread = Thread(Player(*moves), first_script())
    return thread, thread.say(said)


@pytest.mark.parametrize("said", ORDERS)
def test_a_request_as_a_question_is_done_where_the_model_takes_it_for_one(said: str) -> None:
    thread, _ = led(said, edit("order", job_name="seqtrain"), "Done.")
    assert "--job-name=seqtrain" in thread.script and thread.state["pending"] is None


@pytest.mark.parametrize(
    ("said", "fields", "row"),
    [
        ("can you make it 4 nodes?", {"nodes": "4"}, "--nodes=4"),
        ("könntest du auf 4 Knoten gehen?", {"nodes": "4"}, "--nodes=4"),
        ("would you raise the wall time to 12 hours?", {"walltime": "12h"}, "--time=12:00:00"),
        ("¿podrías subir el tiempo a 12 horas?", {"walltime": "12h"}, "--time=12:00:00"),
        ("nehmen wir lieber die Premium-Queue?", {"queue": "premium"}, "--qos=premium"),
        ("why don't we go to 3 nodes?", {"nodes": "3"}, "--nodes=3"),
    ],
)
def test_what_costs_is_done_where_a_question_orders_it(said: str, fields: dict[str, str], row: str) -> None:
    thread, told = led(said, edit("order", **fields), "Done.")
    assert row in thread.script and "What that costs" in told and thread.state["pending"] is None


@pytest.mark.parametrize("said", QUESTIONS)
def test_a_question_changes_nothing_and_adds_nothing_to_the_answer(said: str) -> None:
    thread, told = led(said, edit("trial", job_name="seqtrain"), "It would be so.")
    assert thread.script == first_script()["bundle"].script and told == "It would be so."


def test_what_the_words_leave_open_the_model_is_asked() -> None:
    silent = []
    for said in QUESTIONS:
        thread, _ = led(said, edit(job_name="seqtrain"), "It would be so.")
        silent += [said] if "seqtrain" in thread.script else []
    assert len(silent) <= 2, silent


def test_a_trial_tells_the_price_and_a_yes_takes_it() -> None:
    thread, told = led("what if we used 8 nodes?", edit("trial", nodes="8"), "8 nodes: up to 32 node hours. Say *yes*.")
    assert "--nodes=2" in thread.script and "32 node hours instead of 8" in thread.player.asked[-1][-1].text
    assert isinstance(thread.state["pending"], OfferEdit) and "What would help" not in told
    thread.say("yes")
    assert "--nodes=8" in thread.script


OWN = "#!/bin/bash\n#SBATCH -A m1_g\n#SBATCH -C gpu\n#SBATCH -q regular\n#SBATCH -N 2\n#SBATCH -t 1:00:00\nsrun ./a"


def test_a_trial_of_an_own_script_changes_no_line() -> None:
    trial = edit("trial", walltime="3:00:00")
    thread = Thread(Player("Read.", trial, "3 hours: up to 6 node hours. Say *yes*."))
    thread.say(f"perlmutter: what does this do?\n```bash\n{OWN}\n```")
    thread.say("what would 3 hours cost?")
    assert "-t 1:00:00" in thread.script
    thread.say("yes")
    assert "3:00:00" in thread.script
