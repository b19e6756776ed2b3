"""The request as it stands, field by field: said, assumed (and why), or missing."""

from __future__ import annotations

from assistant.events import Chip, Known
from knowledge.types import Assumption, JobRequest, LaunchPlan

# Field of the request -> field of the plan, in the order people think of them.
FIELDS = {
    "machine": "title",
    "framework": "framework",
    "strategy": "strategy",
    "nodes": "nodes",
    "gpus_per_node": "ranks_per_node",
    "node_type": "node_type",
    "walltime": "walltime",
    "queue": "queue",
    "account": "account",
}
# Shown only where it was asked for: most queues have one kind of node.
ONLY_SAID = frozenset({"node_type"})
# Missing only where nothing else can fill it: the machine's facts give the rest.
NEEDED = frozenset({"machine", "framework", "strategy", "nodes"})


def known(request: JobRequest, plan: LaunchPlan | None, left_to_us: tuple[Assumption, ...]) -> Known:
    """The chips. A value that we chose counts as assumed, also after it went into the request."""
    reasons = {a.field: a.why for a in (*(plan.assumptions if plan else ()), *left_to_us)}
    chips = (chip(name, request, plan, reasons) for name in FIELDS)
    return Known(tuple(c for c in chips if c is not None))


def chip(name: str, request: JobRequest, plan: LaunchPlan | None, reasons: dict[str, str]) -> Chip | None:
    said = getattr(request, name)
    decided = getattr(plan, FIELDS[name]) if plan else None
    value = said if said is not None else decided
    if value is None and name == "nodes" and request.total_gpus is not None:
        return Chip("total_gpus", str(request.total_gpus), "known")
    if value in (None, "") or (said is None and name in ONLY_SAID):
        return Chip(name, "", "missing") if name in NEEDED else None
    if said is not None and name not in reasons:
        return Chip(name, str(value), "known")
    return Chip(name, str(decided if decided is not None else value), "assumed", reasons.get(name, "by the facts"))
