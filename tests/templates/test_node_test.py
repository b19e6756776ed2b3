"""Bad and slow nodes are named by trying pairs, and no sound node with them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from templates.miniapp import node_test

# A pair that tells what its nodes' names say: a bad node fails it, a slow one holds both up.
PAIR = """\
import json, sys
nodes = sys.argv[1].split(",")
if any("bad" in node for node in nodes):
    sys.exit(1)
network = 3.0 if any("slow" in node for node in nodes) else 0.3
for rank, node in enumerate(nodes):
    compute = 9.0 if "hot" in node else 1.0
    print("NODE " + json.dumps({"rank": rank, "seconds": {"compute": compute, "network": network}}))
"""


def tried(folder: Path, hosts: list[str]) -> list[str]:
    """The nodes that are left out."""
    (folder / "pair.py").write_text(PAIR)
    verdict = node_test.judge(hosts, [sys.executable, str(folder / "pair.py"), "{nodes}"], 29500)
    assert list(verdict) == hosts
    return [node for node, wrong in verdict.items() if wrong]


@pytest.mark.parametrize(
    "hosts",
    [
        ["a", "b", "c", "d"],
        ["a", "bad", "c", "d"],
        ["a", "b", "slow", "d"],
        ["hot", "b", "c", "d", "e"],
        ["a", "b", "c", "d", "bad"],
        ["bad1", "b", "slow", "d", "e", "f", "g", "h"],
        ["a", "b", "bad1", "bad2", "e", "f"],
    ],
)
def test_the_odd_nodes_are_left_out_and_no_other(hosts: list[str], tmp_path: Path) -> None:
    assert tried(tmp_path, hosts) == [host for host in hosts if host[:3] in ("bad", "slo", "hot")]


def test_where_no_pair_works_no_node_is_blamed_alone(tmp_path: Path) -> None:
    assert tried(tmp_path, ["bad1", "b"]) == ["bad1", "b"]


def test_too_few_nodes_end_with_what_to_exclude(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pair.py").write_text(PAIR)
    words = [sys.executable, str(tmp_path / "pair.py"), "{nodes}"]
    monkeypatch.setattr(sys, "argv", ["node_test.py", "--keep", "4", "--hosts", "a bad c d", "--", *words])
    assert node_test.main() == node_test.NOT_ENOUGH
    assert "--exclude=bad" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["node_test.py", "--keep", "3", "--hosts", "a bad c d", "--", *words])
    assert node_test.main() == 0
    assert capsys.readouterr().out == "a,c,d\n"


def test_a_pair_that_says_nothing_is_ended(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(60)", "{nodes}"]
    assert node_test.try_pairs([["a", "b"]], words, 29500, limit=0.5) == {"a": None, "b": None}


def test_two_processes_compute_and_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member for real, with gloo: both say their seconds."""
    pytest.importorskip("torch", reason="torch is not installed (extra: rehearse)")
    start = (
        "import os, subprocess, sys\n"
        "run = [sys.executable, sys.argv[1], '--member']\n"
        "ranks = [subprocess.Popen(run, env=dict(os.environ, SLURM_PROCID=str(r), SLURM_NTASKS='2')) for r in (0, 1)]\n"
        "sys.exit(max(rank.wait() for rank in ranks))\n"
    )
    monkeypatch.setenv("MAPLE_REHEARSAL_DEVICES", "0")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    words = [sys.executable, "-c", start, node_test.__file__, "{nodes}"]
    found = node_test.try_pairs([["127.0.0.1", "localhost"]], words, 29533)
    assert all(one and one["compute"] > 0 and one["network"] > 0 for one in found.values()), json.dumps(found)


@pytest.mark.parametrize(("slow", "batches"), [((), 1), (range(3), 1), (range(0, 60, 2), node_test.MOST_BATCHES)])
def test_work_beside_the_test_makes_no_node_slow(
    slow: Sequence[int], batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns that something else held up do not count, and where many were held up more are taken."""
    turns = iter(range(1000))
    clock = [0.0]

    def turn() -> None:
        clock[0] += 1.0 if next(turns) in slow else 0.1

    monkeypatch.setattr(node_test.time, "perf_counter", lambda: clock[0])
    assert node_test.seconds_of(turn, repeat=node_test.differ) == pytest.approx(1.0)
    assert next(turns) == batches * node_test.TURNS


def test_a_node_that_is_slow_in_most_turns_stays_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, turns = [0.0], iter(range(1000))

    def turn() -> None:
        clock[0] += 0.1 if next(turns) % 5 == 0 else 1.0

    monkeypatch.setattr(node_test.time, "perf_counter", lambda: clock[0])
    assert node_test.seconds_of(turn, repeat=node_test.differ) == pytest.approx(10.0)
