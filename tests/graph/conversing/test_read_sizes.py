"""What a model is told of numbers that measure something else than the job: nothing. It reads the message itself."""

from __future__ import annotations

from typing import Any

import pytest
from player import Player, Thread, call

WRONG = [
    "I want to transcribe 800 seconds of audio on delta with train.py",
    "train.py on delta, our data is 1.2M, 3 epochs",
    "a 1.2M dataset and train.py, on delta",
    "train on 3 hours of video on delta",
    "ein Modell auf 20 Stunden Sprachaufnahmen trainieren, auf delta",
    "entraîner sur 40 heures de vidéo sur delta",
    "entrenar con 30 horas de grabaciones en delta",
    "audio clips of 10s, 5 epochs, delta",
]
RIGHT = [
    ("train.py on delta for 4 hours", "walltime=04:00:00"),
    ("a job of 2 nodes of delta", "nodes=2"),
    ("auf delta, 3 Knoten, 12 Stunden", "walltime=12:00:00"),
    ("delta, ddp, 800 seconds of audio per file, 4 hours", "walltime=04:00:00"),
    ("delta, 90 min, 3 nodes", "nodes=3"),
    ("delta, un día en 2 nodos", "nodes=2"),
]


def told(*said: str, **more: Any) -> str:
    """All that the model was told of a thread at its last turn, without what the person said."""
    thread = Thread(Player("So."), **more)
    for one in said:
        thread.say(one)
    brief = thread.player.asked[-1][1].text
    return brief.partition("\nMESSAGE\n")[0].partition("\nJOB ")[2] + brief.partition("RULES would answer")[2]


@pytest.mark.parametrize("said", WRONG)
def test_a_number_that_may_measure_something_else_is_not_told_as_the_jobs(said: str) -> None:
    now, later = told(said).partition("\nMESSAGE\n")[0], told(said, "and then?")
    assert "walltime=" not in now + later and "nodes=" not in now + later


@pytest.mark.parametrize(("said", "value"), RIGHT)
def test_a_size_of_the_job_stays_told(said: str, value: str) -> None:
    assert value in told(said, "and then?")


@pytest.mark.parametrize("said", ["a batch of 500", "500"])
def test_a_number_alone_is_of_nothing_where_nothing_was_asked(said: str) -> None:
    first = "delta, pytorch ddp, train.py, account abcd-delta-gpu, 2 hours"
    now = told(first, said)
    assert "500" not in now and "walltime=02:00:00" in now
    assert "nodes=3" in told(first, "3 nodes", "and then?")


def test_a_script_is_written_without_a_time_that_nobody_said() -> None:
    write = call("write_script", machine="delta", framework="pytorch", strategy="ddp", nodes=1, entry="train.py")
    thread = Thread(Player("Which framework?", write, "Below."))
    thread.say("transcribe 800 seconds of audio on delta with train.py")
    thread.say("ddp on one node")
    assert "00:13:20" not in thread.script and "--nodes=1" in thread.script
