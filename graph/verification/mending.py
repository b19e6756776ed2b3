"""Verify and mend, the pure part: write, check, change what a finding says would cure it, write again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace

from graph.planning.plan import plan as decide
from graph.verification.checks import check as text_checks
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Finding, JobRequest, LaunchBundle, LaunchPlan, Refusal
from templates.render import render

MOST_TRIES = 5
FIELDS = frozenset(one.name for one in fields(JobRequest)) - {"heard", "machine", "source_machine"}
Check = Callable[[str, Cluster], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Mended:
    """The last script that could be written, what was cured on the way, and what is left. tries counts the scripts."""

    request: JobRequest
    plan: LaunchPlan
    bundle: LaunchBundle
    cured: tuple[Finding, ...]
    left: tuple[Finding, ...]
    tries: int


def mend(request: JobRequest, cluster: Cluster, check: Check = text_checks) -> Mended | Refusal:
    """At most five scripts. A change that the machine refuses, or that was tried before, ends it.

    Raises InputError as planning does, for the request as it was given.
    """
    made = write(request, cluster, check)
    if isinstance(made, Refusal):
        return made
    tried = {request}
    while made.tries < MOST_TRIES:
        wanted = changed(made.request, made.left)
        if wanted is None or wanted in tried:
            return made
        tried.add(wanted)
        try:
            following = write(wanted, cluster, check)
        except InputError:
            return made
        if isinstance(following, Refusal):
            return made
        gone = tuple(one for one in made.left if (one.rule, one.says) not in {(f.rule, f.says) for f in following.left})
        made = replace(following, cured=(*made.cured, *gone), tries=made.tries + 1)
    return made


def write(request: JobRequest, cluster: Cluster, check: Check) -> Mended | Refusal:
    outcome = decide(request, cluster)
    if isinstance(outcome, Refusal):
        return outcome
    bundle = render(outcome)
    return Mended(request, outcome, bundle, (), tuple(check(bundle.script, cluster)), 1)


def changed(request: JobRequest, findings: Iterable[Finding]) -> JobRequest | None:
    """The request with what the worst finding that has a change says; one a round, because cures may meet."""
    for finding in findings:
        change = {name: value for name, value in finding.change if name in FIELDS}
        if change and finding.severity != "info":
            return replace(request, **change)  # type: ignore[arg-type]
    return None
