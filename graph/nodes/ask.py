"""Ask for the most telling thing that is missing: one question, with the choices that this machine offers."""

from __future__ import annotations

import re

from langgraph.runtime import Runtime

from graph.context import Context
from graph.extraction.request import machines_in
from graph.planning.questions import still_missing
from graph.routes import TALK
from graph.state import State
from graph.undescribed import next_question, slips
from knowledge.types import JobRequest, Question, Said, Say

# How a field is called where an answer could not be read.
WORDS = {"machine": "a machine", "framework": "a framework", "strategy": "a strategy", "nodes": "a number of nodes"}

LARGE = re.compile(r"\b(big|bigger|large|huge|giant|massive|llm|foundation|billions?|\d+ ?b)\b", re.I)
SUGGESTED = (
    "For a model that does not fit on one GPU I suggest PyTorch with FSDP, on one node first, and more once that runs; "
    "for one that fits, DDP. Say *you choose* to any question that is open to you."
)


def ask(state: State, runtime: Runtime[Context]) -> State:
    request, before = state["request"], state.get("question")
    cluster = runtime.context.cluster(request)
    said: list[Said] = list(state["said"])
    if request.machine and cluster is None:
        return about_machine(state, runtime.context)
    missing = still_missing(request, cluster, machines(state, runtime.context))
    if state.get("source"):
        missing = tuple(question for question in missing if question.field == "machine")  # the script tells the rest
    if not missing:
        return State(question=None)
    if request == JobRequest() and not before and LARGE.search(state["text"]):
        said.append(Say(SUGGESTED))
    if state["heard_nothing"] and not said and before and before.field == missing[0].field:
        said.append(Say(not_read(missing[0])))
    return State(question=missing[0], said=(*said, missing[0]))


def machines(state: State, context: Context) -> tuple[str, ...]:
    """The machines to offer: those that were named, where that left it open, else all."""
    named = tuple(name for name in machines_in(state["text"]) if name in context.names())
    return named if len(named) > 1 else context.names()


def about_machine(state: State, context: Context) -> State:
    """A machine that nobody described, and that is no slip of the pen: what decides which one comes nearest."""
    if slips(state["request"].machine or "", context.catalogue):
        return State(question=None)
    answered = state["intent"] not in TALK and not state["heard_nothing"]
    before = state.get("question") if answered else None
    question = next_question(state["request"], state.get("described", ""), before)
    return State(question=question, said=(*state["said"], question) if question else state["said"])


def not_read(question: Question) -> str:
    machine = question.field == "machine"
    hint = " Give its name, also if it is not among these." if machine else " Say *you choose* to leave it to me."
    return f"I could not read {WORDS.get(question.field, question.field)} in that.{hint}"
