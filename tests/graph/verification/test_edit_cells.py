"""Each cell of docs/edits.md: what a script gains by an edit is checked, and run on the stand-in cluster."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import replace

import pytest

from graph.planning.plan import plan
from graph.verification.checks import check
from graph.verification.rehearsal import rehearse
from graph.verification.simulator import isolation
from knowledge.catalogue import catalogue
from knowledge.types import LaunchBundle, LaunchPlan, SideFile
from templates.render import render
from tests.golden.edits import BASE, EDITS, MACHINES

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed (extra: rehearse)"),
    pytest.mark.skipif(isolation.available() is None, reason="nothing here could keep a script in its folder"),
]

BY_NAME = {one.name: one for one in EDITS}
# Edits that get along stand in one script: each of its cells is run with it.
GROUPS = {
    "directives": (
        *(
            "array",
            "dependency",
            "signal",
            "requeue",
            "requeue at the limit",
            "mail",
            "exclusive",
            "constraint",
            "not before",
            "avoid nodes",
        ),
        *("memory", "job name", "output file", "modules", "file to source", "staging", "argument", "steps around it"),
        *("a second program after it", "conda environment", "offline"),
    ),
    "container": ("array of N", "reservation", "fewer nodes", "container"),
    "chain": ("chain", "virtual environment", "test of nodes", "a job of its own after it"),
    "first run": ("uv project", "first run"),
    "beside": ("a second program beside it",),
    **{name: (name,) for name in ("one GPU", "JAX", "TensorFlow", "Horovod", "Ray", "vLLM")},
}
# A step of one process: no rank, so the mini-app does not take its place.
PREPARES = SideFile("prep.py", "print('prepared')\n")
# The stand-in runs the launcher's own program: without it there is nothing to run.
NEEDS = {"Ray": "ray", "vLLM": "vllm"}

# Each group on each machine takes minutes: without MAPLE_CHAT_ALL_CELLS=1 each runs on one of them, in turn.
EVERY = bool(os.environ.get("MAPLE_CHAT_ALL_CELLS"))
REHEARSED = [
    (group, machine)
    for number, group in enumerate(GROUPS)
    for machine in (MACHINES if EVERY else [MACHINES[number % len(MACHINES)]])
]


def made(machine: str, names: tuple[str, ...]) -> tuple[LaunchBundle | None, tuple[str, ...]]:
    """The script with those of the edits that the machine does, and which these are."""
    cluster = catalogue().clusters[machine]
    request = replace(BASE, machine=machine, gpus_per_node=2)
    decided, done = None, []
    for name in names:
        tried = plan(BY_NAME[name].change(request), cluster)
        if isinstance(tried, LaunchPlan):
            request, decided = BY_NAME[name].change(request), tried
            done.append(name)
    return (render(decided) if decided else None), tuple(done)


def test_each_edit_of_the_page_is_in_a_group() -> None:
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(BY_NAME)


def test_no_edit_is_lost_beside_others() -> None:
    """What a machine does alone it also does in its group, or its cell would not be run."""
    for machine in MACHINES:
        for names in GROUPS.values():
            alone = {name for name in names if made(machine, (name,))[0] is not None}
            assert set(made(machine, names)[1]) == alone, machine


@pytest.mark.parametrize("machine", MACHINES)
def test_scripts_with_these_edits_are_sound(machine: str) -> None:
    """What the check says of every cell of a machine."""
    for names in GROUPS.values():
        bundle, done = made(machine, names)
        if bundle is not None:
            found = [one.rule for one in check(bundle.script, catalogue().clusters[machine]) if one.severity == "error"]
            assert found == [], done


@pytest.mark.parametrize(("group", "machine"), REHEARSED)
def test_a_script_with_these_edits_starts_its_ranks(machine: str, group: str) -> None:
    bundle, done = made(machine, GROUPS[group])
    if bundle is None:
        pytest.skip(f"{machine} does not do it; docs/edits.md says why")
    if group in NEEDS and shutil.which(NEEDS[group]) is None:
        pytest.skip(f"{NEEDS[group]} is not installed")
    files = (*bundle.files, PREPARES)
    outcome = rehearse(bundle.script, files, catalogue().clusters[machine], nodes=2, gpus_per_node=1)
    assert outcome.passed, (done, [one.says for one in outcome.findings if one.severity == "error"])
