"""Wishes that no script here is written for."""

from __future__ import annotations

import pytest

from graph.answering.grounds import grounds
from graph.build import build
from graph.context import Context
from graph.extraction.request import understand
from graph.extras import extras, table
from graph.planning.plan import plan
from graph.state import State, new_turn
from graph.wishes import wishes
from knowledge.catalogue import catalogue
from knowledge.types import SCHEDULERS, Framework, JobRequest, LaunchPlan

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
    assert all(set(row) <= {"what", "words", "any", *SCHEDULERS} for row in table())


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


@pytest.mark.parametrize("text", ["DeepSpeed ZeRO-2 with CPU offloading", "use optimizer offload"])
def test_offloading_is_told_where_to_put(text: str) -> None:
    assert any("offload_optimizer" in one for one in extras(text, catalogue().find("aurora")))


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("args are --epochs 10 --lr 3e-4", "--epochs 10 --lr 3e-4"),
        ("arguments: --data /x --amp", "--data /x --amp"),
        ("change lr to 1e-3", "--lr 1e-3 --batch-size=32"),
        ("set the batch size to 64", "--lr 3e-4 --batch-size=64"),
        ("change the walltime to 2 hours", "--lr 3e-4 --batch-size=32"),
    ],
)
def test_arguments_are_given_and_changed(text: str, args: str) -> None:
    before = JobRequest(machine="frontier", strategy="ddp", nodes=4, args="--lr 3e-4 --batch-size=32")
    heard, _ = wishes(text, before, understand(text, before, None, None), catalogue().find("frontier"))
    assert heard.request.args == args


@pytest.mark.parametrize(
    ("machine", "framework", "text", "says"),
    [
        ("expanse", "pytorch", "bf16 please", "has no bf16"),
        ("perlmutter", "accelerate", "mixed precision fp16", "I write bf16 there"),
        ("perlmutter", "pytorch", "use bf16", "in your program"),
    ],
)
def test_precision_is_told_where_it_is_set(machine: str, framework: Framework, text: str, says: str) -> None:
    before = JobRequest(machine=machine, framework=framework, strategy="ddp", nodes=2)
    _, said = wishes(text, before, understand(text, before, None, None), catalogue().find(machine))
    assert says in " ".join(said)


def test_an_order_to_act_is_declined_in_words() -> None:
    state = build().invoke(new_turn(1, "cancel my job 1234"), context=Context())
    assert "scancel" in state["said"][0].text


def test_a_container_that_nothing_enters_is_said() -> None:
    text = "use singularity container pytorch.sif on leonardo, ddp 4 nodes"
    decided = plan(understand(text, None, None, None).request, catalogue().clusters["leonardo"])
    assert isinstance(decided, LaunchPlan) and any("pytorch.sif" in note for note in decided.notes)


def test_degrees_of_parallelism_are_not_lost() -> None:
    text = "megatron GPT 175B on Frontier with TP=8 PP=16, 128 nodes"
    _, said = wishes(text, None, understand(text, None, None, None), catalogue().find("frontier"))
    assert "TENSOR_PARALLEL to 8 and PIPELINE_PARALLEL to 16" in " ".join(said)
