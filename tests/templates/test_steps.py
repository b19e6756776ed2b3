"""Steps and arguments in a script that runs: a shell's own words work, what is data stays data."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from graph.planning.plan import plan
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest, LaunchPlan, Variable
from templates.render import render


def run(folder: Path, ends: int = 0, **fields: object) -> tuple[str, int]:
    """What the script prints and ends with, where srun prints its program's arguments and ends so."""
    binaries = folder / "bin"
    binaries.mkdir()
    for name, text in {"srun": f'printf "<%s>" "$@"; echo; exit {ends}', "module": "", "scontrol": "echo a"}.items():
        (binaries / name).write_text(f"#!/bin/bash\n{text}\n")
        (binaries / name).chmod(0o755)
    request = JobRequest(framework="pytorch", strategy="ddp", nodes=2, entry="train.py", account="m1", **fields)  # type: ignore[arg-type]
    cluster = catalogue().find("perlmutter")
    assert cluster is not None
    decided = plan(request, cluster)
    assert isinstance(decided, LaunchPlan)
    env = {"PATH": f"{binaries}:{os.environ['PATH']}", "HOME": "/h", "SCRATCH": "/s", "MORE": "--amp --fast"}
    env |= {"SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "a,b", "SLURM_JOB_ID": "7"}
    done = subprocess.run(
        ["bash"], input=render(decided).script, capture_output=True, text=True, cwd=folder, env=env, timeout=20
    )
    return done.stdout, done.returncode


@pytest.mark.parametrize("ends", [0, 3])
def test_a_step_after_it_sees_how_the_program_ended(tmp_path: Path, ends: int) -> None:
    after = ('echo "ended with $?"', "[ $? -eq 0 ] && touch good", "ls *.txt | wc -l > many")
    (tmp_path / "a.txt").touch()
    told, code = run(tmp_path, ends, after=after)
    assert f"ended with {ends}" in told and code == ends and (tmp_path / "good").exists() is (ends == 0)
    assert (tmp_path / "many").read_text().strip() == "1"


def test_a_step_after_it_that_asks_nothing_runs_after_success_alone(tmp_path: Path) -> None:
    assert run(tmp_path, 3, after=("touch good",))[1] == 3 and not (tmp_path / "good").exists()


def test_a_step_before_it_is_a_line_of_shell(tmp_path: Path) -> None:
    run(tmp_path, before=('mkdir -p "out/$SLURM_JOB_ID" && echo $(date +%Y) > out/$SLURM_JOB_ID/year',))
    assert (tmp_path / "out" / "7" / "year").read_text().startswith("20")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ("--tag ${TAG:-x} --out $SCRATCH/run-$SLURM_JOB_ID", "<--tag><x><--out></s/run-7>"),
        ("$MORE --price '5 $'", "<--amp><--fast><--price><5 $>"),
        ('"$MORE"', "<--amp --fast>"),
        ("--data ${SCRATCH#/}", "<--data><s>"),
        ("--say '$(date)' --x `date`", "<--say><$(date)><--x><`date`>"),
        ("'${X:-$(touch BAD)}'", "<${X:-$(touch BAD)}>"),
    ],
)
def test_arguments_may_use_variables_and_run_nothing(tmp_path: Path, args: str, words: str) -> None:
    told, _ = run(tmp_path, args=args)
    assert f"<train.py>{words}\n" in told and not (tmp_path / "BAD").exists()


def test_a_variable_that_a_command_prints_is_set_when_the_job_starts(tmp_path: Path) -> None:
    (tmp_path / "seed.txt").write_text("42")
    told, _ = run(tmp_path, args="--seed $SEED", variables=(Variable("SEED", "$(cat seed.txt)", expand=True),))
    assert "<--seed><42>" in told
