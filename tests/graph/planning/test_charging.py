"""What a job costs in its site's own unit, all the jobs that a request makes, and when another queue needs a yes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.conversing.changing import asked_by
from graph.debugging.remedies import price
from graph.planning.charging import amount, charge_of, further_price, kinds_of
from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.job_parts import JobArray, LimitSignal
from knowledge.types import JobRequest, LaunchPlan, Refusal


def machine(name: str) -> Cluster:
    found = catalogue().find(name)
    assert found is not None
    return found


def job(**fields: Any) -> JobRequest:
    return replace(JobRequest(nodes=2, walltime="10:00:00"), **fields)


@pytest.mark.parametrize(
    ("name", "fields", "units"),
    [
        ("delta", {"queue": "gpuA100x4"}, 80),
        ("delta", {"queue": "gpuA100x4", "gpus_per_node": 1, "nodes": 1}, 10),
        ("perlmutter", {"queue": "regular", "gpus_per_node": 1}, 20),
        ("snellius", {"queue": "gpu_a100"}, 10240),
        ("lumi", {"queue": "small-g", "gpus_per_node": 2, "nodes": 1}, 10),
        ("vista", {"queue": "gh", "walltime": "00:05:00"}, 0.5),
        ("frontier", {"queue": "batch"}, 20),
        ("expanse", {"queue": "nairr-gpu"}, None),
        ("dardel", {"queue": "gpu"}, None),
        ("bridges2", {"queue": "GPU"}, None),
        ("bridges2", {"queue": "GPU", "node_type": "v100-32"}, 160),
        ("bridges2", {"queue": "GPU", "node_type": "h100-80"}, 320),
    ],
)
def test_a_job_costs_what_its_site_charges(name: str, fields: dict[str, Any], units: float | None) -> None:
    assert charge_of(job(**fields), machine(name)) == units


def test_a_dearer_job_is_told_in_both_units() -> None:
    told = price(job(queue="gpuA100x4"), job(queue="gpuA100x4", nodes=4), machine("delta"))
    assert "up to 40 node hours instead of 20 (160 SU instead of 80 there)" in told


BRIDGES = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH -t 08:00:00\n#SBATCH -p {}\n#SBATCH {}\nsrun python train.py\n"


@pytest.mark.parametrize(
    ("queue", "asks", "units"),
    [
        ("GPU-shared", "--gpus=v100-32:4", 32),
        ("GPU", "--gpus=v100-32:8", 64),
        ("GPU", "--gpus=h100-80:8", 128),
        ("GPU-shared", "--gres=gpu:h100-80:4", 64),
        ("GPU-shared", "--gres=gpu:v100-16:4", 32),
    ],
)
def test_the_kind_of_gpu_that_a_script_asks_for_decides_the_rate(queue: str, asks: str, units: float) -> None:
    assert charge_of(asked_by(BRIDGES.format(queue, asks), machine("bridges2")), machine("bridges2")) == units


def test_a_constraint_chooses_the_kind_of_node() -> None:
    snellius, perlmutter = machine("snellius"), machine("perlmutter")
    assert kinds_of(job(node_type="gpu&hbm80g"), perlmutter.default_queue, perlmutter) == ("gpu-a100-80",)
    assert kinds_of(job(node_type="lustre"), snellius.default_queue, snellius) == snellius.default_queue.node_types


def test_dearer_gpus_in_the_same_queue_are_told() -> None:
    was, now = (asked_by(BRIDGES.format("GPU-shared", f"--gpus={one}:4"), None) for one in ("v100-32", "h100-80"))
    assert price(was, now, machine("bridges2")) == "other GPUs, up to 64 SU instead of 32"


def test_the_usual_queue_and_a_cheaper_one_cost_nothing() -> None:
    assert price(job(queue="extended"), job(queue="batch", walltime="01:00:00"), machine("frontier")) == ""
    assert price(job(queue="gpuA100x4"), job(queue="gpuA100x4-preempt"), machine("delta")) == ""
    assert "another queue" in price(job(queue="batch"), job(queue="extended"), machine("frontier"))
    assert "instead of" in price(job(queue="gpuA40x4"), job(queue="gpuA100x4"), machine("delta"))
    assert "another queue" in price(job(queue="a"), job(queue="b"))


def test_further_jobs_are_priced() -> None:
    frontier = machine("frontier")
    assert "20 starts, up to 400 node hours" in further_price(job(requeue=True, signal=LimitSignal()), frontier)
    assert "3 jobs, up to 60 node hours" in further_price(job(chain=3), frontier)
    assert "4 tasks, up to 80 node hours" in price(job(), job(array=JobArray(count=4)), frontier)
    assert (
        further_price(job(), frontier)
        == further_price(job(requeue=True, signal=LimitSignal()), machine("polaris"))
        == ""
    )
    fewer = price(job(chain=3), job(chain=3, nodes=1), frontier)
    assert fewer == ""


def test_a_plan_says_what_its_jobs_cost() -> None:
    made = plan(
        job(machine="delta", strategy="ddp", requeue=True, signal=LimitSignal(), account="abcd"), machine("delta")
    )
    assert isinstance(made, LaunchPlan)
    assert any("20 starts, up to 400 node hours in all (1,600 SU)" in note for note in made.notes)


def test_many_short_jobs_are_priced_by_their_own_time() -> None:
    short = job(nodes=1, walltime="00:02:00", queue="gpuA100x4", array=JobArray(count=1000))
    assert further_price(short, machine("delta")) == "1,000 tasks, up to 33.3 node hours in all (133.3 SU)"
    assert "up to 40 node hours" in further_price(job(nodes=1, walltime="00:04:00", chain=600), machine("frontier"))


def test_a_large_price_has_all_its_digits() -> None:
    assert (amount(6_144_000), amount(1234567.8), amount(0.02), amount(0)) == ("6,144,000", "1,234,567.8", "0.02", "0")
    told = further_price(job(nodes=64, walltime="24:00:00", chain=1000), machine("jupiter"))
    assert told == "1,000 jobs, up to 1,536,000 node hours in all (442,368,000 core-hours)"


def test_a_rank_with_several_gpus_pays_for_them_all() -> None:
    made = plan(job(machine="delta", strategy="ddp", chain=3, account="abcd", processes_per_node=1), machine("delta"))
    assert isinstance(made, LaunchPlan)
    assert any("3 jobs, up to 60 node hours in all (240 SU)" in note for note in made.notes)


def test_an_array_has_no_more_tasks_than_its_queue_holds() -> None:
    wanted = job(
        machine="lumi", strategy="ddp", queue="small-g", array=JobArray(count=300), account="project_465000001"
    )
    made = plan(wanted, machine("lumi"))
    assert isinstance(made, Refusal) and "210 jobs of a user" in made.says
    assert isinstance(plan(replace(wanted, array=JobArray(count=200)), machine("lumi")), LaunchPlan)
