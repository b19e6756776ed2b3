"""kill -9 of the real program's workers, at the worst moments: others are started, and go on."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from assistant.settings import Settings
from tests.assistant.slack.conftest import said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE
from tests.assistant.slack.standin.server import Slack

ROOT = Path(__file__).parents[3]
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from assistant.cli import main; sys.exit(main(sys.argv[1:]))"
WORKERS = 2
Program = asyncio.subprocess.Process
Start = Callable[..., Awaitable[Program]]


@pytest.fixture
async def start(slack: Slack, settings: Settings, tokens: None) -> AsyncIterator[Start]:
    """Start `maple-chat slack --workers N`; whatever is left is killed at the end."""
    started: list[Program] = []

    async def begin(*words: str) -> Program:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", RUN, str(ROOT), "slack", "--workers", str(WORKERS), *words),
            cwd=settings.data,
        )
        started.append(program)
        return program

    yield begin
    for program in started:
        if program.returncode is None:
            program.kill()
            await program.wait()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers(program: Program) -> list[int]:
    """The processes that the process with everything loaded has forked."""
    return [worker for child in children(program.pid) for worker in children(child)]


async def kill_all(slack: Slack, program: Program) -> None:
    """Kill the workers; back when as many new ones are connected."""
    before = slack.delivery.socket.connections
    for pid in workers(program):
        os.kill(pid, signal.SIGKILL)
    await slack.until(lambda: slack.delivery.socket.connections >= before + WORKERS, 60)


def half_done(path: Path) -> bool:
    with sqlite3.connect(path) as database:
        return bool(database.execute("SELECT 1 FROM turns WHERE answer IS NULL").fetchall())


def tries(path: Path) -> list[int]:
    with sqlite3.connect(path) as database:
        return [count for (count,) in database.execute("SELECT tries FROM turns ORDER BY at")]


async def until_half_done(path: Path) -> None:
    while not half_done(path):
        await asyncio.sleep(0.005)


@pytest.mark.broke("killed worker")
async def test_killed_again_and_again_they_answer_each_message_once(
    slack: Slack, settings: Settings, start: Start
) -> None:
    """First in the middle of a turn, then when Slack has the answer and the worker does not know it yet."""
    program = await start()
    await slack.until(lambda: slack.delivery.socket.connections >= WORKERS, 120)
    log = b"step 1 loss 2.31 lr 0.0001 tokens/s 12000\n" * 500_000
    log += b"[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
    asked = await slack.direct_message("why?", files=(slack.upload("slurm-1.out", log),))
    conversations = settings.data / "conversations.sqlite"
    await asyncio.wait_for(until_half_done(conversations), 30)
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    first = workers(program)
    await kill_all(slack, program)
    assert not set(first) & set(workers(program)), "others were started"

    channel = slack.direct(ALICE)
    (answer,) = await said(slack, channel.id, asked["ts"])
    assert "`gpu-oom`" in shown(answer)
    assert tries(conversations) == [2], "it was killed in the middle of the turn"
    await kill_all(slack, program)

    second = await slack.direct_message("help me train on Perlmutter")
    await said(slack, channel.id, second["ts"])
    assert len(slack.replies(channel.id, asked["ts"])) == 1, "what stands there is not said again"

    slack.fail("chat.postMessage", hold=(answering := asyncio.Event()))
    third = await slack.direct_message("help me train on Frontier")
    await said(slack, channel.id, third["ts"])
    program.terminate()
    await asyncio.sleep(0.3)
    assert program.returncode is None, "it waits for the answer that is on its way"
    answering.set()
    assert await asyncio.wait_for(program.wait(), 30) == 0
    with sqlite3.connect(settings.data / "slack.sqlite") as inbox:
        assert inbox.execute("SELECT DISTINCT state FROM slack_inbox").fetchall() == [("done",)]


async def test_workers_end_with_the_program_that_looks_after_them(slack: Slack, start: Start) -> None:
    """It is killed, so it cannot tell them; else they would go on beside those of the next start."""
    program = await start()
    await slack.until(lambda: slack.delivery.socket.connections >= WORKERS, 120)
    program.kill()
    await slack.until(lambda: not slack.delivery.socket.open_sockets, 30)


async def test_a_setting_with_which_no_start_helps_ends_the_program() -> None:
    """The work of number 2 is to end with 2, which says so; that of 0 and 1 is started again."""
    code = "import os, sys; sys.path.insert(0, sys.argv[1]); from assistant.slack import supervisor; "
    code += "supervisor.LOADED = []; sys.exit(supervisor.supervise(os._exit, 3, 5.0))"
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(ROOT))
    assert await asyncio.wait_for(program.wait(), 30) == 2
