"""Decide and write: the request becomes a plan, the plan a script. Or a refusal, with the ways round it."""

from __future__ import annotations

import re
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State
from graph.usecases.port_script import PortedScript, port_script
from graph.usecases.write_script import Open, Written, write_script
from knowledge.errors import InputError
from knowledge.types import LaunchBundle, Refusal


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
            draft = apart(ported.bundle, ported.plan.job_name, state)
            return State(outcome=ported.plan, draft=draft, findings=findings, notes=notes)
        case Written(plan, bundle, findings):
            return State(outcome=plan, draft=apart(bundle, plan.job_name, state), findings=findings)


def apart(bundle: LaunchBundle, job: str, state: State) -> LaunchBundle:
    """The script under a name of its own, where another job of this conversation has a file of that name."""
    others = [one.revisions[-1].bundle for one in state.get("jobs", ()) if one.revisions]
    taken = {other.name for other in others if other}
    stem, dot, suffix = bundle.name.rpartition(".")
    names = (f"{stem}-{job}{dot}{suffix}", *(f"{stem}-{job}-{n}{dot}{suffix}" for n in range(2, len(taken) + 3)))
    if bundle.name not in taken:
        return bundle
    name = next(one for one in names if one not in taken)
    script, submit = (re.sub(rf"(?<![\w.-]){re.escape(bundle.name)}(?![\w-])", name, text)
                      for text in (bundle.script, bundle.submit))  # fmt: skip
    return replace(bundle, name=name, script=script, submit=submit)
