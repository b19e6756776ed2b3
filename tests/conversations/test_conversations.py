"""Scripted conversations, replayed through the real graph: docs/eval.md tells the format of the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from assistant.drawing import markdown
from assistant.evaluating.cases import read_conversation
from assistant.evaluating.judging import answer_faults
from assistant.events import event_of
from graph.build import build
from graph.checkpoints import Serializer
from graph.context import Context
from graph.state import State, new_turn
from templates.library import Library

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_conversation(path: Path, tmp_path: Path) -> None:
    graph, context = build(InMemorySaver(serde=Serializer())), Context(library=Library(folder=tmp_path))
    (case,) = read_conversation(path)
    for number, turn in enumerate(case.turns, 1):
        config = {"configurable": {"thread_id": "t"}}
        state: State = graph.invoke(new_turn(number, turn.say), config, context=context)  # type: ignore[call-overload]
        shown = "\n\n".join(markdown(event_of(part)) for part in state["said"])
        bundle = state.get("bundle")
        script = bundle.script.splitlines() if bundle else []
        assert answer_faults(turn, shown, script) == [], (number, turn.say, shown, "\n".join(script))
