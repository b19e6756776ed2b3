"""What a first run says of the network: sockets end it, a node that uses fewer cards than it has is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan
from templates.render import render

HEAD = "jwb01:71:90 [0] NCCL INFO "
ALL = "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB ib0:10.0.0.1<0>"
ONE = "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.1<0>"


def after_the_run(folder: Path, machine: str, logs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The part of the script that looks at what NCCL wrote, run on logs of this folder."""
    asked = JobRequest(machine=machine, framework="pytorch", strategy="ddp", nodes=2, first_run=True)
    decided = plan(asked, catalogue().clusters[machine])
    assert isinstance(decided, LaunchPlan), decided
    block = render(decided).script.partition("# --- The fast network was used")[2]
    for name, line in logs.items():
        (folder / name).write_text(f"{HEAD}Bootstrap : Using ib0\n{HEAD}{line}\n")
    text = f"set -eo pipefail\n#{block}"
    return subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("machine", "line", "used"),
    [
        ("juwels-booster", ALL, None),
        ("juwels-booster", ONE, "1 of 4"),
        ("perlmutter", "NET/OFI Selected provider is cxi, fabric is cxi (found 4 nics)", None),
        ("perlmutter", "NET/OFI Selected Provider is cxi (found 2 nics)", "2 of 4"),
        ("polaris", "NET/OFI Selected Provider is cxi (found 1 nics)", "1 of 2"),
    ],
)
def test_a_node_that_uses_fewer_cards_is_named_once(tmp_path: Path, machine: str, line: str, used: str | None) -> None:
    done = after_the_run(tmp_path, machine, {"first-run-jwb01-71.log": line, "first-run-jwb01-72.log": line})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("jwb01: NCCL uses") == (1 if used else 0)
    assert not used or f"{used} network cards" in done.stderr


def test_sockets_end_the_run(tmp_path: Path) -> None:
    assert after_the_run(tmp_path, "perlmutter", {"first-run-n1-1.log": "Using network Socket"}).returncode == 1


def test_a_run_without_logs_of_nccl_says_nothing(tmp_path: Path) -> None:
    done = after_the_run(tmp_path, "perlmutter", {})
    assert done.returncode == 0 and "network cards" not in done.stderr
