"""A change is read by two readers: what one gives to another part of the job is no size; nothing is replaced."""

from __future__ import annotations

from typing import Any

import pytest

from graph.extraction.request import understand
from graph.reading.wishes.settling import orders_change
from knowledge.job_parts import LimitSignal, Program
from knowledge.types import JobRequest

STANDS = JobRequest(
    machine="delta",
    framework="pytorch",
    strategy="ddp",
    nodes=2,
    gpus_per_node=4,
    walltime="08:00:00",
    entry="train.py",
    args="--lr 3 --out runs",
    account="bbzz-delta-gpu",
)


def changed(words: str) -> dict[str, Any]:
    """The fields that a message changes, but for where they were heard."""
    now = understand(words, STANDS, None, None).request
    names = [name for name in STANDS.__dataclass_fields__ if getattr(now, name) != getattr(STANDS, name)]
    return {name: getattr(now, name) for name in names if name != "heard"}


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("after train.py also run score.py --ckpt last.pt", {"then": (Program("score.py", "--ckpt last.pt"),)}),
        ("after train.py also run score.py on one GPU", {"after": ("env -u WORLD_SIZE python score.py",)}),
        ("the program is main.py, not train.py", {"entry": "main.py"}),
        ("8 minutes prior to the limit it should get a signal", {"signal": LimitSignal("USR1", 480)}),
        ("SIGUSR2 to the ranks 4 minutes before the end", {"signal": LimitSignal("USR2", 240)}),
        ("a signal 4 minutes before the end, in the long term", {"signal": LimitSignal("USR1", 240)}),
        ("leave gpua007 and gpua031 out, both are broken", {"exclude_nodes": ("gpua007", "gpua031")}),
        ("run power_monitor.py beside the training", {"before": ("python power_monitor.py &",)}),
        ("start it with torchrun", {"launcher": "torchrun"}),
    ],
)
def test_each_part_goes_where_it_belongs(words: str, changes: dict[str, Any]) -> None:
    assert changed(words) == changes


@pytest.mark.parametrize("words", ["lr 1..4, never more than 2 at a time", "lr 1..4, at most 2 at once"])
def test_a_range_over_an_argument_is_an_array_with_its_limit(words: str) -> None:
    array = changed(words)["array"]
    assert [axis.option for axis in array.axes] == ["--lr"] and array.at_once == 2


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("lr 1..4 were tried last week, 3 hours", {}),
        ("train.py is now main.py, also 3 hours", {"entry": "main.py", "walltime": "03:00:00"}),
        ("also run eval.py afterwards; the job gets 8 nodes", {"nodes": 8, "then": (Program("eval.py"),)}),
    ],
)
def test_what_is_told_or_said_of_the_job_stays_with_it(words: str, changes: dict[str, Any]) -> None:
    assert {name: value for name, value in changed(words).items() if name in (*changes, "array")} == changes


def test_wandb_alone_is_one_variable_and_all_offline_is_more() -> None:
    assert [(one.name, one.value) for one in changed("wandb offline please")["variables"]] == [
        ("WANDB_MODE", "offline")
    ]
    assert changed("wandb and hf offline") == {"offline": True}


def test_an_argument_without_its_value_is_named() -> None:
    read = understand("copy /w/ada/x.tar to the local disk and point --out to it", STANDS, None, None)
    assert read.request.argument_edits == () and read.left


def test_commas_without_blanks_end_an_argument() -> None:
    read = understand("Vista 上 1 个节点,train.py --bs 16,项目 NAIRR240001,gh 队列 4 小时", None, None, None)
    assert read.request.args == "--bs 16"


@pytest.mark.parametrize(
    ("words", "orders"),
    [("could you name the job gnn and put the log into logs/?", True), ("why is the log empty?", False)],
)
def test_an_order_may_be_put_as_a_question(words: str, orders: bool) -> None:
    assert orders_change(words) is orders
