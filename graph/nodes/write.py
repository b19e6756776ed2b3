"""Decide and write: the request becomes a plan, the plan a script. Or a refusal, with the ways round it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State
from graph.usecases.port_script import PortedScript, port_script
from graph.usecases.write_script import Open, Written, write_script
from knowledge.errors import InputError
from knowledge.types import Refusal


def write(state: State, runtime: Runtime[Context]) -> State:
    request, source = state["request"], state.get("source")
    cluster = runtime.context.cluster(request)
    if cluster is None:
        raise ValueError(f"no facts of {request.machine}: retrieve lets no such request through")
    try:
        made = port_script(source, cluster, request) if source else write_script(request, cluster)
    except InputError as error:
        reason = str(error)
        return State(outcome=Refusal("I cannot write that into a script.", f"{reason[:1].upper()}{reason[1:]}."))
    match made:
        case Refusal():
            return State(outcome=made)
        case Open():
            raise ValueError(f"{made.questions[0].field} is open: ask lets no such request through")
        case PortedScript(ported, findings):
            notes = tuple(note.says for note in ported.notes)
            return State(outcome=ported.plan, draft=ported.bundle, findings=findings, notes=notes)
        case Written(plan, bundle, findings):
            return State(outcome=plan, draft=bundle, findings=findings)
