"""What can be changed of a job that was handed in, whether it outlives the terminal, how a server in it is reached."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.answering.job_deeds import explain_deed
from graph.answering.situation import Situation
from graph.usecases.answer import plain_text
from knowledge.catalogue import catalogue
from knowledge.general_facts import job_life


def told(name: str, machine: str, text: str = "") -> str:
    cluster = catalogue().find(machine)
    assert cluster is not None
    found = explain_deed(name, replace(Situation(text, cluster), job="4711"))
    assert found is not None
    return plain_text(found)


@pytest.mark.parametrize(
    ("machine", "command"),
    [
        ("perlmutter", "scontrol update JobId=4711 TimeLimit="),
        ("aurora", "qalter -l walltime="),
        ("polaris", "qalter -A <ACCOUNT> -l walltime="),
        ("lassen", "bmod -W TIME 4711"),
        ("tuolumne", "flux update 4711 duration="),
    ],
)
def test_a_waiting_job_is_changed_by_the_scheduler_of_the_machine(machine: str, command: str) -> None:
    assert command in told("change", machine)


@pytest.mark.parametrize(
    ("machine", "command"),
    [
        ("perlmutter", "TimeLimit=06:00:00"),
        ("aurora", "walltime=06:00:00"),
        ("lassen", "-W 06:00 4711"),
        ("tuolumne", "duration=360m"),
    ],
)
def test_the_time_that_was_said_stands_in_the_command(machine: str, command: str) -> None:
    assert command in told("change", machine, "its 24h, can i cut it down to 6h")


def test_a_time_that_is_to_come_on_top_is_no_limit() -> None:
    assert "02:00:00" not in told("change", "perlmutter", "can i give it 2h more")


def test_where_that_is_off_it_is_said() -> None:
    text = told("change", "abci3")
    assert "cannot change a job" in text and "qalter" not in text


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "lsf", "flux"])
def test_each_scheduler_tells_the_same_deeds(scheduler: str) -> None:
    assert {"change", "detached", "port"} <= set(job_life()[scheduler])  # type: ignore[index]


def test_what_ends_with_the_connection_is_told_beside_what_does_not() -> None:
    text = told("detached", "perlmutter")
    assert text.startswith("A batch job goes on without you") and "salloc" in text and "login node" in text


@pytest.mark.parametrize(
    "text", ["can i give it 2h more", "can it run longer", "six more hours for it?", "kann ich den Job verlängern"]
)
def test_more_time_is_had_by_the_next_job(text: str) -> None:
    said = told("change", "delta", text)
    assert "given by staff" in said and "afterany:4711" in said and "TimeLimit=" not in said


def test_no_time_is_set_that_nobody_said() -> None:
    assert "TimeLimit=TIME" in told("change", "delta", "can i make its time shorter")
    assert "TimeLimit" not in told("change", "delta", "change the queue of my job")


def test_what_is_said_stands_in_the_command() -> None:
    assert "NumNodes=1" in told("change", "delta", "can i drop it to 1 node without losing my spot in the queue")
    text = "it has 12h, the maintenance starts tomorrow at 8:00, now it is 22:10. 9h would do, can i cut it?"
    said = told("change", "delta", text)
    assert "TimeLimit=09:00:00" in said and "it has to start by 23:00" in said


def test_a_chain_over_time_outs_does_not_ask_for_a_good_end() -> None:
    assert "afterany:$first" in told("dependency", "vista", "afterok or afterany?")
