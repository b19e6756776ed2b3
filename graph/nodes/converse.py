"""A turn that a trusted language model leads; the rules' way is computed beside it and takes over where it fails."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, cast

from langgraph.runtime import Runtime

from graph.context import Context
from graph.state import State

if TYPE_CHECKING:
    from graph.build import Graph


def converse(state: State, runtime: Runtime[Context]) -> State:
    from graph.conversing.loop import lead  # only a turn with a model pays for it

    return lead(state, runtime.context, lambda before: by_rules(before, runtime.context))


def by_rules(state: State, context: Context) -> State:
    """The whole turn without a model. No search is made, unasked, for an answer that may not be given."""
    web = context.web if state.get("pending") or (context.web and context.web.policy == "ask") else None
    alone = replace(context, model=None, web=web)
    return cast(State, rules_graph().invoke(state, context=alone))


@cache
def rules_graph() -> Graph:
    from graph.build import build

    return build()
