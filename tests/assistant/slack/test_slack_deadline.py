"""No turn holds the bot: each has a deadline, and SIGTERM ends the program in time, whatever a turn does."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.running import Run
from assistant.settings import Settings
from tests.assistant.slack.conftest import OOM, StartBot, said
from tests.assistant.slack.standin.people import ALICE
from tests.assistant.slack.standin.server import Slack

ROOT = Path(__file__).parents[3]
HEAVY = """
import sys, time
sys.path.insert(0, sys.argv.pop(1))
from assistant.running import Run
Run._run = lambda self, hold, turn: iter(time.sleep(600) or ())
from assistant.cli import main
sys.exit(main(sys.argv[1:]))
"""
ASK = "what is the longest run on Perlmutter?"


@pytest.fixture
def heavy(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The word `heavy` makes a turn that runs until this is set, and does not heed `stop`."""
    over, real = threading.Event(), Run._run

    def slow(run: Run, hold: Any, turn: Any) -> Any:
        if "heavy" in turn.text:
            over.wait(60)
        yield from real(run, hold, turn)

    monkeypatch.setattr(Run, "_run", slow)
    yield over
    over.set()


@pytest.mark.broke("others wait")
async def test_a_turn_that_does_not_end_is_owned_up_to_and_others_are_answered(
    slack: Slack, start_bot: StartBot, heavy: threading.Event
) -> None:
    bot = await start_bot(turn_s=0.5, at_once=1)
    stuck = await slack.direct_message("heavy")
    (answer,) = await said(slack, slack.direct(ALICE).id, stuck["ts"])
    assert "longer than 0 s" in answer["text"] or "longer than 1 s" in answer["text"]
    heavy.set()
    quick = await slack.direct_message(f"why did it fail?\n```\n{OOM}\n```")
    await said(slack, slack.direct(ALICE).id, quick["ts"])
    assert not bot.worker.answering.is_stuck()


async def test_a_turn_that_heeds_it_is_stopped_and_says_what_to_send(
    slack: Slack, start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Run._steps

    def slow(run: Run, graph: Any, entry: Any) -> Any:
        assert run.stopping.wait(30)
        yield from real(run, graph, entry)

    monkeypatch.setattr(Run, "_steps", slow)
    await start_bot(turn_s=0.5)
    asked = await slack.direct_message(ASK)
    await slack.until(lambda: "Send the part" in str(slack.replies(slack.direct(ALICE).id, asked["ts"])))


@pytest.mark.broke("SIGTERM")
async def test_sigterm_in_the_middle_of_a_heavy_turn_ends_in_time(
    slack: Slack, settings: Settings, tokens: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_SLACK_DRAIN_S", "2")
    settings.data.mkdir(parents=True, exist_ok=True)
    command = (sys.executable, "-c", HEAVY, str(ROOT), "slack")
    program = await asyncio.create_subprocess_exec(*command, cwd=settings.data)
    try:
        await slack.until(lambda: slack.delivery.socket.connections >= 1, 90)
        await slack.direct_message(ASK)
        while not begun(settings.data / "conversations.sqlite"):
            await asyncio.sleep(0.05)
        began = time.monotonic()
        program.send_signal(signal.SIGTERM)
        await asyncio.wait_for(program.wait(), 60)
        # Two seconds to drain in, and some for a loaded machine; without an end by force it is 600.
        assert time.monotonic() - began < 15
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()


def begun(path: Path) -> bool:
    if not path.exists():
        return False
    with sqlite3.connect(path) as database:
        try:
            return bool(database.execute("SELECT 1 FROM turns WHERE answer IS NULL").fetchall())
        except sqlite3.OperationalError:
            return False
