"""From what went wrong to another request: a finding's cure, or what a diagnosis says the next script does differently.

Nothing is tried twice in a conversation, and at most five scripts are written in a turn.
"""

from __future__ import annotations

from dataclasses import replace

from langgraph.runtime import Runtime

from graph.context import Context
from graph.conversation.scripts import offered
from graph.debugging.advice import for_cluster
from graph.debugging.remedies import cured_request, offers
from graph.planning.strategies import with_usual_framework
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.types import Diagnosis, JobRequest, LaunchPlan, Offer, OfferEdit, Say

MOST_REMEMBERED = 50
NOTHING_SAFE = "The script stays as it is: what to change there is yours to decide."
TRIED = "I changed that before in this conversation and it did not help, so the script stays as it is."


def debug(state: State, runtime: Runtime[Context]) -> State:
    outcome, request = state["outcome"], state["request"]
    if isinstance(outcome, Diagnosis):
        cluster = runtime.context.cluster(request)
        return after_failure(state, outcome, cluster) if cluster else State(again=False)
    wanted = cured_request(request, state["findings"], carried=bool(state.get("source")))
    if wanted is None or key(wanted) in state.get("tried", ()):
        return State(again=False)
    return State(request=wanted, again=True, tries=state["tries"] + 1, tried=remember(state, wanted))


def after_failure(state: State, diagnosis: Diagnosis, cluster: Cluster) -> State:
    """The thread's own script: a cure that costs nothing is done, what costs is offered with its price."""
    request = as_planned(state["request"], state.get("plan"))
    known = for_cluster(diagnosis, cluster)
    found = [
        one for one in offers(known, cluster, request) if key(with_change(state["request"], one)) not in tried(state)
    ]
    free = next((one for one in found if not one.price), None)
    costly = tuple(one for one in found if one.price)
    said = state["said"] if any(isinstance(part, Diagnosis) for part in state["said"]) else (*state["said"], known)
    pending = OfferEdit(costly) if costly else None
    if free is None:
        told = Say(offered(costly) or (TRIED if state.get("tried") else NOTHING_SAFE))
        return State(again=False, outcome=known, diagnosed=known, said=(*said, told), pending=pending)
    wanted = with_change(state["request"], free)
    return State(
        request=wanted,
        again=True,
        outcome=None,
        diagnosed=known,
        pending=pending,
        tries=state["tries"] + 1,
        tried=remember(state, wanted),
        said=(*said, Say(f"I changed that: {free.says}.")),
    )


def tried(state: State) -> tuple[str, ...]:
    return tuple(state.get("tried", ()))


def as_planned(request: JobRequest, plan: LaunchPlan | None) -> JobRequest:
    """The request with the values that planning chose for it, so that a change starts from what really ran."""
    if plan is None:
        return request
    return with_change_of(request, {name: getattr(plan, name) for name in ("walltime", "queue", "nodes", "strategy")})


def with_change(request: JobRequest, offer: Offer) -> JobRequest:
    """The request changed; a framework that only followed from the strategy follows the new one."""
    change = dict(offer.change)
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
