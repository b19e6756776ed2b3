"""`maple-chat report` on a real Slurm with accounting: its jobs by sacct, and logs read by workers that are jobs."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from accounting_slurm import accounting_slurm, missing_accounting
from virtual_slurm import VirtualSlurm

from assistant.cli import main
from bench.job_logs import make

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --output=out-{name}-%j.txt
#SBATCH --time=00:05:00
{body}
"""
ACCOUNTED_S = 180
BODIES = {
    "well": ("echo Training complete.", "no-failure", "COMPLETED"),
    "module": ("python3 -c 'import flashy_attention'", "env-python-package", "FAILED"),
    "code": ("exec 2>&1; python3 -c 'print({}[\"labels\"])'", "user-code", "FAILED"),
    "silent": ("exit 3", "unknown", "FAILED"),
}
# The job whose output is named on the command line, which outweighs its script.
TYPED = "module"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualSlurm]:
    if reason := missing_accounting():
        pytest.skip(reason)
    with accounting_slurm() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environment.items():
            patch.setenv(name, value)
        patch.setenv("MAPLE_CHAT_DATA", str(tmp_path_factory.mktemp("data")))
        yield running


@pytest.fixture(scope="module")
def ended(slurm: VirtualSlurm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Name -> id of jobs that have run and are in the accounting."""
    folder = tmp_path_factory.mktemp("jobs")
    ids = {}
    for name, (body, _, _) in BODIES.items():
        script = folder / f"{name}.sbatch"
        script.write_text(SCRIPT.format(name=name, body=body))
        typed = ("-o", f"{TYPED}-%j.txt") if name == TYPED else ()
        sent = slurm.run("sbatch", "--parsable", "-A", "proj", *typed, script.name, folder=folder)
        assert sent.returncode == 0, sent.stderr
        ids[name] = sent.stdout.strip()
    accounted(slurm, lambda rows: {one["JobID"] for one in rows if one["End"] != "Unknown"} >= set(ids.values()))
    return ids


Row = dict[str, str]


def accounted(slurm: VirtualSlurm, enough: Callable[[list[Row]], bool]) -> None:
    """Wait until the accounting tells enough. slurmdbd hears of jobs seconds after they start and end.

    Asked by time, as the report does it: by their ids jobs are told of earlier still.
    """
    columns, rows, deadline = ("JobID", "JobName", "State", "End"), list[Row](), time.monotonic() + ACCOUNTED_S
    while time.monotonic() < deadline:
        said = slurm.run("sacct", "-n", "-a", "-X", "-P", "-S", "now-1days", "-E", "now", "-o", ",".join(columns))
        rows = [dict(zip(columns, line.split("|"), strict=True)) for line in said.stdout.splitlines()]
        if enough(rows):
            return
        time.sleep(0.5)
    pytest.fail(f"after {ACCOUNTED_S} s the accounting tells {rows}")


def test_the_accounting_with_each_jobs_own_output(
    slurm: VirtualSlurm, ended: dict[str, str], tmp_path: Path, capsys: Any
) -> None:
    page, table = tmp_path / "p.html", tmp_path / "t.csv"
    assert main(["report", "--since", "1d", "-o", str(page), "--table", str(table), "--names"]) == 0
    with table.open(newline="") as file:
        found = {row["job"]: row for row in csv.DictReader(file)}
    assert set(found) == set(ended.values())
    for name, (_, cause, state) in BODIES.items():
        row = found[ended[name]]
        assert (row["cause"], row["state"]) == (cause, state), name
        assert row["nodes"].startswith("127.0.2.") and row["queue"] == "gpu" and row["account"] == "proj"
        assert row["user"] == "root" and row["source"].startswith(f"{name}-" if name == TYPED else f"out-{name}-")
        assert float(row["ended"]) >= float(row["started"]) > float(row["submitted"]) - 1 > 1.7e9


def test_workers_that_are_jobs_read_the_same(
    slurm: VirtualSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue (extra report)")
    import dask

    current = tmp_path / "current"
    current.mkdir()
    monkeypatch.chdir(current)
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    make(tmp_path, 150, seed=6)
    command = ["report", str(tmp_path / "logs"), "--accounting", str(tmp_path / "accounting.txt")]
    asked = ["--dask", "slurm", "--workers", "2", "--queue", "gpu", "--account", "proj", "--walltime", "00:30:00"]
    with dask.config.set({"jobqueue.slurm.memory": "900MB"}):  # as a site's file says it; a node here has 2000 MB
        assert main([*command, *asked, "-o", str(tmp_path / "jobs.html"), "--table", str(tmp_path / "jobs.csv")]) == 0
    accounted(slurm, lambda rows: any(one["JobName"] == "dask-worker" for one in rows))
    assert not list(current.iterdir()), "what the workers' jobs print lies elsewhere"
    assert list((tmp_path / "dask-workers").glob("dask-worker-*"))
    here = ["--dask", "no", "--again", "-o", str(tmp_path / "here.html"), "--table", str(tmp_path / "here.csv")]
    assert main([*command, *here]) == 0
    assert (tmp_path / "jobs.csv").read_text() == (tmp_path / "here.csv").read_text()
    assert (tmp_path / "jobs.html").read_text() == (tmp_path / "here.html").read_text()
