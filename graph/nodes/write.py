"""Decide and write: the request becomes a plan, the plan a script. Or a refusal, with the ways round it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.planning.plan import plan
from graph.state import State
from knowledge.errors import InputError
from knowledge.types import Alternative, JobRequest, Refusal
from templates.render import render


def write(state: State, runtime: Runtime[Context]) -> State:
    request = state["request"]
    cluster = runtime.context.cluster(request)
    if cluster is None:
        return State(outcome=unknown_machine(request, runtime.context))
    try:
        decided = plan(request, cluster)
        if isinstance(decided, Refusal):
            return State(outcome=decided)
        return State(outcome=decided, draft=render(decided))
    except InputError as error:
        return State(
            outcome=Refusal("I cannot write that into a script.", f"{str(error)[:1].upper()}{str(error)[1:]}.")
        )


def unknown_machine(request: JobRequest, context: Context) -> Refusal:
    """The machine is not in the catalogue: the nearest names, and how to add it."""
    near = context.catalogue.nearest(request.machine or "")
    return Refusal(
        f"I know no machine called '{request.machine}'.",
        "`/clusters` (or `maple-chat clusters`) lists those that I know; a file adds another: docs/add-a-cluster.md.",
        instead=tuple(Alternative(f"{name} was meant", (("machine", name),)) for name in near),
    )
