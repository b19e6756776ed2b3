"""The whole conversation on one page: every node and every edge.

converse -> end                                               a trusted model leads; all below is computed as its facts
understand -> ask -> retrieve -> write -> verify -> answer    a request; `ask` ends the turn while something is missing
                                   ^         | a finding with a cure, at most five scripts
                                   +- debug <+
understand -> diagnose -> answer                              a log
understand -> diagnose -> debug -> write -> verify -> answer  a log, and the thread has a script
understand -> answer                                          a question, small talk
answer -> ask                                                 the question that was open before comes again
answer -> web; understand -> web                              no answer here: a web search is offered; a yes or no to it
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from graph.context import Context
from graph.routes import (
    after_answer,
    after_ask,
    after_debug,
    after_diagnose,
    after_retrieve,
    after_understand,
    after_verify,
    who_leads,
)
from graph.state import State

# Each is a function of its name in graph/nodes/NAME.py.
NODES = ("converse", "understand", "ask", "retrieve", "write", "verify", "debug", "diagnose", "answer", "web")
Graph = CompiledStateGraph[State, Context, State, State]


class Node(Protocol):
    """A step of a turn: the state so far in, what it adds to it out."""

    def __call__(self, state: State, runtime: Runtime[Context]) -> State: ...


def first_loaded(name: str) -> Node:
    """The node of that name; its module is imported when it first runs, for most turns pass by most nodes."""

    def node(state: State, runtime: Runtime[Context]) -> State:
        run: Node = getattr(import_module(f"graph.nodes.{name}"), name)
        return run(state, runtime)

    return node


def build(checkpointer: BaseCheckpointSaver[str] | None = None) -> Graph:
    """The graph, ready to run. Without a checkpointer it forgets after each turn."""
    page = StateGraph(State, context_schema=Context)
    for name in NODES:
        page.add_node(name, first_loaded(name))

    page.add_conditional_edges(START, who_leads, {n: n for n in ("converse", "understand")})
    page.add_edge("converse", END)
    page.add_conditional_edges("understand", after_understand, {n: n for n in ("diagnose", "answer", "ask", "web")})
    page.add_conditional_edges("ask", after_ask, {"retrieve": "retrieve", "end": END})
    page.add_conditional_edges("retrieve", after_retrieve, {n: n for n in ("write", "answer")})
    page.add_edge("write", "verify")
    page.add_conditional_edges("verify", after_verify, {n: n for n in ("debug", "answer")})
    page.add_conditional_edges("diagnose", after_diagnose, {n: n for n in ("debug", "answer")})
    page.add_conditional_edges("debug", after_debug, {n: n for n in ("write", "answer")})
    page.add_conditional_edges("answer", after_answer, {"ask": "ask", "web": "web", "end": END})
    page.add_edge("web", END)
    return page.compile(checkpointer=checkpointer)
