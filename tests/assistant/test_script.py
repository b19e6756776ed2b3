"""`maple-chat script`: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assistant.cli import main

PLAIN = ["script", "--machine", "perlmutter", "--strategy", "zero3", "--nodes", "2", "--account", "m1234"]
OURS = """#!/bin/bash
#SBATCH -A m4321_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH -t 00:30:00
module load pytorch
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun torchrun --nnodes=2 --nproc-per-node=4 --rdzv-backend=c10d --rdzv-endpoint=$MASTER_ADDR:29500 \\
    train_vit.py --use_ddp --epochs 3
"""


def test_the_script_alone_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PLAIN) == 0
    out, err = capsys.readouterr()
    assert out.startswith("#!/bin/bash\n")
    assert "assumed walltime = 01:00:00" in err
    assert "needs ds_zero3.json beside it" in err


def test_a_folder_gets_the_script_and_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAIN, "-o", str(tmp_path / "job")]) == 0
    assert {path.name for path in (tmp_path / "job").iterdir()} == {"perlmutter-deepspeed-zero3.sh", "ds_zero3.json"}
    assert capsys.readouterr().out == ""
    assert (tmp_path / "job" / "perlmutter-deepspeed-zero3.sh").stat().st_mode & 0o100
    assert main([*PLAIN, "-o", str(tmp_path / "job")]) == 0
    (tmp_path / "job" / "ds_zero3.json").write_text("mine")
    assert main([*PLAIN, "-o", str(tmp_path / "job")]) == 2
    assert "exists and differs; give --force" in capsys.readouterr().err
    assert main([*PLAIN, "-o", str(tmp_path / "job"), "--force"]) == 0


def test_json_holds_script_and_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PLAIN, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["plan"]["nodes"] == 2
    assert answer["bundle"]["files"][0]["name"] == "ds_zero3.json"


def test_a_refusal_exits_1_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["script", "--machine", "aurora", "--strategy", "ddp", "--nodes", "64", "--walltime", "03:00:00"]
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "64 nodes for 01:00:00 (queue debug-scaling)" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--machine", "perlmuter", "--strategy", "ddp", "--nodes", "1"], "did you mean perlmutter"),
        (["--machine", "polaris", "--strategy", "ddp"], "--nodes is needed"),
        (["--machine", "polaris", "--strategy", "ddp", "--nodes", "0"], "nodes is 0"),
        (["--machine", "polaris", "--strategy", "ddp", "--nodes", "2", "--args", "'open"], "open quote"),
        (["--machine", "polaris", "--from", "/nowhere/x.sh"], "/nowhere/x.sh cannot be read"),
    ],
)
def test_wrong_input_is_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["script", *words]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1


def test_a_script_is_ported_with_its_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "old.sh"
    source.write_text(OURS)
    assert main(["script", "--from", str(source), "--machine", "polaris", "--account", "proj"]) == 0
    out, err = capsys.readouterr()
    assert "#PBS -A proj" in out
    assert "train_vit.py --use_ddp --epochs 3" in out
    assert "module load pytorch" not in out
    assert "#SBATCH -A m4321_g" in err
