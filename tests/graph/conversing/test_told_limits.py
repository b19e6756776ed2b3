"""What is said of a machine's limits, sizes and prices: nothing is against a true form, what is false is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.conversing.ground import Ground
from graph.conversing.guard import Guard
from graph.conversing.machine_facts import machine_in_short
from graph.conversing.review import objections
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data

ROWS: dict[str, list[dict[str, str]]] = read_data(Path(__file__).with_name("told_limits.yaml"))


def held_against(row: dict[str, str]) -> list[str]:
    """What the guard holds against the sentence, of a machine that the person named."""
    machine = catalogue().clusters[row["machine"]]
    names = {name.lower(): machine for name in (machine.id, machine.title)}
    ground = Ground([machine_in_short(machine)], f"my job on {machine.title}", here=[machine], machines=names)
    guard = Guard(ground, lambda piece: None)
    guard.hear(row["says"])
    guard.end()
    return list(objections(guard))


@pytest.mark.parametrize("row", ROWS["right"], ids=lambda row: f"{row['machine']}: {row['says']}")
def test_nothing_is_against_what_the_facts_say_in_other_words(row: dict[str, str]) -> None:
    assert held_against(row) == []


@pytest.mark.parametrize("row", ROWS["wrong"], ids=lambda row: f"{row['machine']}: {row['says']}")
def test_what_the_facts_do_not_say_is_told(row: dict[str, str]) -> None:
    assert held_against(row)
