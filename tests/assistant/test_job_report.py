"""`maple-chat why JOBID`, with commands of a scheduler that print what the real ones do. All content is invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.cli import main
from assistant.job_report import record_of

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


MINE = """\
JobID|JobName|User|State|ExitCode|Start|End
71|train|mira|COMPLETED|0:0|2026-11-20T10:00:00|2026-11-20T11:00:00
72|train|mira|FAILED|1:0|2026-11-20T12:00:00|2026-11-20T13:00:00
73|eval|mira|OUT_OF_MEMORY|0:125|2026-11-21T12:00:00|2026-11-21T13:00:00
74|late|mira|CANCELLED by 5|0:0|2026-11-22T12:00:00|2026-11-22T13:00:00
"""


def test_without_an_id_my_last_failed_job_is_told_and_those_before_it_listed(
    cluster: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    command(cluster, "sacct", MINE)
    command(cluster, "scontrol", SHOW.format(job=73, state="OUT_OF_MEMORY", folder=cluster))
    assert main(["why"]) == 1
    out = capsys.readouterr().out
    assert "cause: sched-host-oom" in out
    assert "\n  72  train  FAILED" in out and "74" not in out
    command(cluster, "sacct", MINE.split("72|")[0])
    assert main(["why"]) == 2
    assert "no ended job of yours that the scheduler still tells of failed" in capsys.readouterr().err
    command(cluster, "sacct", "", 1, "Unable to connect to database")
    assert main(["why"]) == 2
    assert "could not be asked (Unable to connect to database)" in capsys.readouterr().err


def test_a_failed_record_is_no_success_though_its_output_shows_none(
    cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(cluster, "scontrol", SHOW.format(job=75, state="FAILED", folder=cluster))
    command(cluster, "sacct", ACCOUNTED.format(job=75, state="FAILED"))
    (cluster / "slurm-75.out").write_text("step 1 loss 2.0\n")
    assert main(["why", "75.0"]) == 1
    out = capsys.readouterr().out
    assert "the scheduler's record says that it failed" in out
    assert "Its step 75.0 (python): `FAILED`, exit code 0:125." in out


@pytest.mark.parametrize(
    ("submitted", "script"),
    [
        ("sbatch -A a -o out-%j.log job.sh", ""),
        ("sbatch job.sh", "#!/bin/bash\\n#SBATCH -A a -t 5 -o out-%%j.log --no-requeue # as always\\n"),
    ],
)
def test_the_output_of_a_purged_job_is_found_by_its_submission(
    cluster: Path, capsys: pytest.CaptureFixture[str], submitted: str, script: str
) -> None:
    command(cluster, "scontrol", "", 1, "slurm_load_jobs error: Invalid job id specified")
    row = f"JobID|JobName|State|ExitCode|WorkDir\\n76|train|FAILED|1:0|{cluster}\\n"
    line = f"*SubmitLine*) echo '{submitted}'"
    (cluster / "sacct").write_text(
        f"#!/bin/sh\ncase \"$*\" in {line};; *-B*) printf '{script}';; *) printf '{row}';; esac\n"
    )
    (cluster / "sacct").chmod(0o755)
    (cluster / "out-76.log").write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    assert main(["why", "76"]) == 1
    assert "cause: gpu-oom" in capsys.readouterr().out


LSF_LONG = """\
Job <41>, Job Name <eval>, User <mira>, Project <p>, Status <EXIT>, Queue <gpu>, Command <#!/bin/bash;#BSUB -W 60;
                     python train.py>
Sun Nov 22 10:00:00: Submitted from host <login1>, CWD <{folder}>, Output File <eval.%J>;
Sun Nov 22 10:10:00: Exited with exit code 1. The CPU time used is 1.0 seconds;
"""
PBS_LONG = """\
Job Id: 41.pbs01
    Job_Name = eval
    Job_Owner = mira@login1
    job_state = F
    queue = gpu
    Variable_List = PBS_O_HOME=/home/mira,PBS_O_WORKDIR={folder},PBS_O_QUEUE=gpu
    Submit_arguments = -A proj job.sh
    Exit_status = 1
"""


@pytest.mark.parametrize(("scheduler", "show", "says"), [("lsf", "bjobs", LSF_LONG), ("pbs", "qstat", PBS_LONG)])
def test_a_script_that_the_scheduler_does_not_keep_comes_by_its_record(
    cluster: Path, monkeypatch: pytest.MonkeyPatch, scheduler: str, show: str, says: str
) -> None:
    monkeypatch.setattr("assistant.job_report.scheduler_here", lambda: scheduler)
    (cluster / "job.sh").write_text("#!/bin/bash\n#PBS -l walltime=01:00:00\npython train.py\n")
    command(cluster, show, says.format(folder=cluster))
    script = record_of("41").script
    assert script.startswith("#!/bin/bash\n#") and script.endswith("\npython train.py\n")
