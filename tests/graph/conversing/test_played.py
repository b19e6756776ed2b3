"""Conversations in which a strong reader was the model, replayed: its moves lead to the same questions and answers.

played.jsonl holds of each turn what was said, what the model did (text, or calls of tools), and how the answer began.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from player import Move, Player, Thread, call

CASES = [json.loads(row) for row in Path(__file__).with_name("played.jsonl").read_text(encoding="utf-8").splitlines()]


def move(done: dict[str, Any]) -> Move:
    calls = done.get("tool_calls")
    return [call(one["name"], **one["arguments"]) for one in calls] if calls else str(done["content"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_was_played_replays(case: dict[str, Any]) -> None:
    thread = Thread(Player("unused"))
    for turn in case["turns"]:
        moves = [move(one) for one in turn["moves"]]
        thread.player.moves, before = [*moves, AssertionError("asked once more")], len(thread.player.asked)
        told = thread.say(turn["say"])
        assert len(thread.player.asked) - before == len(moves), turn["say"]
        assert told.startswith(turn["begins"]), turn["say"]
