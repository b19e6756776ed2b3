"""`maple-chat why JOBID`, with commands of a scheduler that print what the real ones do. All content is invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.cli import main

SHOW = """\
JobId={job} JobName=train
   UserId=mira(51234) GroupId=users(100) MCS_label=N/A
   JobState={state} Reason=None Dependency=(null)
   RunTime=00:10:00 TimeLimit=01:00:00 TimeMin=N/A
   WorkDir={folder}
   StdErr={folder}/slurm-{job}.out
   StdOut={folder}/slurm-{job}.out
"""
ACCOUNTED = """\
JobID|JobName|State|ExitCode|Elapsed|Timelimit|ReqMem|MaxRSS
{job}|train|{state}|0:125|00:10:00|01:00:00|32G|
{job}.0|python|{state}|0:125|00:10:00||32G|31.9G
"""


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of commands, first on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    command(tmp_path, "squeue", "")
    return tmp_path


def command(folder: Path, name: str, prints: str, code: int = 0, says: str = "") -> None:
    (folder / f"{name}.txt").write_text(prints)
    (folder / name).write_text(f"#!/bin/sh\ncat {folder}/{name}.txt\necho '{says}' >&2\nexit {code}\n")
    (folder / name).chmod(0o755)


def test_the_record_tells_what_the_output_does_not(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(cluster, "scontrol", SHOW.format(job=71, state="OUT_OF_MEMORY", folder=cluster))
    command(cluster, "sacct", ACCOUNTED.format(job=71, state="OUT_OF_MEMORY"))
    (cluster / "slurm-71.out").write_text("step 1 loss 2.0\nstep 2 loss 1.9\n")
    assert main(["why", "71"]) == 1
    out = capsys.readouterr().out
    assert "cause: sched-host-oom" in out
    assert "31.9 GB of memory; 32.0 GB were asked for" in out
    assert "It ran for 10 min of the 1 h" in out


def test_a_job_that_waits_has_not_failed(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(cluster, "scontrol", SHOW.format(job=72, state="PENDING", folder=cluster).replace("=None", "=Priority"))
    command(cluster, "sacct", "")
    assert main(["why", "72"]) == 0
    assert "other waiting jobs" in capsys.readouterr().out


def test_a_purged_job_and_a_silent_controller_are_two_answers(
    cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(cluster, "scontrol", "", 1, "slurm_load_jobs error: Invalid job id specified")
    command(cluster, "sacct", "JobID|JobName|State\n")
    assert main(["why", "73"]) == 2
    assert "knows no job 73" in capsys.readouterr().err
    command(cluster, "scontrol", "", 1, "slurm_load_jobs error: Unable to contact slurm controller")
    command(cluster, "sacct", "", 1, "Unable to connect to database")
    assert main(["why", "73"]) == 2
    assert "could not be asked" in capsys.readouterr().err


def test_pending_without_a_job_tells_mine(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = "JOBID|PARTITION|NAME|USER|STATE|TIME|TIME_LIMIT|NODES|START_TIME|QOS|ACCOUNT|REASON|NODELIST\n"
    command(cluster, "squeue", f"{header}9|gpu|t|mira|PENDING|0:00|1:00:00|2|N/A|normal|proj|JobHeldUser|\n")
    for name in ("scontrol", "sinfo", "sacct"):
        command(cluster, name, "")
    assert main(["pending"]) == 1
    assert "scontrol release 9" in capsys.readouterr().out
    command(cluster, "squeue", header)
    assert main(["pending"]) == 2
    assert "no job of yours waits or runs (the scheduler was asked)" in capsys.readouterr().err


def test_without_a_scheduler_it_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert main(["pending", "71"]) == 2
    assert main(["why", "71"]) == 2
    assert capsys.readouterr().err.count("login node") == 2
