"""A delivery is worked on once: over threads, processes, restarts and dead workers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assistant.settings import Settings
from assistant.storage.database import Database, open_database
from assistant.storage.deliveries import KNOWN_S, LEASE_S, Deliveries, Delivery
from assistant.storage.feedback import Feedback
from assistant.turns import Turns

RACERS = 4
RACER = """
import sys
from assistant.settings import read_settings
from assistant.storage.database import open_database
from assistant.storage.deliveries import Deliveries
own = Deliveries(open_database(read_settings()), sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
print(*[number for number in range(50) if own.begin(f"delivery {number}", {})])
"""


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_a_delivery_is_taken_once(database: Database) -> None:
    one, other = Deliveries(database, "one"), Deliveries(database, "other")
    assert one.begin("a", {}) and not one.begin("a", {}) and not other.begin("a", {})
    one.finish("a")
    assert not other.begin("a", {}) and other.pending() == ()


def test_what_a_dead_worker_left_is_taken_over_once(database: Database) -> None:
    clock = Clock()
    dead, one, two = (Deliveries(database, name, now=clock) for name in ("dead", "one", "two"))
    dead.begin("a", {"text": "why?"})
    assert one.pending() == ()
    clock.time += LEASE_S + 1
    assert one.pending() == (Delivery("a", {"text": "why?"}),) and two.pending() == ()


def test_a_living_worker_keeps_what_it_renews(database: Database) -> None:
    clock = Clock()
    slow, other = Deliveries(database, "slow", now=clock), Deliveries(database, "other", now=clock)
    slow.begin("a", {})
    for _ in range(5):
        clock.time += LEASE_S - 1
        slow.renew()
    assert other.pending() == () and slow.pending() == ()


def test_a_restarted_worker_goes_on_at_once(database: Database) -> None:
    Deliveries(database, "one").begin("a", {"n": 1})
    assert Deliveries(database, "one").pending() == (Delivery("a", {"n": 1}),)


def test_old_ids_are_forgotten(database: Database) -> None:
    clock = Clock()
    one = Deliveries(database, "one", now=clock)
    for name in ("a", "b"):
        one.begin(name, {})
    one.finish("a")
    assert one.counts() == {"working": 1, "finished": 1}
    clock.time += KNOWN_S + 1
    one.finish("b")
    assert one.counts() == {"working": 0, "finished": 1}


@pytest.mark.parametrize("kind", ["settings", "postgres"])
def test_of_several_processes_one_wins(kind: str, request: pytest.FixtureRequest) -> None:
    settings: Settings = request.getfixturevalue(kind)
    open_database(settings)
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", RACER]
    racers = [subprocess.Popen([*command, str(n)], stdin=pipe, stdout=pipe, text=True) for n in range(RACERS)]
    for racer in racers:
        assert racer.stdout and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("\n")
        racer.stdin.flush()
    won = [racer.communicate(timeout=60)[0].split() for racer in racers]
    assert sorted(int(number) for taken in won for number in taken) == list(range(50))


def test_feedback_is_exported_with_its_turn(database: Database) -> None:
    turn = Turns(database).begin("t", "why?", [])
    feedback = Feedback(database)
    feedback.append("t", turn.number, False, who="u1", words="the cause is another")
    feedback.append("t", turn.number, True, who="u1")
    feedback.append("gone", 3, False, who="u2")
    first, second = feedback.export()
    assert (first.helpful, first.words, first.turn and first.turn.text) == (True, "", "why?")
    assert (second.thread, second.turn) == ("gone", None)
