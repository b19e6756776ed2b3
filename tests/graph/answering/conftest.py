"""Questions as a conversation hands them to the functions that answer: read, with a machine, a script or a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.answering.ask import Ask
from graph.extraction.request import understand
from graph.planning.plan import plan
from graph.reading.mentions import find_mentions
from graph.reading.utterance import Clause, Utterance
from knowledge.catalogue import catalogue
from knowledge.document import Document
from knowledge.types import LaunchPlan, Paste
from templates.render import render

Asking = Callable[..., Ask]


def make_ask(text: str, topic: str = "", machine: str = "", script: str = "", ours: str = "", **more: Any) -> Ask:
    """ours: words of a request whose script stands."""
    clause = Clause(0, len(text), text, "ask", topic)
    if ours:
        request = understand(ours, None, None, None).request
        machine = machine or request.machine or ""
        decided = plan(request, catalogue().clusters[machine])
        assert isinstance(decided, LaunchPlan)
        more |= {"request": request, "plan": decided, "bundle": render(decided)}
    return Ask(
        clause,
        Utterance(text, find_mentions(text)[1], (clause,)),
        catalogue().clusters[machine] if machine else None,
        script=Paste("job.sh", script) if script else None,
        **more,
    )


def in_words(document: Document | None) -> str:
    """All that an answer says, one part a line."""
    told = []
    for part in document.parts if document else ():
        items = getattr(part, "items", ())
        told += (
            [f"{part.text} {getattr(part, 'where', '')}".strip()]
            if hasattr(part, "text")
            else [" | ".join(filter(None, vars_of(item))) for item in items]
        )
    return "\n".join(told)


def vars_of(item: Any) -> list[str]:
    return [str(getattr(item, name)) for name in item.__slots__]


@pytest.fixture
def asking() -> Asking:
    return make_ask


@pytest.fixture
def words() -> Callable[[Document | None], str]:
    return in_words
