"""What people change of a job that stands: its parts, its program's arguments, and what finds no place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.extraction.request import understand
from knowledge.job_parts import ArgumentEdit, ArrayAxis, Dependency, JobArray, LimitSignal, Mail
from knowledge.types import JobRequest

JOB = JobRequest(
    machine="perlmutter",
    framework="pytorch",
    strategy="fsdp",
    nodes=4,
    gpus_per_node=4,
    walltime="06:00:00",
    entry="train.py",
    args="--config cfg/7b.yaml --amp --seq 4096",
)


def changed(text: str, before: JobRequest = JOB) -> dict[str, Any]:
    """The fields that a message changes, with their new values."""
    now = understand(text, before, None, None).request
    names = [f for f in JobRequest.__dataclass_fields__ if f != "heard"]
    return {name: getattr(now, name) for name in names if getattr(now, name) != getattr(before, name)}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("signal 5 min before the end so it can save", {"signal": LimitSignal("USR1", 300)}),
        ("mail me at end and fail, k@uni.example", {"mail": Mail("k@uni.example", ("end", "fail"))}),
        ("if it fails I want a mail", {"mail": Mail(None, ("fail",))}),
        ("requeue it when it is preempted", {"requeue": True}),
        ("requeue it at the limit", {"requeue": True, "signal": LimitSignal()}),
        ("--requeue", {"requeue": True}),
        ("call it vit-l", {"job_name": "vit-l"}),
        ("log to logs/%j.out", {"output": "logs/%j.out"}),
        ("give it 200G of RAM", {"memory_gb": 200}),
        ("16 cpus per task", {"cpus_per_task": 16}),
        ("after job 123456 finished fine", {"dependency": Dependency("afterok", ("123456",))}),
        ("chain 4 of them", {"chain": 4}),
        ("module load gcc and cuda/12.4", {"modules": ("gcc", "cuda/12.4")}),
        ("load nvhpc instead of whatever is there", {"modules": ("nvhpc",), "modules_only": True}),
        ("avoid nid001234", {"exclude_nodes": ("nid001234",)}),
        ("optimizer states to CPU please", {"offload_optimizer": True}),
        ("global batch 512 micro 2", {"global_batch": 512, "micro_batch": 2}),
        ("gradient accumulation 8 et bf16", {"gradient_accumulation": 8, "precision": "bf16"}),
        ("swap conda for uv, project dir /p/vit", {"environment_kind": "uv", "environment": "/p/vit"}),
        (
            "run it in shifter, image nersc/pytorch:25.06",
            {"container_runtime": "shifter", "container": "nersc/pytorch:25.06"},
        ),
        ("remove the walltime", {"walltime": None}),
    ],
)
def test_parts_of_a_job(text: str, changes: dict[str, Any]) -> None:
    assert changed(text) == changes


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (
            "add --resume last.pt and change the config to b.yaml",
            [("add", "--resume", "last.pt"), ("set", "--config", "b.yaml")],
        ),
        ("remove --amp and use --bf16 instead", [("remove", "--amp", None), ("add", "--bf16", None)]),
        ("optimizer.lr=2e-4 as well", [("add", "optimizer.lr", "2e-4")]),
        ("bump seq to 8192", [("set", "--seq", "8192")]),
        ("ok and lr 1e-4", [("add", "--lr", "1e-4")]),
        ("replace --seq 4096 with --seq 8192", [("remove", "--seq", None), ("set", "--seq", "8192")]),
        ("dash dash trainer dot precision bf sixteen dash mixed", [("add", "--trainer.precision", "bf16-mixed")]),
    ],
)
def test_arguments_of_the_program(text: str, edits: list[tuple[Any, str, str | None]]) -> None:
    wanted = tuple(ArgumentEdit(*edit) for edit in edits)
    if wanted[0].kind == "remove" and wanted[0].name == "--seq":
        assert changed(text)["argument_edits"][-1] == wanted[-1]
    else:
        assert changed(text) == {"argument_edits": wanted}


def test_an_array_grows_and_shrinks() -> None:
    first = understand("make it an array over lr 1e-3 3e-4 1e-4, max two at a time", JOB, None, None).request
    assert first.array == JobArray((ArrayAxis("--lr", ("1e-3", "3e-4", "1e-4")),), None, 2)
    second = understand("also over seed 1..4", first, None, None).request
    third = understand("drop 1e-3", second, None, None).request
    assert third.array == JobArray(
        (ArrayAxis("--lr", ("3e-4", "1e-4")), ArrayAxis("--seed", ("1", "2", "3", "4"))), None, 2
    )
    assert (third.nodes, third.walltime, third.args) == (JOB.nodes, JOB.walltime, JOB.args)


def test_sizes_beside_a_part_are_read_too() -> None:
    assert changed("signal 10 min before the end, and 8 nodes for 12 hours") == {
        "signal": LimitSignal("USR1", 600),
        "nodes": 8,
        "walltime": "12:00:00",
    }


@pytest.mark.parametrize("text", ["can I get a mail at the end?", "what is --requeue for?", "is bf16 safe on A100?"])
def test_a_question_wishes_nothing(text: str) -> None:
    assert changed(text) == {}


def test_what_finds_no_place_is_named() -> None:
    heard = understand("use 8 nodes and sparkle mode", JOB, None, None)
    assert heard.request.nodes == 8
    assert understand("requeue it, set the colour to blue", JOB, None, None).left == ("set the colour to blue",)


def test_a_degree_beside_another_makes_three_dimensions() -> None:
    before = JobRequest(
        machine="polaris", framework="megatron", strategy="3d", nodes=4, tensor_parallel=4, pipeline_parallel=2
    )
    assert changed("pp 4", before) == {"pipeline_parallel": 4}


@pytest.mark.parametrize("text", ["trial count 64", "set num trials to 32", "image size 384"])
def test_a_number_of_something_else_is_no_size_of_the_job(text: str) -> None:
    spoken_of = understand("make it 4 nodes", JOB, None, None).request
    heard = understand(text, spoken_of, None, None)
    assert heard.request == spoken_of and heard.left == (text,)


def test_an_argument_is_known_by_the_programs_own_line() -> None:
    before = replace(JOB, args="--image_size 224 --max_steps 100")
    assert changed("image size 384", before) == {"argument_edits": (ArgumentEdit("set", "--image_size", "384"),)}
    assert changed("20 epochs", before) == {"argument_edits": (ArgumentEdit("add", "--epochs", "20"),)}


def test_a_change_beside_what_finds_no_place_is_made() -> None:
    heard = understand("nodes 12 and image size 224", JOB, None, None)
    assert (heard.request.nodes, heard.left) == (12, ("image size 224",))


@pytest.mark.parametrize(
    "text", ["I use uv. the project lies in /w/ada/run, the venv is .venv in there", "the venv is there"]
)
def test_nothing_is_called_by_a_small_word(text: str) -> None:
    before = JobRequest(machine="delta", nodes=1, entry="train.py", environment="mine")
    assert understand(text, before, None, None).request.environment != "there"
