"""Elastic restarts with gloo on this computer, by the launch line that the script has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

# The only rank fails once, then sums. With two, the new start of one may meet the old one of the other.
FAILS_ONCE = """\
import os
import torch, torch.distributed as dist
dist.init_process_group("gloo")
count = os.environ["TORCHELASTIC_RESTART_COUNT"]
if count == "0":
    os._exit(1)
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
    meet = ["--nnodes=1", "--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    words = ["-m", "torch.distributed.run", *meet, "--nproc-per-node=1", restarts[0], "--monitor-interval=0.1"]
    done = subprocess.run(
        [sys.executable, *words, "train.py"],
        cwd=tmp_path,
        env=os.environ | {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    count, total = (tmp_path / "sum-0").read_text().split()
    assert count != "0" and total == "1"
