"""Reading by Dask: here, and on a running scheduler of which workers die. The same result as in one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.job_logs import make
from graph.reporting.inputs import JobInput, from_folders
from graph.reporting.kept import KeptRecords
from graph.reporting.reading import Reading
from graph.usecases.report_failures import read_here, read_records
from knowledge.errors import InputError
from knowledge.job_record import JobRecord
from knowledge.schedulers.accounting import read_accounting

pytest.importorskip("distributed", reason="needs distributed (extra report)")
pytestmark = pytest.mark.xdist_group("dask")

from graph.reporting.dask_workers import DaskReader, DaskWanted, _cluster, dask_client  # noqa: E402

HOW = Reading(b"key")
JOBS = 260


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[JobInput]:
    folder = tmp_path_factory.mktemp("jobs")
    make(folder, JOBS, seed=4)
    return from_folders([folder / "logs"], read_accounting((folder / "accounting.txt").read_text()))


@pytest.fixture(scope="module")
def expected(jobs: list[JobInput], tmp_path_factory: pytest.TempPathFactory) -> list[JobRecord]:
    """What one process reads."""
    return read_records(jobs, HOW, KeptRecords(tmp_path_factory.mktemp("here") / "kept"), read_here)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts parts of Dask; ends them after the test."""
    running: list[subprocess.Popen[bytes]] = []

    def started(part: str, *words: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running.append(
            subprocess.Popen(command, env=os.environ | environment, start_new_session=True, **quiet)  # type: ignore[call-overload]
        )
        return running[-1]

    yield started
    for child in running:
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, end)
                child.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def scheduler(start: Callable[..., subprocess.Popen[bytes]], folder: Path, **environment: str) -> str:
    """The address of a running scheduler."""
    told = folder / "scheduler.json"
    start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", f"--scheduler-file={told}", **environment
    )
    deadline = time.monotonic() + 60
    while not told.exists():
        assert time.monotonic() < deadline, "no scheduler"
        time.sleep(0.1)
    import json

    address: str = json.loads(told.read_text())["address"]
    return address


def test_a_local_cluster_reads_the_same(jobs: list[JobInput], expected: list[JobRecord], tmp_path: Path) -> None:
    with dask_client(DaskWanted("local", 2)) as client:
        assert read_records(jobs, HOW, KeptRecords(tmp_path / "kept"), DaskReader(client)) == expected


def test_a_killed_worker_loses_nothing(
    jobs: list[JobInput],
    expected: list[JobRecord],
    tmp_path: Path,
    start: Callable[..., subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = scheduler(start, tmp_path)
    workers = [start("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny") for _ in range(2)]
    kept = KeptRecords(tmp_path / "kept")
    real = kept.keep

    def keep(read: object) -> None:
        real(read)  # type: ignore[arg-type]
        if workers[0].poll() is None:
            workers[0].kill()
            workers[0].wait()

    monkeypatch.setattr(kept, "keep", keep)
    with dask_client(DaskWanted(address)) as client:
        client.wait_for_workers(2, timeout=60)
        assert read_records(jobs, HOW, kept, DaskReader(client)) == expected
        assert len(client.nthreads()) == 1


def test_a_job_that_ends_every_worker_is_the_only_one_lost(
    jobs: list[JobInput], expected: list[JobRecord], tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    deadly = jobs[40].name
    (tmp_path / "deadly.py").write_text(
        "import os\nfrom graph.reporting import reading\n"
        "reading.real = getattr(reading, 'real', reading.read_job)\n"  # a preload may be loaded twice
        f"reading.read_job = lambda job, how: os._exit(1) if job.name == {deadly!r} else reading.real(job, how)\n"
    )
    address = scheduler(start, tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    start("worker", address, "--nthreads", "1", "--no-dashboard", "--preload", str(tmp_path / "deadly.py"))
    with dask_client(DaskWanted(address)) as client:
        read = read_records(jobs[:96], HOW, KeptRecords(tmp_path / "kept"), DaskReader(client))
    lost = [record.job for record in read if record.mark == "not read"]
    assert lost == [deadly]
    assert [one for one in read if one.job != deadly] == [one for one in expected[:96] if one.job != deadly]


def test_workers_with_other_signatures_are_refused(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    own = tmp_path / "config" / "maple-chat" / "signatures"
    own.mkdir(parents=True)
    (own / "site.yaml").write_text("about: ours\nsignatures: []\n")
    address = scheduler(start, tmp_path)
    start("worker", address, "--nthreads", "1", "--no-dashboard", XDG_CONFIG_HOME=str(tmp_path / "config"))
    with pytest.raises(InputError, match="other failure signatures"), dask_client(DaskWanted(address)):
        pass


@pytest.mark.parametrize(
    ("where", "command", "lines"),
    [
        ("pbs", "qsub", ("#PBS -q batch", "#PBS -A proj", "#PBS -l walltime=00:30:00")),
        ("lsf", "bsub", ("#BSUB -q batch", '#BSUB -P "proj"', "#BSUB -W 00:30")),
        ("slurm", "sbatch", ("#SBATCH -p batch", "#SBATCH -A proj", "#SBATCH -t 00:30:00")),
    ],
)
def test_workers_jobs_ask_in_their_scheduler_s_own_words(
    where: str, command: str, lines: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue (extra report)")
    for name in (command, {"qsub": "qdel", "bsub": "bkill", "sbatch": "scancel"}[command]):
        stand_in = tmp_path / name
        stand_in.write_text("#!/bin/sh\necho 'Submitted batch job 1'\necho 'Job <1> is submitted to queue <batch>.'\n")
        stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with _cluster(DaskWanted(where, 1, "batch", "proj", "00:30:00", tmp_path / "out")) as cluster:
        asked = cluster.job_script().splitlines()
        assert set(lines) <= set(asked), "bsub, for one, takes hours and minutes only"
        assert ":8787" not in (cluster.dashboard_link or ""), "no page of Dask's own on a login node"
