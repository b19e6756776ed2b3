"""Wishes that no script here is written for."""

from __future__ import annotations

import pytest

from graph.answering.grounds import grounds
from graph.context import Context
from graph.extraction.request import understand
from graph.extras import extras, table
from graph.state import State
from graph.wishes import wishes
from knowledge.catalogue import catalogue
from knowledge.types import SCHEDULERS, JobRequest

MACHINES = {"slurm": "frontier", "pbs": "polaris", "lsf": "lassen", "flux": "tuolumne"}
LAID_OUT = JobRequest(machine="frontier", framework="pytorch", strategy="fsdp", nodes=4)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("add email notifications to me@uni.edu", "--mail-user=me@uni.edu"),
        ("I want a job array of 5", "--array=1-5"),
        ("it should restart automatically after preemption", "--requeue"),
        ("name the job foo", "--job-name=foo"),
        ("write the logs to /scratch/x", "--output="),
        ("start it at 8pm", "--begin="),
        ("run it after job 1234 is done", "--dependency=afterok"),
        ("use reservation maint", "--reservation=maint"),
    ],
)
def test_the_line_to_add_is_told(text: str, line: str) -> None:
    heard, said = wishes(text, LAID_OUT, understand(text, LAID_OUT, None, None), catalogue().find("frontier"))
    assert heard.intent == "generate" and heard.request == LAID_OUT
    assert len(said) == 1 and line in said[0]


@pytest.mark.parametrize(
    "text", ["it depends", "make it 8 nodes", "use train.py --output dir --resume", "my dataset is an array", "4 hours"]
)
def test_what_is_none_of_these(text: str) -> None:
    assert extras(text, catalogue().find("frontier")) == ()


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_each_scheduler_has_a_line_or_says_that_it_has_none(scheduler: str) -> None:
    cluster = catalogue().clusters[MACHINES[scheduler]]
    for text in ("an email to a@b.de when it ends", "a job array of 3", "name the job foo"):
        assert extras(text, cluster) and "{" not in extras(text, cluster)[0]


def test_before_the_machine_is_known_nothing_is_told() -> None:
    assert extras("send me an email", None) == ()


def test_a_question_for_it_is_answered() -> None:
    state = State(request=JobRequest(machine="polaris"))
    found = grounds("how do I get an email when it ends?", state, Context()).fact
    assert found and "#PBS -M" in found.text


def test_each_row_names_only_schedulers() -> None:
    assert all(set(row) <= {"what", "words", *SCHEDULERS} for row in table())


@pytest.mark.parametrize(
    ("text", "field"),
    [("remove the walltime", "walltime"), ("please drop the account", "account"), ("forget about the queue", "queue")],
)
def test_a_value_is_the_default_again(text: str, field: str) -> None:
    before = JobRequest(machine="frontier", strategy="ddp", nodes=4, walltime="02:00:00", account="a1", queue="batch")
    heard, said = wishes(text, before, understand(text, before, None, None), catalogue().find("frontier"))
    assert getattr(heard.request, field) is None and said
    kept = [name for name in ("walltime", "account", "queue", "nodes") if getattr(heard.request, name) is not None]
    assert len(kept) == 3
