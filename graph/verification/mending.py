"""Verify and mend, the pure part: the request as the worst finding with a cure would have it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from knowledge.types import Finding, JobRequest

MOST_TRIES = 5
FIELDS = frozenset(one.name for one in fields(JobRequest)) - {"heard", "machine", "source_machine"}


def changed(request: JobRequest, findings: Iterable[Finding]) -> JobRequest | None:
    """The request with what the worst finding that has a change says; one a round, because cures may meet."""
    for finding in findings:
        change = {name: value for name, value in finding.change if name in FIELDS}
        if change and finding.severity != "info":
            return replace(request, **change)  # type: ignore[arg-type]
    return None
