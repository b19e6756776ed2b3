"""The same message through every door comes to the same: the cause, the cure, the difference of the person's file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.drawing import markdown
from assistant.events import Diagnosed, Event, Script
from assistant.session import Session
from assistant.settings import read_settings
from assistant.slack.blocks import answer_parts

SCRIPT = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 1
#SBATCH --gpus-per-node=4
#SBATCH -t 01:00:00
export MASTER_PORT=29500
srun torchrun --standalone --nproc-per-node=4 train.py
"""
LOG = "RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use)\n"
CURE = "+export MASTER_PORT=$((10000 + SLURM_JOB_ID % 50000))"
MESSAGE = f"why did this fail? my script:\n{SCRIPT}\nand the log:\n{LOG}"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


def answered() -> list[Event]:
    """What the terminal and Slack are given."""

    async def collect() -> list[Event]:
        return [event async for event in Session(read_settings(), "doors").send(MESSAGE)]

    return asyncio.run(collect())


def test_every_door_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = answered()
    (found,) = [event.diagnosis for event in events if isinstance(event, Diagnosed)]
    (made,) = [event.made for event in events if isinstance(event, Script)]
    assert found.cause == "comm-port-in-use" and CURE in made.diff

    assert main(["ask", "--new", MESSAGE]) == 1
    assert CURE in capsys.readouterr().out
    assert main(["ask", "--new", "--json", MESSAGE]) == 1
    told = json.loads(capsys.readouterr().out)["events"]
    assert next(one for one in told if one["type"] == "script")["made"]["diff"] == made.diff

    (tmp_path / "job.sh").write_text(SCRIPT)
    (tmp_path / "job.log").write_text(LOG)
    assert main(["why", str(tmp_path / "job.log"), "--script", str(tmp_path / "job.sh"), "--json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert value["cause"] == found.cause
    lines = [line for line in made.diff.splitlines() if not line.startswith(("---", "+++"))]
    assert [line for line in value["correction"]["diff"].splitlines() if not line.startswith(("---", "+++"))] == lines

    posted = json.dumps([part.blocks for part in answer_parts(events, "k")])
    assert "comm-port-in-use" in posted and all(found.says in text for text in (posted, "".join(map(markdown, events))))
    files = [file for part in answer_parts(events, "k") for file in part.files]
    assert any(CURE in file.content for file in files)
