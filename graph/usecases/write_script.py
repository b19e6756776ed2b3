"""A request becomes a script that is checked against the machine's facts; or questions; or a refusal with its ways."""

from __future__ import annotations

from dataclasses import dataclass

from graph.planning.patches import with_patches
from graph.planning.plan import ACCOUNT_PLACEHOLDER, plan
from graph.planning.questions import still_missing
from graph.planning.strategies import with_usual_framework
from graph.verification.checks import check
from knowledge.cluster import Cluster
from knowledge.types import Finding, JobRequest, LaunchBundle, LaunchPlan, Question, Refusal
from templates.render import render


@dataclass(frozen=True, slots=True)
class Written:
    """What was decided, the script of it, and what the checks find in its text."""

    plan: LaunchPlan
    bundle: LaunchBundle
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Open:
    """What has to be known first, most telling first."""

    questions: tuple[Question, ...]


def write_script(request: JobRequest, cluster: Cluster) -> Written | Open | Refusal:
    """Plan, write, check. Pure. Raises InputError on a value that no script can hold."""
    missing = still_missing(request, cluster)
    if missing:
        return Open(missing)
    decided = plan(with_usual_framework(request), cluster)
    if isinstance(decided, Refusal):
        return decided
    decided, bundle = with_patches(decided, render(decided), request.patches)
    return Written(decided, bundle, findings_of(bundle, cluster))


def findings_of(bundle: LaunchBundle, cluster: Cluster) -> tuple[Finding, ...]:
    """What the checks find; a placeholder account is pointed out before everything else, and not again here."""
    lines = bundle.script.splitlines()
    found = (one for one in check(bundle.script, cluster) if one.severity != "info")
    return tuple(one for one in found if ACCOUNT_PLACEHOLDER not in "".join(lines[max(0, one.line - 1) : one.line]))
