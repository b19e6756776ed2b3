"""The web in a conversation: offered with the exact query, run only after a yes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from graph.build import build
from graph.context import Context
from graph.state import new_turn
from knowledge.types import Diagnosis, Question, Said, Say
from knowledge.web import open_web
from templates.library import Library

QUESTION = "Which version of flash attention does jdoe of smithlab need in /home/jdoe/env on login01.cluster.uni.edu?"
LOG = """2026-01-02 10:11:12 [rank0]: frobnicator: kernel refused for jdoe in /home/jdoe/apollo on nid001234: status 77
2026-01-02 10:11:12 [rank0]: fatal: giving up
srun: error: nid001234: task 0: Exited with exit code 77
"""
Talk = Callable[[str], tuple[Said, ...]]


@pytest.fixture
def talking(tmp_path: Path, stand_in: Any) -> Callable[[str], Talk]:
    stand_in.say("/search", json.dumps({"results": [{"url": f"{stand_in.address}/p.txt", "title": "A page"}]}))
    stand_in.say("/p.txt", "The kernel of flash attention needs version 2.", content_type="text/plain")

    def of(policy: Any) -> Talk:
        graph, turns = build(InMemorySaver()), iter(range(100))
        context = Context(library=Library(folder=tmp_path), web=open_web(policy, stand_in.address))
        config: Any = {"configurable": {"thread_id": "t"}}
        return lambda text: tuple(
            graph.invoke(new_turn(next(turns), text), config, context=context, durability="exit")["said"]
        )

    return of


def offer(said: tuple[Said, ...]) -> Question | None:
    return next((part for part in said if isinstance(part, Question) and part.field == "web"), None)


def searches(stand_in: Any) -> list[str]:
    return [one.query["q"] for one in stand_in.asked if one.path == "/search"]


@pytest.mark.parametrize("message", [QUESTION, LOG])
def test_a_yes_sends_what_was_shown_and_nothing_else(message: str, talking: Any, stand_in: Any) -> None:
    talk = talking("ask")
    asked = offer(talk(message))
    assert asked and not stand_in.asked
    said = talk("yes")
    sent = searches(stand_in)
    assert len(sent) == 1 and f"`{sent[0]}`" in asked.text
    for private in ("jdoe", "smithlab", "home", "login01", "uni", "apollo", "nid001234"):
        assert private not in stand_in.asked[0].raw.lower()
    assert isinstance(said[-1], Say)
    assert "Found on the web" in said[-1].text and f"{stand_in.address}/p.txt" in said[-1].text


def test_a_no_lets_it_fall(talking: Any, stand_in: Any) -> None:
    talk = talking("ask")
    assert offer(talk(QUESTION))
    assert talk("no") == (Say("Then I leave the web alone."),)
    talk("yes")
    assert not stand_in.asked


def test_another_subject_lets_it_fall(talking: Any, stand_in: Any) -> None:
    talk = talking("ask")
    assert offer(talk(QUESTION))
    talk("what is the longest run on Anvil's ai partition?")
    talk("yes")
    assert not stand_in.asked


def test_always_does_not_ask_and_never_does_not_search(talking: Any, stand_in: Any) -> None:
    assert offer(talking("never")(QUESTION)) is None and not stand_in.asked
    said = talking("always")(QUESTION)
    assert offer(said) is None and len(searches(stand_in)) == 1
    assert "Found on the web" in said[-1].text


def test_an_answered_question_and_a_known_failure_offer_nothing(talking: Any, stand_in: Any) -> None:
    talk = talking("ask")
    assert offer(talk("what is the longest run on Anvil's ai partition?")) is None
    said = talk("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 0 bytes free")
    assert any(isinstance(part, Diagnosis) for part in said) and offer(said) is None


def test_without_a_network_it_says_so_once(talking: Any, tmp_path: Path) -> None:
    graph = build(InMemorySaver())
    context = Context(library=Library(folder=tmp_path), web=open_web("always", "http://127.0.0.1:9"))
    config: Any = {"configurable": {"thread_id": "t"}}
    said = graph.invoke(new_turn(1, QUESTION), config, context=context)["said"]
    assert [part.text for part in said if isinstance(part, Say) and "cannot reach the web" in part.text.lower()] == [
        said[-1].text
    ]
