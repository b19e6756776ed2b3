"""How workers are looked after, with workers that do nothing else than die, or refuse to."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assistant.commands.slack import work
from assistant.slack.app import Listen
from assistant.slack.settings import SlackSettings
from assistant.slack.supervisor import LONGEST_PAUSE_S, USELESS, WorkerPlace

ROOT = Path(__file__).parents[3]
STUBBORN = """
import os, signal, time

def work(number):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, b"up\\n")
    time.sleep(60)
"""
SUPERVISE = """
import sys
sys.path[:0] = sys.argv[1:]
import stubborn
from assistant.slack import supervisor
supervisor.LOADED = []
sys.exit(supervisor.supervise(stubborn.work, 2, 1.0))
"""


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, float], list[float]]:
    """The times at which a worker is started that always ends with an exit code, over some seconds of a made clock."""

    def looked(exitcode: int, seconds: float) -> list[float]:
        now, started = [1000.0], list[float]()
        monkeypatch.setattr(time, "monotonic", lambda: now[0])

        def process(**_: Any) -> SimpleNamespace:
            begin = lambda: started.append(now[0])  # noqa: E731
            return SimpleNamespace(start=begin, is_alive=lambda: False, exitcode=exitcode)

        worker = WorkerPlace(SimpleNamespace(Process=process), work, 0)  # type: ignore[arg-type]
        while now[0] < 1000 + seconds and worker.look():
            now[0] += 0.25
        return started

    return looked


def test_a_worker_that_dies_at_once_is_started_ever_later(starts: Callable[[int, float], list[float]]) -> None:
    pauses = [later - earlier for earlier, later in itertools.pairwise(starts(1, 400))]
    assert pauses[0] <= 1.5 and pauses == sorted(pauses)
    assert LONGEST_PAUSE_S <= pauses[-1] <= LONGEST_PAUSE_S + 1


def test_a_worker_with_a_wrong_setting_is_not_started_again(starts: Callable[[int, float], list[float]]) -> None:
    assert len(starts(USELESS, 400)) == 1


def test_a_worker_that_dies_while_it_is_looked_at_has_no_wrong_setting() -> None:
    """Alive at the first look and dead at the second: that says nothing of its exit code."""
    answers = iter((True, False))
    process = SimpleNamespace(start=lambda: None, is_alive=lambda: next(answers), exitcode=None)
    assert WorkerPlace(SimpleNamespace(Process=lambda **_: process), work, 0).look()  # type: ignore[arg-type]


async def test_what_does_not_end_in_time_is_killed(tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    words = (sys.executable, "-c", SUPERVISE, str(ROOT), str(tmp_path))
    program = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert program.stdout is not None
    for _ in range(2):
        assert await asyncio.wait_for(program.stdout.readline(), 30) == b"up\n"
    began = time.monotonic()
    program.terminate()
    assert await asyncio.wait_for(program.wait(), 30) == 0
    assert 0.9 < time.monotonic() - began < 20
    assert await program.stdout.read() == b"", "all that could write there are gone"


@pytest.mark.parametrize(("first", "number", "port"), [(9000, 0, 9000), (9000, 2, 9002), (0, 2, 0)])
def test_each_worker_has_a_port_for_its_metrics(
    monkeypatch: pytest.MonkeyPatch, first: int, number: int, port: int
) -> None:
    seen: list[tuple[SlackSettings, Listen]] = []

    async def serve(settings: object, slack: SlackSettings, listen: Listen) -> None:
        seen.append((slack, listen))

    monkeypatch.setenv("MAPLE_CHAT_SLACK_METRICS_PORT", str(first))
    monkeypatch.setattr("assistant.slack.app.serve", serve)
    work(3000, "127.0.0.1", number)
    ((slack, listen),) = seen
    assert slack.metrics_port == port and listen == Listen(3000, "127.0.0.1", shared=True)
