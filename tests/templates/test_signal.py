"""The signal before the limit reaches the ranks, also where only the task itself gets it, as under cgroups."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.job_parts import LimitSignal
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

# Starts what it is given as one task, and hands signals on to that alone.
SRUN = """#!/usr/bin/env python3
import signal, subprocess, sys
words = sys.argv[1:]
while words[0].startswith("-"):
    words.pop(0)
task = subprocess.Popen(words)
signal.signal(signal.SIGUSR1, lambda *_: task.send_signal(signal.SIGUSR1))
sys.exit(task.wait())
"""
# Two ranks in sessions of their own; of them only the first has a handler.
LAUNCHER = """#!/usr/bin/env python3
import subprocess, sys
ranks = [subprocess.Popen([sys.executable, "rank.py", str(rank)], start_new_session=True) for rank in (0, 1)]
sys.exit(max(rank.wait() for rank in ranks))
"""
RANK = """
import signal, sys, time
told = []
if sys.argv[1] == "0":
    signal.signal(signal.SIGUSR1, lambda *_: told.append(1))
open("started-" + sys.argv[1], "w").close()
end = time.monotonic() + 5
while time.monotonic() < end and not told:
    time.sleep(0.05)
if told:
    open("saved", "w").close()
"""


@pytest.mark.parametrize("framework", ["pytorch", "accelerate"])
def test_the_signal_passes_the_launcher_of_ranks(tmp_path: Path, framework: str) -> None:
    request = JobRequest(machine="perlmutter", framework=framework, strategy="ddp", nodes=1, entry="train.py",  # type: ignore[arg-type]
                         account="m1", signal=LimitSignal())  # fmt: skip
    decided = plan(request, catalogue().clusters["perlmutter"])
    assert isinstance(decided, LaunchPlan)
    script = tmp_path / "job.sh"
    script.write_text(render(decided).script.replace("module load", ": module load"))
    (tmp_path / "rank.py").write_text(RANK)
    for name, text in {"srun": SRUN, "torchrun": LAUNCHER, "accelerate": LAUNCHER,
                       "scontrol": "#!/bin/sh\necho node1\n"}.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    known = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "1",
             "SLURM_JOB_NODELIST": "node1", "HOME": str(tmp_path), "SCRATCH": str(tmp_path)}  # fmt: skip
    job = subprocess.Popen(["bash", str(script)], cwd=tmp_path, env=known, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while len(list(tmp_path.glob("started-*"))) < 2 and time.monotonic() < until and job.poll() is None:
        time.sleep(0.05)
    job.send_signal(signal.SIGUSR1)
    printed, _ = job.communicate(timeout=30)
    assert (tmp_path / "saved").exists() and job.returncode == 0, printed
