"""Verify and mend, the pure part: the request as the worst finding with a cure would have it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from knowledge.types import Finding, JobRequest

MOST_TRIES = 5
FIELDS = frozenset(one.name for one in fields(JobRequest)) - {"heard", "machine", "source_machine"}


# GPUs a node follow from any of these: a mere warning does not overrule what was counted so.
COUNTS = frozenset(("nodes", "gpus_per_node", "total_gpus"))


def changed(request: JobRequest, findings: Iterable[Finding], *, carried: bool = False) -> JobRequest | None:
    """The request with what the worst finding that has a change says; one a round, because cures may meet.

    A warning changes nothing that was said. carried: the counts come from a person's own script.
    """
    counted = carried or request.gpus_per_node is not None or request.total_gpus is not None
    said = {name for name in FIELDS if getattr(request, name) is not None} | (COUNTS if counted else set())
    for finding in findings:
        change = {name: value for name, value in finding.change if name in FIELDS}
        mere = finding.severity == "info" or (finding.severity == "warning" and said & change.keys())
        if change and not mere:
            return replace(request, **change)  # type: ignore[arg-type]
    return None
