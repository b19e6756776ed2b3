"""A program that is not parallel is one process, however many GPUs its job has."""

from __future__ import annotations

import pytest

from graph.usecases.write_script import Written, write_script
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

SIZES = [(one.id, gpus) for one in catalogue().clusters.values() for gpus in {1, one.node_types[0].gpus.per_node or 1}]


def made(machine: str, gpus: int, **more: object) -> Written | None:
    request = JobRequest(machine=machine, framework="pytorch", strategy="none", nodes=1, gpus_per_node=gpus,
                         entry="train.py", walltime="00:30:00", account="abc", **more)  # type: ignore[arg-type]  # fmt: skip
    found = write_script(request, catalogue().clusters[machine])
    return found if isinstance(found, Written) else None


@pytest.mark.parametrize("machine, gpus", sorted(SIZES))
def test_it_is_started_once_and_nothing_in_its_script_is_unset(machine: str, gpus: int) -> None:
    found = made(machine, gpus)
    assert found is not None
    assert "export RANK" not in found.bundle.script and "torchrun" not in found.bundle.script
    assert not [one for one in found.findings if "set nowhere" in one.says or "idle" in one.says]


def test_so_many_processes_as_were_said_are_started() -> None:
    found = made("perlmutter", 4, processes_per_node=4)
    assert found and "RANKS_PER_NODE=4" in found.bundle.script
