"""Write, check, change, write again: at most five scripts, and never the same twice."""

from __future__ import annotations

from graph.verification.mending import MOST_TRIES, Mended, mend
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.types import Finding, JobRequest, Refusal

DELTA = catalogue().clusters["delta"]
REQUEST = JobRequest(machine="delta", framework="pytorch", strategy="ddp", nodes=2, walltime="02:00:00", account="abcd")


def limit(nodes: int) -> Finding:
    return Finding("too-many", "error", 1, f"at most {nodes}", "facts", None, (("nodes", nodes),))


def test_our_own_script_needs_no_mending() -> None:
    done = mend(REQUEST, DELTA)
    assert isinstance(done, Mended)
    assert (done.tries, done.cured) == (1, ())
    assert [one.rule for one in done.left] == []


def test_a_change_is_applied_and_what_it_cured_is_told() -> None:
    done = mend(REQUEST, DELTA, lambda text, _: [limit(1)] if "--nodes=2" in text else [])
    assert isinstance(done, Mended)
    assert (done.plan.nodes, done.tries) == (1, 2)
    assert [one.rule for one in done.cured] == ["too-many"]


def test_at_most_five_scripts() -> None:
    written: list[str] = []

    def never_content(text: str, cluster: Cluster) -> list[Finding]:
        written.append(text)
        return [limit(len(written) + 2)]

    done = mend(REQUEST, DELTA, never_content)
    assert isinstance(done, Mended)
    assert done.tries == len(written) == MOST_TRIES
    assert done.left


def test_a_change_tried_before_ends_it() -> None:
    done = mend(REQUEST, DELTA, lambda text, _: [limit(1 if "--nodes=2" in text else 2)])
    assert isinstance(done, Mended)
    assert done.tries == 2


def test_what_nobody_can_change_is_left() -> None:
    finding = Finding("quota", "error", 0, "no quota", "ask")
    done = mend(REQUEST, DELTA, lambda text, _: [finding])
    assert isinstance(done, Mended)
    assert (done.tries, done.left) == (1, (finding,))


def test_a_change_that_the_machine_refuses_keeps_the_last_script() -> None:
    done = mend(REQUEST, DELTA, lambda text, _: [limit(9999)])
    assert isinstance(done, Mended)
    assert (done.plan.nodes, done.tries) == (2, 1)


def test_a_refused_request_stays_refused() -> None:
    assert isinstance(mend(JobRequest(machine="delta", strategy="ddp", nodes=2, queue="nowhere"), DELTA), Refusal)
