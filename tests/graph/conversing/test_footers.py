"""The lines at an answer's end that name what no page of the machine says: never on what somebody said, a page has, or
the answer itself works out."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.conversing.ground import Ground
from graph.conversing.guard import Guard
from graph.conversing.machine_facts import machine_in_short
from knowledge.catalogue import catalogue
from knowledge.data_file import read_data

ROWS: dict[str, list[dict[str, str]]] = read_data(Path(__file__).with_name("footers.yaml"))
JOB = ["#SBATCH --partition=workq", "#SBATCH --nodes=2", "#SBATCH --time=12:00:00", "2 nodes", "4 GPUs"]
# Of the sentences that a site alone decides, so many are marked at least.
MARKED_LEAST = 10


def added(row: dict[str, str]) -> str:
    """What the guard adds to a sentence about Jean Zay, whose pages name the partition `prepost`."""
    machine = catalogue().clusters["jean-zay"]
    words = f"my job on Jean Zay. {row.get('said', '')}"
    known = [machine_in_short(machine), row.get("told", "")]
    guard = Guard(Ground(known, words, JOB, here=[machine], machines={"jean zay": machine}), lambda piece: None)
    guard.hear(row["answer"])
    return guard.end().removeprefix(row["answer"]).strip()


@pytest.mark.parametrize("row", ROWS["plain"], ids=lambda row: str(row["answer"]))
def test_no_line_is_added_to_what_is_known_or_worked_out(row: dict[str, str]) -> None:
    assert added(row) == ""


def test_what_a_site_alone_decides_is_marked() -> None:
    assert sum(bool(added(row)) for row in ROWS["marked"]) >= MARKED_LEAST
