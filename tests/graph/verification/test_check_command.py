"""`maple-chat check`, through the front door."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from assistant.cli import main

GOLDEN = Path(__file__).parents[2] / "golden"
GOOD = (GOLDEN / "perlmutter" / "pytorch-ddp.sh").read_text().replace("YOUR_ACCOUNT", "m1234")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.sh"
    path.write_text(GOOD)
    return path


def test_a_good_script(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(job), "--machine", "perlmutter"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Nothing found, checked on Perlmutter.")
    assert out.splitlines()[-1].startswith("Not seen: ")


def test_an_error_has_its_line_and_exit_one(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text(GOOD.replace("--time=01:00:00", "--time=96:00:00"))
    assert main(["check", str(job), "--machine", "perlmutter"]) == 1
    out = capsys.readouterr().out
    assert "error: line 12: " in out or "[queue-walltime]" in out
    assert "#SBATCH --time=96:00:00" in out
    assert "fix: walltime 48:00:00" in out


def test_json(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text(GOOD.replace('--nnodes="$NNODES"', "--nnodes=3"))
    assert main(["check", str(job), "--machine", "perlmutter", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["errors"] == 1
    assert answer["findings"][0]["rule"] == "launch-machines"


def test_the_machine_is_taken_from_the_script(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(job)]) == 0
    assert "Perlmutter" in capsys.readouterr().out


def test_without_a_machine_the_general_rules_run(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text("#!/bin/bash\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\nsrun torchrun --nnodes=3 train.py\n")
    assert main(["check", str(job)]) == 1
    out = capsys.readouterr().out
    assert "launch-machines" in out and "Nothing in the script tells the machine" in out
    assert main(["check", str(job), "--machine", "perlmuter"]) == 2
    assert "perlmutter" in capsys.readouterr().err


def test_weak_marks_are_said_and_no_error_rests_on_them(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text("#!/bin/bash\n#SBATCH -A m1234_g -C gpu -q regular -N 2 -t 99:00:00\npython train.py\n")
    assert main(["check", str(job), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["machine"] is None and "may be for Perlmutter ('m1234_g' on line 2)" in answer["machine_by"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert main(["check", "-", "--machine", "perlmutter"]) == 0


def test_fix_writes_beside_and_leaves_the_script_alone(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = GOOD.replace("\n", "\r\n").replace("--qos=regular", "--qos=regulr")
    job.write_bytes(bad.encode())
    assert main(["check", str(job), "--machine", "perlmutter", "--fix"]) == 0
    out = capsys.readouterr().out
    assert "+#SBATCH --qos=regular" in out
    assert job.read_bytes() == bad.encode()
    assert (job.parent / "job.sh.fixed").read_text() == GOOD


def test_fix_with_nothing_to_cure_writes_nothing(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(job), "--machine", "perlmutter", "--fix"]) == 0
    assert list(job.parent.iterdir()) == [job]


@pytest.mark.parametrize("words", [["nowhere.sh"], ["-", "--fix"]])
def test_bad_input_is_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert main(["check", *words, "--machine", "perlmutter"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_script_itself_is_never_overwritten(job: Path) -> None:
    assert main(["check", str(job), "--machine", "perlmutter", "--fix", "-o", str(job)]) == 2
    assert job.read_text() == GOOD


def test_bytes_that_are_no_text_survive_and_reach_no_terminal(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_bytes(GOOD.encode().replace(b"regular", b"regu\xe9\x1b[2Jlar"))
    assert main(["check", str(job), "--machine", "perlmutter"]) in (0, 1)
    out = capsys.readouterr().out
    assert "\x1b" not in out
