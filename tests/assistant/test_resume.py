"""Killed at any point, the next start goes on, and says nothing twice. With real processes and real signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assistant.events import Error, Event, Script
from assistant.session import Session
from assistant.settings import Settings

CHILD = """
import asyncio, sys, time
from pathlib import Path
from unittest import mock
from assistant.session import Session
from assistant.settings import read_settings

def hang(*arguments, **more):
    Path(sys.argv[2]).touch()
    time.sleep(600)

async def talk():
    async for event in Session(read_settings(), "t").send(sys.argv[3]):
        print(event)

with mock.patch(sys.argv[1], hang):
    asyncio.run(talk())
"""
# Before the graph, in the middle of it, and between its last checkpoint and the answer on disk.
POINTS = ("assistant.running.Run._run", "graph.usecases.write_script.render", "assistant.turns.Turns.close")


def killed_at(point: str, text: str, tmp_path: Path) -> None:
    """Run a turn in a process of its own and kill it where it hangs."""
    mark = tmp_path / "hangs"
    mark.unlink(missing_ok=True)
    child = subprocess.Popen([sys.executable, "-c", CHILD, point, str(mark), text], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not mark.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert mark.exists(), "the turn never came to the point where it is killed"
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()


async def resumed(session: Session) -> list[Event]:
    return [event async for event in session.resume()]


@pytest.mark.parametrize("point", POINTS)
def test_the_next_start_finishes_the_turn_once(settings: Settings, tmp_path: Path, whole: str, point: str) -> None:
    killed_at(point, whole, tmp_path)
    session = Session(settings, "t")
    events = asyncio.run(resumed(session))
    assert [event.type for event in events] == ["script", "known", "done"]
    assert isinstance(events[0], Script) and not events[0].made.changes
    assert asyncio.run(resumed(session)) == []
    assert [turn.answer for turn in session.history()] == [tuple(events)]


def test_the_next_message_gets_both_answers(settings: Settings, tmp_path: Path, whole: str) -> None:
    killed_at("graph.usecases.write_script.render", whole, tmp_path)

    async def talk() -> list[Event]:
        return [event async for event in Session(settings, "t").send("make it 8 nodes")]

    scripts = [event for event in asyncio.run(talk()) if isinstance(event, Script)]
    assert [script.made.changes for script in scripts] == [(), ("nodes: 4 → 8",)]


def test_a_message_that_kills_twice_is_left(settings: Settings, tmp_path: Path, whole: str) -> None:
    killed_at("graph.usecases.write_script.render", whole, tmp_path)
    session = Session(settings, "t")
    (turn,) = session.history()
    session.turns.try_again("t", turn, settings.pasted)
    events = asyncio.run(resumed(session))
    assert isinstance(events[0], Error) and "twice" in events[0].text
    assert asyncio.run(resumed(session)) == []


@pytest.mark.broke("two programs")
def test_two_processes_on_one_thread_take_turns(settings: Settings, whole: str) -> None:
    code = "import sys; from assistant.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "ask", "--json", "--thread", "t"]
    children = [
        subprocess.Popen([*command, text], stdout=subprocess.PIPE, text=True) for text in (whole, f"{whole}, please")
    ]
    answers = [child.communicate(timeout=120)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(json.loads(answer)["events"][-1]["turn"] for answer in answers) == [1, 2]
    turns = Session(settings, "t").history()
    assert [turn.number for turn in turns] == [1, 2] and all(turn.answer for turn in turns)
