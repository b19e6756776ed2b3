"""Which way a turn goes. Pure functions of the state; graph/build.py names each target."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State
from knowledge.types import AskField, Diagnosis

SURE = 0.6
MOST_TRIES = 5


def who_leads(state: State, runtime: Runtime[Context]) -> Literal["converse", "understand"]:
    """A language model where one is set and was seen to lead; else the rules."""
    return "converse" if runtime.context.leads() else "understand"


def after_understand(state: State) -> Literal["diagnose", "answer", "ask", "web"]:
    """As the message was understood; what is refused or said already is answered at once."""
    if state["outcome"]:
        return "answer"
    return {"write": "ask", "diagnose": "diagnose", "web": "web", "answer": "answer"}[state["way"]]  # type: ignore[return-value]


def after_ask(state: State) -> Literal["retrieve", "end"]:
    """Look up and write once nothing is open."""
    return "end" if isinstance(state.get("pending"), AskField) else "retrieve"


def after_retrieve(state: State) -> Literal["write", "answer"]:
    """A machine that nobody described gets no script, but an answer."""
    return "answer" if state["outcome"] else "write"


def after_verify(state: State) -> Literal["debug", "answer"]:
    """A finding that says what would cure it goes to debug, until five scripts were written."""
    curable = any(finding.change for finding in state["findings"])
    return "debug" if curable and state["tries"] < MOST_TRIES else "answer"


def after_diagnose(state: State) -> Literal["debug", "answer"]:
    """A failure of a thread that has a script of ours leads to what cures it."""
    outcome = state["outcome"]
    failed = isinstance(outcome, Diagnosis) and outcome.cause not in ("no-failure", "unknown")
    return "debug" if failed and state.get("bundle") and not state.get("own") else "answer"


def after_debug(state: State) -> Literal["write", "answer"]:
    return "write" if state["again"] else "answer"


def after_answer(state: State) -> Literal["ask", "web", "end"]:
    """A question that was open before a change of subject comes again; else what has no answer here may be searched."""
    if state["way"] in ("answer", "diagnose") and isinstance(state.get("pending"), AskField):
        return "ask"
    return "web" if is_open(state) else "end"


def is_open(state: State) -> bool:
    """Whether nothing here answers the question, or explains the failure."""
    outcome = state["outcome"]
    if isinstance(outcome, Diagnosis):
        unsure = outcome.cause == "unknown" or outcome.confidence < SURE
        return unsure and outcome.cause != "no-failure"
    return state["unanswered"]
