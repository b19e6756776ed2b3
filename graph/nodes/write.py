"""Decide and write: the request becomes a plan, the plan a script. Or a refusal, with the ways round it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.carried import ported
from graph.context import Context
from graph.planning.plan import plan
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import JobRequest, Refusal
from templates.render import render


def write(state: State, runtime: Runtime[Context]) -> State:
    request = state["request"]
    cluster = runtime.context.cluster(request)
    if cluster is None:
        raise ValueError(f"no facts of {request.machine}: retrieve lets no such request through")
    try:
        if state.get("source"):
            return carry(state["source"], cluster, request)
        decided = plan(request, cluster)
        if isinstance(decided, Refusal):
            return State(outcome=decided)
        return State(outcome=decided, draft=render(decided))
    except InputError as error:
        reason = str(error)
        return State(outcome=Refusal("I cannot write that into a script.", f"{reason[:1].upper()}{reason[1:]}."))


def carry(source: str, cluster: Cluster, request: JobRequest) -> State:
    """The person's own script, for this machine."""
    made = ported(source, cluster, request)
    if isinstance(made, Refusal):
        return State(outcome=made)
    return State(outcome=made.plan, draft=made.bundle, notes=tuple(note.says for note in made.notes))
