"""Which way a turn goes. Pure functions of the state; graph/build.py names each target."""

from __future__ import annotations

from typing import Literal

from graph.state import State
from graph.verification.mending import MOST_TRIES
from knowledge.types import Diagnosis

SURE = 0.6
TALK = frozenset({"question", "smalltalk"})


def after_understand(state: State) -> Literal["diagnose", "answer", "ask", "web"]:
    """A log is diagnosed; talk is answered; anything about a job goes to `ask`, which may find nothing missing.

    While a question is open, what could not be read is taken for an answer to it. A script that cannot be carried over
    is refused at once.
    """
    intent = state["intent"]
    if state["searching"] is not None:
        return "web"
    if state["outcome"]:
        return "answer"
    if intent == "diagnose":
        return "diagnose"
    if intent in TALK or (intent == "other" and not state.get("question")):
        return "answer"
    return "ask"


def after_ask(state: State) -> Literal["retrieve", "end"]:
    """Look up and write once nothing is open."""
    return "end" if state.get("question") else "retrieve"


def after_retrieve(state: State) -> Literal["write", "answer"]:
    """A machine that nobody described gets no script, but an answer."""
    return "answer" if state["outcome"] else "write"


def after_verify(state: State) -> Literal["debug", "answer"]:
    """A finding that says what would cure it goes to debug, until five scripts were written."""
    curable = any(finding.change for finding in state["findings"])
    return "debug" if curable and state["tries"] < MOST_TRIES else "answer"


def after_diagnose(state: State) -> Literal["debug", "answer"]:
    """A failure of a thread that has a script leads to another script."""
    outcome = state["outcome"]
    failed = isinstance(outcome, Diagnosis) and outcome.cause not in ("no-failure", "unknown")
    return "debug" if failed and state.get("bundle") else "answer"


def after_debug(state: State) -> Literal["write", "answer"]:
    return "write" if state["again"] else "answer"


def after_answer(state: State) -> Literal["ask", "web", "end"]:
    """A question that was open before a change of subject comes again; else what has no answer here may be searched."""
    interrupted = state["intent"] in TALK or state["intent"] == "diagnose"
    if interrupted and state.get("question"):
        return "ask"
    return "web" if is_open(state) else "end"


def is_open(state: State) -> bool:
    """Whether nothing here answers the question, or explains the failure."""
    outcome = state["outcome"]
    if isinstance(outcome, Diagnosis):
        unsure = outcome.cause == "unknown" or outcome.confidence < SURE
        return unsure and outcome.cause != "no-failure"
    return state["unanswered"]
