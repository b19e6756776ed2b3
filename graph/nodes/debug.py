"""From what went wrong to another request: a finding's cure, or what a diagnosis says the next script does differently.

Nothing is tried twice in a conversation, and at most five scripts are written in a turn.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from langgraph.runtime import Runtime

from graph.context import Context
from graph.conversation.scripts import offered
from graph.debugging.advice import for_cluster
from graph.debugging.remedies import cured_request, offers
from graph.planning.patches import patches_between
from graph.planning.strategies import with_usual_framework
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Diagnosis, JobRequest, LaunchPlan, Offer, OfferEdit, Say, Variable

if TYPE_CHECKING:
    from graph.usecases.mend_script import Mended

MOST_REMEMBERED = 50
NOTHING_SAFE = "The script stays as it is: what to change there is yours to decide."
TRIED = "I changed that before in this conversation and it did not help, so the script stays as it is."
FOR_CURE = "against the failure that was told of"
EXPORT = re.compile(r"""export (?P<name>\w+)=(?P<value>(?P<plain>[^\s"'`;&|()]+)|"(?P<quoted>[^"`\\]*)")""")
CHANGED = "I changed that: {}."


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
    """What was told of a failure, and the thread's own script without it."""
    known = for_cluster(diagnosis, cluster)
    said = state["said"] if any(isinstance(part, Diagnosis) for part in state["said"]) else (*state["said"], known)
    cured = cure(state, known, cluster)
    told = cured["said"] or (Say(TRIED if state.get("tried") else NOTHING_SAFE),)
    return State(**{**cured, "outcome": None if cured["again"] else known, "diagnosed": known, "said": (*said, *told)})


def cure(state: State, known: Diagnosis, cluster: Cluster) -> State:
    """The thread's own script: a cure that costs nothing is done, what costs is offered with its price; nothing is said
    where there is neither."""
    request = as_planned(state["request"], state.get("plan"))
    found = [
        one for one in offers(known, cluster, request) if key(with_change(state["request"], one)) not in tried(state)
    ]
    free = next((one for one in found if not one.price), None)
    mended = None if free else in_text(state, known, cluster)
    costly = (*(one for one in found if one.price), *(mended.offers if mended else ()))
    pending = OfferEdit(costly) if costly else None
    if free is None and not (mended and mended.diff):
        return State(again=False, said=(Say(offered(costly)),) if costly else (), pending=pending)
    wanted = with_change(state["request"], free) if free else with_text(state, mended.text if mended else "")
    return State(
        request=wanted,
        again=True,
        pending=pending,
        tries=state["tries"] + 1,
        tried=remember(state, wanted) if free else tried(state),
        said=(Say(CHANGED.format((free.says if free else mended.says if mended else "").rstrip("."))),),
    )


def in_text(state: State, known: Diagnosis, cluster: Cluster) -> Mended | None:
    """What the cause's remedies make of our script's text where no field of the request cures it; offers as patches.

    Of the costly ones only lines to be tried: what changes a field is offered by the request.
    """
    bundle = state.get("bundle")
    if bundle is None:
        return None
    from graph.usecases.mend_script import mend_script

    try:
        made = mend_script(bundle.script, known, cluster, bundle.name)
    except InputError:
        return None
    lines = (one for one in made.offers if one.script and not one.change and not one.price)
    tries = tuple(replace(one, script="", patches=patches_between(made.text, one.script)) for one in lines)
    return replace(made, offers=tries)


def with_text(state: State, text: str) -> JobRequest:
    """The request with what turns the script in hand into that text: new variables as such, all else as patches."""
    request, bundle = state["request"], state["bundle"]
    patches = patches_between(bundle.script if bundle else "", text)
    set_now = [EXPORT.fullmatch(row) for one in patches for row in one.new]
    if all(not one.old for one in patches) and all(set_now):
        new = tuple(
            Variable(one["name"], one["plain"] or one["quoted"], FOR_CURE, expand="$" in one["value"])
            for one in set_now if one
        )  # fmt: skip
        return replace(request, variables=(*request.variables, *new))
    return replace(request, patches=(*request.patches, *patches))


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
