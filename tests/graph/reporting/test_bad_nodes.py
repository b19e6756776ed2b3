"""Planted bad nodes are found and no innocent one is blamed, over many seeds and against what looks like a bad node."""

from __future__ import annotations

import random

import pytest

from bench.job_logs import Planted, month
from graph.reporting.bad_nodes import worst_nodes
from graph.reporting.new_causes import risen
from graph.reporting.rates import binomial_tail, holm, poisson_tail
from knowledge.job_record import JobRecord

SEEDS = range(8)


def record(job: int, cause: str, nodes: tuple[str, ...], user: str, at: float, **more: object) -> JobRecord:
    return JobRecord(str(job), cause, nodes=nodes, user=user, started=at - 600, ended=at, **more)  # type: ignore[arg-type]


def made_month(seed: int, count: int = 4000) -> tuple[list[JobRecord], Planted]:
    """The records of a made month, without its logs."""
    planted = Planted()
    records = [
        record(job.id, job.cause, job.nodes, job.user, job.start.timestamp() + job.seconds, account=job.account)
        for job in month(count, seed, planted)
    ]
    return records, planted


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bad_nodes_of_a_month_and_no_other(seed: int) -> None:
    records, planted = made_month(seed)
    blamed = {one.node for one in worst_nodes(records) if one.blamed}
    assert blamed <= set(planted.bad)
    assert len(blamed) >= len(planted.bad) - 1
    rises = risen(records, max(one.ended or 0 for one in records))
    assert [(rise.cause, rise.new) for rise in rises] == [(planted.new_cause, True)]


def test_nothing_is_found_where_nothing_was_planted() -> None:
    found = []
    for seed in range(20):
        draw = random.Random(seed)
        nodes = [f"n{n}" for n in range(100)]
        records = []
        for job in range(3000):
            user = f"u{draw.randrange(40)}"
            first, size = draw.randrange(100), draw.choice((1, 2, 8))
            where = tuple(nodes[(first + k) % 100] for k in range(size))
            cause = "gpu-hardware" if draw.random() < 0.1 else "no-failure"
            records.append(record(job, cause, where, user, 1e9 + draw.randrange(28) * 86_400))
        found += worst_nodes(records) + risen(records, 1e9 + 28 * 86_400)  # type: ignore[operator]
    # At a level of 1 % for each report, 20 reports may show one.
    assert len(found) <= 1


def test_what_only_looks_like_a_bad_node_is_not_blamed() -> None:
    draw = random.Random(1)
    usual = [
        record(job, "no-failure", (f"n{draw.randrange(20)}",), f"u{draw.randrange(12)}", 1e9 + job * 900)
        for job in range(1500)
    ]
    again = [record(9000 + k, "env-file-missing", ("n3",), "u3", 1e9 + k * 60) for k in range(60)]
    course = [
        record(9500 + k, "env-file-missing", ("n4",), f"s{k % 30}", 1e9 + k * 4000, account="course") for k in range(90)
    ]
    own_code = [record(9800 + k, "user-code", ("n5",), f"u{k % 12}", 1e9 + k * 900) for k in range(60)]
    assert not [one.node for one in worst_nodes([*usual, *again, *course, *own_code]) if one.blamed]
    bad = [record(9900 + k, "gpu-hardware", ("n6",), f"u{k % 12}", 1e9 + k * 900) for k in range(25)]
    assert [one.node for one in worst_nodes([*usual, *again, *course, *own_code, *bad]) if one.blamed] == ["n6"]


def test_neighbours_in_the_jobs_of_a_bad_node_are_innocent() -> None:
    draw = random.Random(2)
    records = []
    for job in range(2500):
        rack = draw.randrange(8)
        where = tuple(f"r{rack}n{n}" for n in draw.sample(range(8), 4))
        failed = "r2n5" in where and draw.random() < 0.5
        records.append(record(job, "gpu-hardware" if failed else "no-failure", where, f"u{job % 30}", 1e9 + job * 600))
    assert [one.node for one in worst_nodes(records)] == ["r2n5"]


def test_a_node_that_the_log_names_is_blamed_alone() -> None:
    records = []
    for job in range(600):
        where = ("a", "b", "c", f"n{job % 40}")
        records.append(
            record(job, "gpu-hardware" if job % 5 == 0 else "no-failure", where, f"u{job % 20}", 1e9 + job * 900,
                   blamed=("c",) if job % 5 == 0 else ())
        )  # fmt: skip
    # Every job of these users runs on a, b and c: nothing tells them from their users.
    assert worst_nodes(records) == []


@pytest.mark.parametrize(
    ("seen", "mean", "chance"), [(0, 3.0, 1.0), (3, 1.0, 0.0803), (10, 2.0, 4.65e-5), (2, 5.0, 0.9596)]
)
def test_tails_of_the_poisson(seen: int, mean: float, chance: float) -> None:
    assert poisson_tail(seen, mean) == pytest.approx(chance, rel=1e-2)


def test_tails_of_the_binomial_and_holm() -> None:
    assert binomial_tail(8, 10, 0.5) == pytest.approx(56 / 1024)
    assert binomial_tail(5, 5, 0.25) == pytest.approx(0.25**5)
    assert binomial_tail(3, 10, 0.5) == pytest.approx(1 - 56 / 1024)
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
