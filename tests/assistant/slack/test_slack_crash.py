"""kill -9 of the real program, at the worst moments, and a start after it."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from assistant.settings import Settings
from tests.assistant.slack.conftest import said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE
from tests.assistant.slack.standin.server import Slack

ROOT = Path(__file__).parents[3]
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from assistant.cli import main; sys.exit(main(['slack']))"
Program = asyncio.subprocess.Process


@pytest.fixture
async def start(slack: Slack, settings: Settings, tokens: None) -> AsyncIterator[Callable[[], object]]:
    """Start `maple-chat slack` and wait until it is connected; whatever is left is killed at the end."""
    started: list[Program] = []

    async def begin() -> Program:
        before = slack.delivery.socket.connections
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", RUN, str(ROOT), cwd=settings.data)
        started.append(program)
        await slack.until(lambda: slack.delivery.socket.connections > before, 120)
        return program

    yield begin
    for program in started:
        if program.returncode is None:
            program.kill()
            await program.wait()


async def kill(program: Program) -> None:
    os.kill(program.pid, signal.SIGKILL)
    await program.wait()


def half_done(path: Path) -> bool:
    with sqlite3.connect(path) as database:
        return bool(database.execute("SELECT 1 FROM turns WHERE answer IS NULL").fetchall())


async def test_killed_again_and_again_it_answers_each_message_once(
    slack: Slack, settings: Settings, start: Callable[..., object]
) -> None:
    """First in the middle of a turn, then when Slack has the answer and the program does not know it yet."""
    log = b"step 1 loss 2.31 lr 0.0001 tokens/s 12000\n" * 1_500_000
    log += b"[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    program: Program = await start()  # type: ignore[misc]
    asked = await slack.direct_message("why?", files=(slack.upload("slurm-1.out", log),))
    conversations = settings.data / "conversations.sqlite"
    await slack.until(lambda: half_done(conversations), 30)
    await kill(program)
    assert half_done(conversations), "killed in the middle of the turn"

    slack.fail("chat.postMessage", hold=asyncio.Event())
    program = await start()  # type: ignore[misc]
    channel = slack.direct(ALICE)
    (answer,) = await said(slack, channel.id, asked["ts"])
    assert "`gpu-oom`" in shown(answer)
    await kill(program)

    program = await start()  # type: ignore[misc]
    second = await slack.direct_message("help me train on Perlmutter")
    await said(slack, channel.id, second["ts"])
    assert len(slack.replies(channel.id, asked["ts"])) == 1, "what stands there is not said again"
    program.terminate()
    assert await program.wait() == 0
