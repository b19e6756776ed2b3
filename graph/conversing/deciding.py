"""From a request to the script in hand: planned, written, checked by the nodes of the rules' way."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import chain, combinations, islice
from typing import Any, get_args, get_type_hints

from langgraph.runtime import Runtime

from graph.context import Context
from graph.conversation.option_choice import usual
from graph.conversing.dangers import dangerous
from graph.conversing.ground import stands
from graph.conversing.hand import Hand, differing, in_short
from graph.conversing.orders import GAPS, WEIGHTY, unsaid, with_each
from graph.debugging.remedies import price
from graph.nodes.answer import script as announce
from graph.nodes.debug import as_planned, debug
from graph.nodes.retrieve import retrieve
from graph.nodes.verify import verify
from graph.nodes.write import write
from graph.planning.charging import amount, in_site_unit, node_hours
from graph.planning.patches import patched, patches_between, standing
from graph.planning.questions import still_missing
from graph.planning.request_fields import FIELDS
from graph.planning.strategies import with_usual_framework
from graph.reading.message import DIRECTIVE
from graph.routes import after_verify
from graph.state import State, new_turn
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.job_parts import Patch
from knowledge.types import Alternative, Assumption, JobRequest, LaunchBundle, LaunchPlan, OfferChoice, Refusal

NOT_SAID = "not said"
UNSAID = f"chosen for you, {NOT_SAID}; say so if it is wrong"
MISSING = "nothing written; missing (ask the person, or give what you take: it is told as chosen for them):"
NOT_DONE = "not done: {}={}: the script is the same with and without it; tell the person, or give it as a patch"
ACCOUNT_OPEN = "{} Its line is a placeholder now: tell the person which one they need there, and what they had."
NOT_FIELD = "not done: {}={}: {}"
# Fields that a plan holds as they were given.
PLANNED = ("framework", "strategy", "nodes", "walltime", "queue", "account", "entry", "args")
# What a job's size is made of, which one order gives together.
SIZE = ("nodes", "gpus_per_node", "walltime", "queue")
# Plans that are tried to find the fields that go together.
MOST_TRIED = 40
HINTS = get_type_hints(JobRequest)
SAME = "the script has that already: nothing changed"


def decide(
    hand: Hand,
    request: JobRequest,
    cluster: Cluster,
    begins: State | None = None,
    costs: str = "",
    whole: bool = False,
    given: Mapping[str, Any] | None = None,
    apart: Sequence[str] = (),
) -> str:
    """Plan, write, check; the state only changes where a script came out, or where something is missing.

    begins: what the thread takes over with the script (a source, no script of the person's own); costs: the price of
    what was ordered; whole: it is a script of its own, no change; given: the fields that the call gave,
    with their values, of which each is in the script or told as not done; apart: the fields that are tried here after
    the others of the call.
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
    if patches := left_empty(given or {}, done):
        request = replace(request, patches=(*request.patches, *patches))
        done = written(State(**{**start, "request": request}), hand.context)
    outcome, draft = done["outcome"], done.get("draft")
    if isinstance(outcome, Refusal):
        if request.account and "account" not in (given or {}) and is_of_account(outcome):
            open_ = replace(request, account=None)  # what was ordered is done, and the account left to the person
            told = decide(hand, open_, cluster, begins, costs, whole, given, apart)
            return f"{ACCOUNT_OPEN.format(outcome.says)}\n{told}"
        return refuse(hand, outcome, request, start, apart)
    if not isinstance(outcome, LaunchPlan) or draft is None:
        raise InputError("no script came of it")
    dropped = not_done(hand, given or {}, request, State(**{**start, "request": request}), done)
    told_of = [NOT_DONE.format(name, value) for name, value in dropped]
    if draft == kept.get("bundle") and not kept.get("own"):
        so = [f"{one.field}={one.value}: {one.why}" for one in outcome.assumptions if one.field in (given or {})]
        return "\n".join([*told_of, *so]) or SAME
    if bad := dangerous(draft.script):
        raise InputError(f"not written: {bad}")
    # What was chosen before is told no more once the person says it, or something else.
    blank = replace(request, **dict.fromkeys(WEIGHTY))  # type: ignore[arg-type]
    settled = {one.field for one in taken} | (set(WEIGHTY) - set(unsaid(hand, blank, request)))
    earlier = tuple(one for one in start.get("left_to_us", ()) if one.field not in settled)
    made = State(**{**done, "left_to_us": (*earlier, *taken), "said": (), "reopened": False})
    if whole:
        made = State(**{**made, "bundle": None, "plan": None, "told": ()})
    kept_request = replace(done["request"], patches=folded(hand, State(**{**start, "request": done["request"]}), draft))
    new = State(**{**announce(made, outcome, draft), "request": kept_request, "pending": None})
    source = State(source=done.get("source", ""), left_to_us=made["left_to_us"])
    told = hand.adopt(State(**{**new, **source}), done, costs)
    hand.left_out.update((name, value) for name, value in dropped if name != "model")
    return "\n".join([*told_of, told])


def is_of_account(refusal: Refusal) -> bool:
    """Whether another account is the only way round a refusal."""
    return bool(refusal.instead) and all([name for name, _ in way.change] == ["account"] for way in refusal.instead)


def folded(hand: Hand, start: State, draft: LaunchBundle) -> tuple[Patch, ...]:
    """The changes of lines as the script has them. Where one changed what another had put in, neither finds its place
    in the next script by itself: they are taken anew, as what sets the script apart from the rendered one."""
    request = start["request"]
    kept = standing(draft.script, request.patches)
    if not request.patches:
        return kept
    plain = written(State(**{**start, "request": replace(request, patches=())}), hand.context).get("draft")
    if plain is None or patched(plain.script, kept) == (draft.script, ()):
        return kept
    return patches_between(plain.script, draft.script)


def left_empty(given: Mapping[str, Any], done: State) -> tuple[Patch, ...]:
    """What takes the placeholders' lines out of a script for fields that were given as empty."""
    draft = done.get("draft")
    marks = [mark for name, mark in GAPS.items() if given.get(name) == ""]
    if draft is None or not marks:
        return ()
    rows = draft.script.splitlines()
    left = [row for row in rows if not (DIRECTIVE.match(row) and any(one in row for one in marks))]
    return patches_between(draft.script, "\n".join(left)) if left != rows else ()


def not_done(
    hand: Hand, given: Collection[str], request: JobRequest, start: State, done: State
) -> list[tuple[str, str]]:
    """Of the fields that were given, with their values, those without which the script is the same, and was not decided
    so anyhow."""
    before, plan = hand.state.get("request") or JobRequest(), done["outcome"]
    written_down = done["draft"].script.lower() if done["draft"] else ""
    told = []
    for name in (one for one in differing(before, request) if one in given):
        value, blank = getattr(request, name), getattr(JobRequest(), name)
        if value in (None, "", ()) or (name in PLANNED and getattr(plan, name) == value):
            continue
        if name == "dependency" and request.chain:  # how its jobs follow each other: `afterany` goes without saying
            continue
        words = value if isinstance(value, tuple) else (value,)
        if all(isinstance(one, str) and not one.isdigit() and stands(one, written_down) for one in words):
            continue  # it is there, whoever put it there
        old = getattr(before, name) if getattr(before, name) != value else blank
        varied = replace(request, **{name: old})
        if is_open(hand, varied, start):
            continue  # without it there would be no script
        without = written(State(**{**start, "request": varied}), hand.context)
        usual = getattr(without["outcome"], "assumptions", ())
        decided = (name, str(value)) in {(a.field, a.value) for a in usual}
        if without.get("draft") == done["draft"] and not decided and not counts(hand, name, request, start, done):
            told.append((name, in_short(value) or "(none)"))
    return told


def is_open(hand: Hand, request: JobRequest, start: State) -> bool:
    """Whether a request leaves open what nobody decides for the person."""
    return not start.get("source") and bool(still_missing(request, hand.cluster_of(request)))


def counts(hand: Hand, name: str, request: JobRequest, start: State, done: State) -> bool:
    """Whether another value would make another script, or none: then this one is in it, as what is usual anyhow."""
    value = getattr(request, name)
    other = another(name, value)
    if other is not None:
        varied = replace(request, **{name: other})  # type: ignore[arg-type]
        if is_open(hand, varied, start) or draft_of(hand, varied, start) != done["draft"]:
            return True
    draft = done["draft"]
    if type(value) is not int or value < 2 or draft is None:
        return False
    # One more may be more than there is: then half of it makes other lines of those that tell the number.
    half = draft_of(hand, replace(request, **{name: value // 2}), start)  # type: ignore[arg-type]
    rows = set(draft.script.splitlines()) - set(half.script.splitlines()) if half else ()
    return any(re.search(rf"(?<!\d){value}(?!\d)", row) for row in rows)


def draft_of(hand: Hand, request: JobRequest, start: State) -> LaunchBundle | None:
    """What is written for a request; None where it cannot be had."""
    made = written(State(**{**start, "request": request}), hand.context)
    return None if isinstance(made["outcome"], Refusal) else made.get("draft")


def another(name: str, value: object) -> object:
    """Another value that the field may have, of its parts where it has some; None where no such is known."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {one.name: another("", getattr(value, one.name)) for one in fields(value)}
        return next((replace(value, **{part: new}) for part, new in reversed(parts.items()) if new is not None), None)
    hint = HINTS.get(name, str)
    hints = [get_args(one) or (one,) for one in (hint, *get_args(hint))]
    literal = next((values for values in hints if value in values and all(isinstance(v, str) for v in values)), ())
    if literal:
        return next((one for one in literal if one != value), None)
    return value + 1 if type(value) is int else f"{value}-other" if isinstance(value, str) else None


def with_usual(request: JobRequest, cluster: Cluster) -> tuple[JobRequest, tuple[Assumption, ...]]:
    """The request with the usual strategy of its framework where none was said, and that told."""
    request = with_usual_framework(request)
    question = next((one for one in still_missing(request, cluster) if one.field == "strategy"), None)
    if question is None or request.framework is None:
        return request, ()
    alone = 1 in (request.gpus_per_node, request.total_gpus) and request.nodes in (None, 1)
    value, why = ("none", "one GPU") if alone else usual(question, request, cluster)
    if value == "3d":  # no size of a model asks for it, and none was given
        value, why = "ddp", "the parallel sizes are your program's own; tensor_parallel, pipeline_parallel set them"
    told = Assumption("strategy", str(value), f"{NOT_SAID}, so what is usual for {request.framework}: {why}")
    return replace(request, strategy=value), (told,)  # type: ignore[arg-type]


def refuse(hand: Hand, refusal: Refusal, request: JobRequest, start: State, apart: Sequence[str] = ()) -> str:
    """What the machine cannot do; the ways round it stand as an offer, and the script in hand stands."""
    ways = [f"{at}. {way.says}{costs_of(hand, request, way)}" for at, way in enumerate(refusal.instead, 1)]
    if refusal.instead and not hand.offers:
        refused = request if hand.state.get("bundle") else None
        if refused is None:
            hand.set(request=request)
        hand.set(pending=OfferChoice(refusal, refused), source=start.get("source", ""))
    what = f"{', '.join(apart)} not changed, the other fields are" if apart else "nothing changed"
    told = f"REFUSED, {what}: {refusal.says} {refusal.why} {refusal.source or ''}"
    return "\n".join([told, *(["ways round it (offered to the person by number):", *ways] if ways else [])])


def costs_of(hand: Hand, request: JobRequest, way: Alternative) -> str:
    """The price of a way round a refusal: against the script in hand, or all of it where there is none."""
    wanted, plan = replace(request, **dict(way.change)), hand.state.get("plan")  # type: ignore[arg-type]
    cluster = hand.context.cluster(wanted)
    cost = price(as_planned(hand.request, plan), wanted, cluster) if hand.state.get("bundle") else ""
    hours = node_hours(wanted)
    all_of_it = (
        ", ".join(filter(None, [f"up to {amount(hours)} node hours", in_site_unit(wanted, cluster)])) if hours else ""
    )
    return f" ({cost or all_of_it})" if cost or all_of_it else ""


def is_refused(hand: Hand, request: JobRequest, begins: State | None = None) -> bool:
    """Whether the machine cannot do that."""
    start = State(**{**hand.state, **(begins or {}), "request": request})
    return isinstance(written(start, hand.context)["outcome"], Refusal)


def as_much(
    hand: Hand, base: JobRequest, wanted: JobRequest, names: Collection[str], begins: State | None = None
) -> tuple[JobRequest, tuple[str, ...]]:
    """The request with as many of the named fields as go together, and the fields that do not go with them.

    base: the request without any of them. What was not ordered is left out first.
    """
    open_ = unsaid(hand, base, wanted)
    changed = sorted((one for one in differing(base, wanted) if one in names), key=lambda one: one not in open_)
    if not changed or not is_refused(hand, wanted, begins):
        return wanted, ()
    groups = chain.from_iterable(combinations(changed, size) for size in range(1, len(changed)))
    for left in islice(groups, MOST_TRIED):
        tied = ("framework", "strategy") if {"framework", "strategy"} & set(left) else ()
        tried = replace(wanted, **{name: getattr(base, name) for name in (*left, *tied)})
        if not is_refused(hand, tried, begins):
            return (tried, left) if set(left) <= set(open_) else as_a_whole(hand, base, tried, wanted, left)
    return (wanted, ()) if is_refused(hand, base, begins) else (base, tuple(changed))


def as_a_whole(
    hand: Hand, base: JobRequest, fitting: JobRequest, wanted: JobRequest, left: tuple[str, ...]
) -> tuple[JobRequest, tuple[str, ...]]:
    """The fields of a job's size are one order: where one of them cannot be beside the others, none is done.

    A queue that the machine does not have is no part of it.
    """
    unknown = wanted.queue is not None and hand.cluster_of(wanted).queue(wanted.queue) is None
    if not set(left) & set(SIZE) or unknown:
        return fitting, left
    also = tuple(name for name in differing(base, fitting) if name in SIZE)
    return replace(fitting, **{name: getattr(base, name) for name in also}), (*left, *also)


def taken(
    hand: Hand, start: JobRequest, given: Mapping[str, Any], extra: Collection[str], begins: State
) -> tuple[JobRequest, tuple[str, ...], list[str]]:
    """A new job's request out of what was given, without those of the extra fields that cannot be, which are told.

    start: what holds before; begins: what the thread takes over with the script.
    """
    request, refused = with_each(hand, start, given)
    cluster = hand.cluster_of(request)
    told = [NOT_FIELD.format(name, in_short(given[name]), why) for name, why in refused.items()]
    usual = request if begins.get("source") else with_usual(request, cluster)[0]
    if not begins.get("source") and still_missing(usual, cluster):
        return request, (), told
    loose = [name for name in extra if name in FIELDS and name not in WEIGHTY]  # its size is the job itself
    base = replace(usual, **{name: getattr(start, name) for name in loose})
    fitting, left = as_much(hand, base, usual, loose, begins)
    for name in left:
        one = replace(fitting, **{name: getattr(usual, name)})
        outcome = written(State(**{**hand.state, **begins, "request": one}), hand.context)["outcome"]
        why = f"{outcome.says} {outcome.why}" if isinstance(outcome, Refusal) else "it does not go with the others"
        told.append(NOT_FIELD.format(name, in_short(given[name]), why))
    return (replace(request, **{name: getattr(start, name) for name in left}) if left else request), left, told


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
