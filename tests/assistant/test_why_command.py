"""`maple-chat why` and `maple-chat signatures` as a person calls them."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.commands import why
from graph.debugging.jobs import JobFiles

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
TIME = "slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***"
SCRIPT = "#!/bin/bash\n#SBATCH -p regular\n#SBATCH -N 2\n#SBATCH --time=01:00:00\nsrun python train.py\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "job.log"
    path.write_text(f"step 1\n[rank2]: {OOM}\n")
    return path


def test_the_answer_for_a_person(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(log)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("The GPU ran out of memory")
    assert f"line 2, rank 2: {OOM}" in shown
    assert "What to change" in shown


def test_json(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--json", str(log)]) == 1
    value = json.loads(capsys.readouterr().out)
    assert (value["cause"], value["evidence"][0]["line"], value["evidence"][0]["rank"]) == ("gpu-oom", 2, 2)
    assert value["schema"] == 1


def test_no_failure_is_exit_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text("step 1 loss 0.1\nTraining complete.\n")
    assert main(["why", str(tmp_path / "a.log")]) == 0
    assert "no failure" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no-such.log"], "no such file"),
        (["--jsonl", "no-such.jsonl"], "cannot read"),
        (["--script", "no-such.sh", "LOG"], "cannot be read"),
        (["--machine", "no-such-machine", "LOG"], "no machine"),
    ],
)
def test_bad_input_is_exit_2(words: list[str], says: str, log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", *(str(log) if word == "LOG" else word for word in words)]) == 2
    assert says in capsys.readouterr().err


def test_jsonl_and_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(json.dumps({"id": n, "log": text}) for n, text in enumerate((OOM, TIME, "")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert main(["why", "--jsonl"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(a["id"], a["cause"]) for a in answers] == [(0, "gpu-oom"), (1, "sched-time-limit"), (2, "unknown")]


def test_a_line_that_is_no_case_is_exit_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": 1}\n')))
    assert main(["why", "--jsonl"]) == 2
    assert "line 1" in capsys.readouterr().err


def test_the_machine_and_the_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.sh").write_text(SCRIPT)
    (tmp_path / "job.log").write_text(TIME)
    words = ["why", str(tmp_path / "job.log"), "--script", str(tmp_path / "job.sh"), "--machine", "Perlmutter"]
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert "Queues of Perlmutter" in shown
    assert "-#SBATCH --time=01:00:00\n+#SBATCH --time=02:00:00" in shown
    assert main([*words, "--json"]) == 1
    assert "+#SBATCH --time=02:00:00" in json.loads(capsys.readouterr().out)["offers"][0]["diff"]


def test_signatures_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signatures", "check"]) == 0
    assert "all fine" in capsys.readouterr().out
    path = tmp_path / "ours.yaml"
    path.write_text("signatures:\n- {id: tide, pattern: 'tidal wave', cause: sea, example: 'tidal wave'}\n")
    assert main(["signatures", "check", str(path)]) == 1
    assert "no cause 'sea'" in capsys.readouterr().out


@pytest.fixture
def two_jobs(tmp_path: Path) -> Path:
    (tmp_path / "slurm-1.out").write_text(f"step 1 loss 0.1\n{OOM}\n")
    (tmp_path / "slurm-2.out").write_text(f"step 1 loss 0.1\n{TIME}\n")
    return tmp_path


def test_jobs_in_one_folder_are_told_apart(two_jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(two_jobs)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("2 jobs")
    assert "job 1 (" in shown and "): gpu-oom" in shown and "): sched-time-limit" in shown
    assert main(["why", "--json", str(two_jobs)]) == 1
    value = json.loads(capsys.readouterr().out)
    assert [(job["job"], job["cause"]) for job in value["jobs"]] == [
        ("job 1", "gpu-oom"),
        ("job 2", "sched-time-limit"),
    ]


def test_a_file_that_goes_away_while_it_is_read_is_left_out(
    two_jobs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The listing still has it, its reader does not find it."""
    (two_jobs / "slurm-1.err").write_text("step 2\n")
    (two_jobs / "slurm-3.out").write_text("step 3\n")
    listed = why.jobs

    def then_gone(paths: list[Path]) -> list[JobFiles]:
        found = listed(paths)
        for name in ("slurm-1.err", "slurm-3.out"):
            (two_jobs / name).unlink()
        return found

    monkeypatch.setattr(why, "jobs", then_gone)
    assert main(["why", str(two_jobs)]) == 1
    shown = capsys.readouterr()
    assert "job 1 (" in shown.out and "): gpu-oom" in shown.out and "job 3" not in shown.out
    assert "1 of 2 files went away" in shown.err and "job 3 is left out" in shown.err


def test_a_folder_that_goes_away_while_it_is_listed(
    two_jobs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listed, gone = why.jobs, [FileNotFoundError(2, "gone")]

    def once(paths: list[Path]) -> list[JobFiles]:
        if gone:
            raise gone.pop()
        return listed(paths)

    monkeypatch.setattr(why, "jobs", once)
    assert main(["why", str(two_jobs)]) == 1
    assert "2 jobs" in capsys.readouterr().out


def test_a_script_belongs_to_one_job(two_jobs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "--machine", "perlmutter", str(two_jobs)]) == 2
    assert "2 jobs" in capsys.readouterr().err
