"""From what went wrong to another request: a finding's cure, or what a diagnosis says the next script does differently.

Nothing is tried twice in a conversation, and at most five scripts are written in a turn.
"""

from __future__ import annotations

from dataclasses import replace

from langgraph.runtime import Runtime

from graph.context import Context
from graph.debugging.advice import for_cluster
from graph.debugging.revise import revise
from graph.planning.strategies import with_usual_framework
from graph.state import State
from graph.verification.mending import changed
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, JobRequest, LaunchPlan, Say

MOST_REMEMBERED = 50
NOTHING_SAFE = "The script stays as it is: what to change there is yours to decide."
YOURS_TO_USE = "The new script is for {}: your program has to be written for it."
TRIED = "I changed that before in this conversation and it did not help, so the script stays as it is."


def debug(state: State, runtime: Runtime[Context]) -> State:
    outcome, request = state["outcome"], state["request"]
    if isinstance(outcome, Diagnosis):
        cluster = runtime.context.cluster(request)
        return after_failure(state, outcome, cluster) if cluster else State(again=False)
    wanted = changed(request, state["findings"], carried=bool(state.get("source")))
    if wanted is None or key(wanted) in state.get("tried", ()):
        return State(again=False)
    return State(request=wanted, again=True, tries=state["tries"] + 1, tried=remember(state, wanted))


def after_failure(state: State, diagnosis: Diagnosis, cluster: Cluster) -> State:
    """The thread's own script, changed as the diagnosis says; the diagnosis is said first, with the machine's steps."""
    request, plan = state["request"], state.get("plan")
    known = revise(for_cluster(diagnosis, cluster), cluster, as_planned(request, plan))
    wanted = with_change(request, known)
    if wanted == request:
        return State(again=False, said=(*state["said"], known, Say(NOTHING_SAFE)))
    if key(wanted) in state.get("tried", ()):
        return State(again=False, said=(*state["said"], known, Say(TRIED)))
    ours = (Say(YOURS_TO_USE.format(wanted.strategy)),) if wanted.strategy != request.strategy else ()
    return State(
        request=wanted,
        again=True,
        outcome=None,
        tries=state["tries"] + 1,
        tried=remember(state, wanted),
        said=(*state["said"], known, *ours),
    )


def as_planned(request: JobRequest, plan: LaunchPlan | None) -> JobRequest:
    """The request with the values that planning chose for it, so that a change starts from what really ran."""
    if plan is None:
        return request
    return with_change_of(request, {name: getattr(plan, name) for name in ("walltime", "queue", "nodes", "strategy")})


def with_change(request: JobRequest, diagnosis: Diagnosis) -> JobRequest:
    """The request changed; a framework that only followed from the strategy follows the new one."""
    change = dict(diagnosis.change)
    if "strategy" in change and request.framework in ("pytorch", "deepspeed"):
        change["framework"] = None
    return with_usual_framework(with_change_of(request, change)) if change else request


def with_change_of(request: JobRequest, change: dict[str, str | int | None]) -> JobRequest:
    return replace(request, **change)  # type: ignore[arg-type]


def key(request: JobRequest) -> str:
    """What was tried, as text that a checkpoint keeps."""
    fields = ("machine", "framework", "strategy", "nodes", "gpus_per_node", "walltime", "account", "queue", "args")
    return " ".join(f"{name}={getattr(request, name)}" for name in fields)


def remember(state: State, wanted: JobRequest) -> tuple[str, ...]:
    return (*state.get("tried", ()), key(state["request"]), key(wanted))[-MOST_REMEMBERED:]
