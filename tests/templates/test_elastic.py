"""Elastic restarts with gloo on this computer, by the launch line that the script has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

# Rank 1 fails once; then both sum.
FAILS_ONCE = """\
import os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
count = os.environ["TORCHELASTIC_RESTART_COUNT"]
if count == "0" and dist.get_rank() == 1:
    sys.exit(1)
one = torch.ones(1)
dist.all_reduce(one)
open(f"sum-{dist.get_rank()}", "w").write(f"{count} {one.item():g}")
"""


def test_a_failed_rank_is_started_again_as_the_script_says(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra: rehearse)")
    asked = JobRequest(machine="perlmutter", framework="pytorch", strategy="ddp", nodes=2, least_nodes=1, account="m1")
    decided = plan(asked, catalogue().clusters["perlmutter"])
    assert isinstance(decided, LaunchPlan)
    text = render(decided).script
    restarts = re.search(r"--max-restarts=\d", text)
    assert restarts and '--nnodes=1:"$NNODES"' in text and "--no-kill" in text
    (tmp_path / "train.py").write_text(FAILS_ONCE)
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", restarts[0], "--monitor-interval=0.1"]
    done = subprocess.run(
        [sys.executable, *words, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / f"sum-{rank}").read_text() for rank in (0, 1)] == ["1 2", "1 2"]
