"""Look into the template library: a script that worked there before."""

from __future__ import annotations

from typing import cast

from langgraph.runtime import Runtime

from graph.context import Context
from graph.planning.strategies import with_usual_framework
from graph.state import State
from graph.undescribed import slips
from knowledge.types import Alternative, Framework, Refusal
from templates.records import RUNS, Saved, Template


def retrieve(state: State, runtime: Runtime[Context]) -> State:
    request, context = state["request"], runtime.context
    if context.cluster(request) is None:
        return State(outcome=misspelt(request.machine or "", slips(request.machine or "", context.catalogue)))
    request = with_usual_framework(request)
    if request.framework not in RUNS:
        return State()
    found = context.library.choose(
        cluster=request.machine,
        framework=cast(Framework, request.framework),
        strategy=request.strategy,
        saved_only=True,
    )
    return State(notes=(worked_before(found[0]),)) if found else State()


def misspelt(name: str, near: tuple[str, ...]) -> Refusal:
    says = f"I know no machine called '{name}'."
    why = "`/clusters` (or `maple-chat clusters`) lists those that I know."
    return Refusal(says, why, instead=tuple(Alternative(f"{one} was meant", (("machine", one),)) for one in near))


def worked_before(template: Template) -> str:
    """A saved script for the same machine, framework and strategy: named, so that the person can compare."""
    evidence = template.provenance.evidence if isinstance(template.provenance, Saved) else ""
    backed = f" ({evidence})" if evidence else ""
    return f"A script for this was saved as {template.id}{backed}: `maple-chat templates show {template.id}`."
