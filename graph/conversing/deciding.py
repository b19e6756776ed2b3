"""From a request to the script in hand: planned, written, checked by the nodes of the rules' way."""

from __future__ import annotations

from dataclasses import fields, replace

from langgraph.runtime import Runtime

from graph.context import Context
from graph.conversation.option_choice import usual
from graph.conversing.dangers import dangerous
from graph.conversing.hand import Hand
from graph.conversing.orders import unsaid
from graph.nodes.answer import script as announce
from graph.nodes.debug import debug
from graph.nodes.retrieve import retrieve
from graph.nodes.verify import verify
from graph.nodes.write import write
from graph.planning.questions import still_missing
from graph.planning.strategies import with_usual_framework
from graph.routes import after_verify
from graph.state import State, new_turn
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Assumption, JobRequest, LaunchPlan, OfferChoice, Refusal

UNSAID = "chosen for you, not said; say so if it is wrong"
MISSING = "nothing written; missing (ask the person, or give what you take: it is told as chosen for them):"
SAME = "the script has that already: nothing changed"


def decide(
    hand: Hand, request: JobRequest, cluster: Cluster, begins: State | None = None, costs: str = "", whole: bool = False
) -> str:
    """Plan, write, check; the state only changes where a script came out, or where something is missing.

    begins: what the thread takes over with the script (a source, no script of the person's own); costs: the price of
    what was ordered; whole: it is shown as a script, not as a change.
    """
    kept = hand.state
    start = State(**{**kept, **(begins or {})})
    request, chosen = (request, ()) if start.get("source") else with_usual(request, cluster)
    missing = () if start.get("source") else still_missing(request, cluster)
    if missing:
        if not kept.get("bundle"):
            hand.set(request=request)
        asked = [f"{one.field}: {one.text} {', '.join(one.options)}".strip() for one in missing]
        return "\n- ".join([MISSING, *asked])
    guessed = unsaid(hand, kept.get("request") or JobRequest(), request)
    taken = tuple(Assumption(name, str(getattr(request, name)), UNSAID) for name in guessed)
    taken = (*(one for one in taken if one.field not in {field.field for field in chosen}), *chosen)
    done = written(State(**{**start, "request": request}), hand.context)
    outcome, draft = done["outcome"], done.get("draft")
    if isinstance(outcome, Refusal):
        return refuse(hand, outcome, request, start)
    if not isinstance(outcome, LaunchPlan) or draft is None:
        raise InputError("no script came of it")
    if draft == kept.get("bundle") and not kept.get("own"):
        return SAME
    if bad := dangerous(draft.script):
        raise InputError(f"not written: {bad}")
    named = {one.field for one in taken}
    earlier = tuple(one for one in start.get("left_to_us", ()) if one.field not in named)
    given = State(**{**done, "left_to_us": (*earlier, *taken), "said": (), "reopened": False})
    if whole:
        given = State(**{**given, "bundle": None, "plan": None, "told": ()})
        hand.whole = True
    new = State(**{**announce(given, outcome, draft), "request": done["request"], "pending": None})
    source = State(source=done.get("source", ""), left_to_us=given["left_to_us"])
    return hand.adopt(State(**{**new, **source}), done, costs)


def with_usual(request: JobRequest, cluster: Cluster) -> tuple[JobRequest, tuple[Assumption, ...]]:
    """The request with the usual strategy of its framework where none was said, and that told."""
    request = with_usual_framework(request)
    question = next((one for one in still_missing(request, cluster) if one.field == "strategy"), None)
    if question is None or request.framework is None:
        return request, ()
    alone = 1 in (request.gpus_per_node, request.total_gpus) and request.nodes in (None, 1)
    value, why = ("none", "one GPU") if alone else usual(question, request, cluster)
    told = Assumption("strategy", str(value), f"not said, so what is usual for {request.framework}: {why}")
    return replace(request, strategy=value), (told,)  # type: ignore[arg-type]


def refuse(hand: Hand, refusal: Refusal, request: JobRequest, start: State) -> str:
    """What the machine cannot do; the ways round it stand as an offer, and the script in hand stands."""
    ways = [f"{at}. {way.says}" for at, way in enumerate(refusal.instead, 1)]
    if refusal.instead:
        refused = request if hand.state.get("bundle") else None
        if refused is None:
            hand.set(request=request)
        hand.set(pending=OfferChoice(refusal, refused), source=start.get("source", ""))
    told = f"REFUSED, nothing changed: {refusal.says} {refusal.why} {refusal.source or ''}"
    return "\n".join([told, *(["ways round it (offered to the person by number):", *ways] if ways else [])])


def is_refused(hand: Hand, request: JobRequest) -> bool:
    """Whether the machine cannot do that."""
    return isinstance(written(State(**{**hand.state, "request": request}), hand.context)["outcome"], Refusal)


def written(state: State, context: Context) -> State:
    """Plan, template, checks and their cures: the nodes of the rules' way, one after the other."""
    runtime = Runtime(context=replace(context, model=None))
    now = State(**{**new_turn(0, ""), **state, "outcome": None, "draft": None, "notes": (), "findings": (), "proof": (),
                   "tries": 1, "again": False, "said": (), "reopened": False})  # fmt: skip
    now = State(**{**now, **retrieve(now, runtime)})
    while not isinstance(now["outcome"], Refusal):
        now = State(**{**now, **write(now, runtime)})
        if isinstance(now["outcome"], Refusal):
            break
        now = State(**{**now, **verify(now, runtime)})
        if after_verify(now) == "answer":
            break
        now = State(**{**now, **debug(now, runtime)})
        if not now["again"]:
            break
    return now


def differing(one: JobRequest, other: JobRequest) -> tuple[str, ...]:
    """The fields that have another value."""
    return tuple(f.name for f in fields(JobRequest) if getattr(one, f.name) != getattr(other, f.name))
