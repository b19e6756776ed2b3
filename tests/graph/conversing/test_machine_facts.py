"""What a model is told of a machine before it asks."""

from __future__ import annotations

import re

import pytest
from player import Player, Thread

from graph.conversing.machine_facts import MOST, machine_in_short
from knowledge.catalogue import catalogue

MACHINES = tuple(catalogue().clusters.values())


@pytest.mark.parametrize("cluster", MACHINES, ids=lambda one: one.id)
def test_a_machine_in_short(cluster: object) -> None:
    told = machine_in_short(cluster)  # type: ignore[arg-type]
    assert len(told) <= MOST + 400
    assert all(f"{queue.id} " in told for queue in cluster.queues[:4])  # type: ignore[attr-defined]
    assert all(row.startswith("source: ") for row in told.splitlines() if re.search(r"https?://", row)), told


def test_what_is_left_out_is_the_end() -> None:
    whole, short = (machine_in_short(catalogue().clusters["perlmutter"], most) for most in (99_999, 1500))
    rows, _, cut = short.rpartition("\n- cut for room")
    assert whole.startswith(rows) and "- folders: " in whole and "- folders: " not in rows and "folders" in cut


def test_the_machines_that_are_spoken_of_stand_before_the_message() -> None:
    thread = Thread(Player("Thirty minutes."))
    thread.say("how long may a job be in debug on Perlmutter, and on lumi?")
    sent = "\n".join(one.text for one in thread.player.asked[0] if one.role == "user")
    assert "MACHINE perlmutter" in sent and "MACHINE lumi" in sent
    thread.say("on Delta: copy the data from S3 at 5 PM")
    told = thread.player.asked[-1][1].text
    assert "MACHINE delta" in told and "MACHINE stampede3" not in told, "S3 is where data lie"
    assert "debug (debug) 1-8 nodes 00:30:00" in sent and "https://" not in sent.split("MESSAGE")[0]


def test_a_row_of_several_pages_cites_them_all() -> None:
    cluster = catalogue().clusters["jean-zay"]
    pages = {queue.source for queue in cluster.queues if queue.source}
    told = machine_in_short(cluster, 99_999).partition("- queues: ")[2].splitlines()[1]
    assert len(pages) > 1 and all(page in told for page in pages)


def test_a_node_that_is_charged_whole_says_so_beside_its_sharing() -> None:
    told = machine_in_short(catalogue().clusters["juwels-booster"])
    assert "a node is charged whole" in told and "shared" not in told
    assert "charged whole" not in machine_in_short(catalogue().clusters["perlmutter"])


def test_the_facts_stay_while_the_talk_stays_on_the_machine() -> None:
    thread = Thread(Player("On LUMI 4096.", "Three days.", "Yes."))
    thread.say("pretraining a 7B on LUMI: how many GPU hours?")
    thread.say("so how many days is that?")
    thread.say("and does it fit at all?")
    for asked in thread.player.asked[-2:]:
        assert "MACHINE lumi" in "\n".join(one.text for one in asked if one.role == "user")
