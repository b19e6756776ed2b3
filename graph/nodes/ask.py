"""Ask for the most telling thing that is missing: one question, with the choices that this machine offers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from graph.context import Context
from graph.conversation.option_choice import by_its_sum, nodes_of_plan, usual
from graph.extraction.request import machines_in
from graph.nodes.answer import ask_of, asking, in_words
from graph.planning.questions import machines_of_account, machines_that_fit, still_missing
from graph.state import State
from knowledge.cluster import Cluster
from knowledge.types import AskField, Assumption, JobRequest, Question, Said, Say

# How a field is called where an answer could not be read.
WORDS = {"machine": "a machine", "framework": "a framework", "strategy": "a strategy", "nodes": "a number of nodes"}

MOST_QUOTED = 120
# What tells of a job that somebody has: a program, a model, a size, a time, an account.
CONCRETE = ("entry", "model", "walltime", "account", "total_gpus", "gpus_per_node", "nodes")
LARGE = re.compile(r"\b(big|bigger|large|huge|giant|massive|llm|foundation|billions?|\d+ ?b)\b", re.I)
ITS_ACCOUNT = "your account has the form of that machine's"
WEIGHED = "the plan before takes it; name another to have it there"
YOURS = "of the machines that you have, the one for this job"
SUGGESTED = (
    "For a model that does not fit on one GPU I suggest PyTorch with FSDP, on one node first, and more once that runs; "
    "for one that fits, DDP. Say *you choose* to any question that is open to you."
)


def ask(state: State, runtime: Runtime[Context]) -> State:
    request, before = state["request"], open_question(state)
    cluster = runtime.context.cluster(request)
    said: list[Said] = list(state["said"])
    if request.machine and cluster is None:
        return State(pending=None)  # a slip of the pen: which machine was meant is said where it would be written
    offered, why = machines(state, runtime.context)
    if request.machine is None and why and state["way"] == "write" and len(offered) == 1:
        left = (*state.get("left_to_us", ()), Assumption("machine", offered[0], why))
        with_it = State(**{**state, "request": replace(request, machine=offered[0]), "left_to_us": left})
        return State(**{"request": with_it["request"], "left_to_us": left, **ask(with_it, runtime)})
    change, reckoned = nodes_of_plan(request, state.get("resources")) if writes_first(state) else ({}, "")
    if change and any(getattr(request, name) != value for name, value in change.items()):
        taken = tuple(Assumption(name, str(value), reckoned) for name, value in change.items())
        left = (*state.get("left_to_us", ()), *taken)
        there = replace(request, **change)  # type: ignore[arg-type]
        with_it = State(**{**state, "request": there, "left_to_us": left})
        return State(**{"request": there, "left_to_us": left, **ask(with_it, runtime)})
    missing = still_missing(request, cluster, offered)
    if state.get("source"):
        missing = tuple(question for question in missing if question.field == "machine")  # the script tells the rest
    left_to_us = bool(state.get("left_to_us"))
    if missing and (is_concrete(request) or left_to_us) and missing[0].field != "machine":
        return filled(state, request, missing, cluster)
    if not missing:
        return State(pending=None)
    if request == JobRequest() and not before and LARGE.search(state["words"]):
        said.append(Say(SUGGESTED))
    if not state["understood"] and not said and before and before.field == missing[0].field:
        said.append(Say(not_read(missing[0], state["words"])))
    told = also_told(state, runtime) if state["way"] == "write" else []
    return State(pending=AskField(missing[0]), said=(*said, *told, asked_again(state, missing[0])))


def writes_first(state: State) -> bool:
    """Whether a first script is wanted, on no queue or GPU of its own: one that stands keeps the nodes that it has."""
    stands = state.get("bundle") or state.get("own") or state.get("source")
    utterance = state.get("utterance")
    return state["way"] == "write" and not stands and not (utterance and utterance.of_kind("Queue", "Gpu"))


def asked_again(state: State, question: Question) -> Question:
    """Behind an answer the question comes again in one line."""
    return replace(question, help="", options=()) if state["way"] == "answer" else question


def also_told(state: State, runtime: Runtime[Context]) -> list[Said]:
    """The questions of a message that also wants a script: they do not wait for it."""
    clauses = [clause for clause in asking(state) if clause.topic != "next"]
    return [part for one in clauses for part in in_words(ask_of(state, runtime.context, one.text, one), runtime)]


def is_concrete(request: JobRequest) -> bool:
    """Whether a job was told of, and not only a machine or a method: what is open then has a usual value."""
    return any(getattr(request, name) is not None for name in CONCRETE)


def filled(state: State, request: JobRequest, missing: Sequence[Question], cluster: Cluster | None) -> State:
    """The usual values for what was not said, each named with what it costs to be wrong."""
    taken = list(state.get("left_to_us", ()))
    while missing:
        value, why = by_its_sum(missing[0], request, state.get("resources")) or usual(missing[0], request, cluster)
        request = replace(request, **{missing[0].field: value})  # type: ignore[arg-type]
        taken.append(Assumption(missing[0].field, str(value), why))
        missing = still_missing(request, cluster)
    return State(request=request, pending=None, left_to_us=tuple(taken))


def open_question(state: State) -> Question | None:
    pending = state.get("pending")
    return pending.question if isinstance(pending, AskField) else None


def machines(state: State, context: Context) -> tuple[tuple[str, ...], str]:
    """The machines to offer, and why these are the only ones: those that were named, where that left it open, else the
    person's own, else all; of them those that fit what was told of the job."""
    named = tuple(name for name in machines_in(state["words"]) if name in context.names())
    own = tuple(name for name in state.get("own_machines", ()) if name in context.names())
    weighed = of_plan(state) if not named and state["way"] == "write" else ""
    if weighed:
        return (weighed,), WEIGHED
    names = named if len(named) > 1 else own or context.names()
    clusters, request = [context.catalogue.clusters[name] for name in names], state["request"]
    of_account = machines_of_account(request.account, clusters) if request.account else ()
    found = machines_that_fit(request, of_account or clusters)
    why = ITS_ACCOUNT if of_account else YOURS if own and names == own else ""
    return tuple(one.id for one in found), why


def of_plan(state: State) -> str:
    """The machine that the plan of this conversation takes; empty where it names none, or nothing surely fits."""
    asked = state.get("resources")
    if asked is None or not asked.machines or asked.task == "serve" or state.get("bundle"):
        return ""
    from graph.usecases.plan_resources import plan_resources

    options = plan_resources(replace(asked, aim=None, also=())).options
    best = next((one for one in options if one.fit.verdict == "fits" and one.accepted and one.cluster), None)
    return best.cluster.id if best and best.cluster else ""


def not_read(question: Question, words: str) -> str:
    """The words that were not understood as an answer, quoted, and how to answer."""
    shown = " ".join(words.split())
    shown = shown if len(shown) <= MOST_QUOTED else f"{shown[:MOST_QUOTED]} ..."
    return f"I do not find {WORDS.get(question.field, question.field)} in *{shown}*, and I need one to go on."
