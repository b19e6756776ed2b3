"""Recorded conversations, replayed: the same moves of the model lead to the same scripts and answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from player import Player, Thread, call

FILES = sorted(Path(__file__).with_name("recorded").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recording_replays(path: Path) -> None:
    thread = Thread(Player("unused"))
    for turn in yaml.safe_load(path.read_text(encoding="utf-8")):
        moves: list[Any] = [one if isinstance(one, str) else called(one) for one in turn["does"]]
        thread.player.moves, before = [*moves, AssertionError("asked once more")], len(thread.player.asked)
        told = thread.say(turn["say"])
        assert len(thread.player.asked) - before == len(moves), turn["say"]
        for want in turn.get("script", ()):
            assert want in thread.script, (turn["say"], want)
        for want in turn["told"]:
            assert want in told, (turn["say"], want, told)
        for never in turn.get("never", ()):
            assert never not in told, (turn["say"], never, told)


def called(move: dict[str, Any]) -> Any:
    ((name, arguments),) = move.items()
    return call(name, **arguments)
