"""What a finding's cure makes of a request. The loop around it is tested in tests/graph/test_proving.py."""

from __future__ import annotations

from graph.debugging.remedies import cured_request as changed
from knowledge.types import Finding, JobRequest, Severity

REQUEST = JobRequest(machine="delta", strategy="ddp", nodes=2)


def finding(severity: Severity, *change: tuple[str, str | int | None]) -> Finding:
    return Finding("made-up", severity, 1, "Something is wrong.", "A test wants it.", None, change)


def test_the_first_cure_is_taken_alone() -> None:
    found = [finding("error"), finding("error", ("nodes", 1)), finding("warning", ("walltime", "01:00:00"))]
    assert changed(REQUEST, found) == JobRequest(machine="delta", strategy="ddp", nodes=1)


def test_nothing_changes_without_a_cure() -> None:
    assert changed(REQUEST, [finding("error")]) is None
    assert changed(REQUEST, [finding("info", ("nodes", 1))]) is None


def test_the_machine_is_never_changed_by_a_cure() -> None:
    assert changed(REQUEST, [finding("error", ("machine", "frontier"))]) is None
    assert changed(REQUEST, [finding("error", ("not_a_field", 1))]) is None


def test_a_warning_does_not_overrule_what_was_said() -> None:
    idle = [finding("warning", ("gpus_per_node", 8))]
    assert changed(JobRequest(machine="frontier", nodes=2, gpus_per_node=4), idle) is None
    assert changed(JobRequest(machine="frontier", total_gpus=16), idle) is None
    assert changed(REQUEST, idle, carried=True) is None
    assert changed(REQUEST, idle) == JobRequest(machine="delta", strategy="ddp", nodes=2, gpus_per_node=8)
    wrong = [finding("error", ("gpus_per_node", 8))]
    assert changed(JobRequest(machine="frontier", nodes=2, gpus_per_node=4), wrong)
