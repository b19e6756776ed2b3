"""A run of two real ranks is watched: the slow rank, the NaN and the stall are told, each once."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assistant.watching import Watching
from graph.watching import run_watch
from graph.watching.run_watch import RunWatch
from graph.watching.tail import FileTail


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed (extra: rehearse)")
def test_a_slow_rank_a_nan_and_a_stall_of_two_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_watch, "SHORTEST_STALL", 4.0)
    log = tmp_path / "train.log"
    program = Path(__file__).with_name("two_ranks.py")
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program)]
    with log.open("wb") as stream:
        run = subprocess.Popen(
            [sys.executable, *words],
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
        )
    try:
        watching, told, deadline = Watching([FileTail(log)], RunWatch()), list[str](), time.monotonic() + 90
        while run.poll() is None and "stall" not in told and time.monotonic() < deadline:
            told += [notice.key for notice in watching.look(time.monotonic())]
            time.sleep(0.05)
    finally:
        # Each rank is in a session of its own: only the launcher, asked to end, ends them too.
        run.terminate()
        try:
            run.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
    assert sorted(told) == ["nan", "rank-1", "stall"], log.read_text()[-2000:]
