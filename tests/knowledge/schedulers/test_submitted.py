"""A job's script as it was submitted: with its command line's options, and only where it is still the same file."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from knowledge.schedulers.accounting import APART, read_accounting
from knowledge.schedulers.output_files import output_files, typed
from knowledge.schedulers.records import QueuedJob
from knowledge.schedulers.submitted import as_submitted
from knowledge.types import Scheduler

SCRIPT = "#!/bin/bash\n#SBATCH --nodes=900\n#SBATCH --output=out-%j.txt\nsrun python train.py\n"


def job(line: str, folder: Path | str = "", submitted: float = 0.0) -> QueuedJob:
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(submitted))
    return QueuedJob("slurm", "7", submitted=at, fields=(("SubmitLine", line), ("WorkDir", str(folder))))


@pytest.mark.parametrize(
    ("line", "added"),
    [
        ("sbatch run.sh", ""),
        (
            "/usr/bin/sbatch -N 2 --exclusive -pgpu run.sh -N 9",
            "#SBATCH --nodes=2\n#SBATCH --exclusive\n#SBATCH --partition=gpu\n",
        ),
        ("sbatch --parsable -J 'my job' -G 4 run.sh", "#SBATCH --job-name='my job'\n#SBATCH --gpus=4\n"),
        ("srun -N 4 python x.py", ""),
        ("sbatch 'unended", ""),
    ],
)  # fmt: skip
def test_options_of_the_command_line_stand_behind_the_script_s_own(line: str, added: str) -> None:
    own = "#SBATCH --output=out-%j.txt\n"
    assert as_submitted(job(line), SCRIPT) == SCRIPT.replace(own, own + added)


def test_the_file_counts_only_while_it_is_what_was_submitted(tmp_path: Path) -> None:
    script, now = tmp_path / "run.sh", time.time()
    script.write_text(SCRIPT)
    os.utime(script, (now - 60, now - 60))
    assert as_submitted(job("sbatch run.sh", tmp_path, now), "") == SCRIPT
    assert as_submitted(job("sbatch gone.sh", tmp_path, now), "") == ""
    assert as_submitted(job("sbatch --wrap 'python x.py'", tmp_path, now), "") == ""
    os.utime(script, (now + 60, now + 60))
    assert as_submitted(job("sbatch run.sh", tmp_path, now), "") == "", "changed since"


def test_a_command_line_of_several_lines_is_one_row() -> None:
    head = APART.join(("JobID", "State", "SubmitLine"))
    rows = [APART.join(("7", "FAILED", "sbatch --wrap 'a\nb\nc'")), APART.join(("8", "COMPLETED", "sbatch x.sh"))]
    assert [one.id for one in read_accounting("\n".join((head, *rows)))] == ["7", "8"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("sbatch -o logs/x.out train.sh --output results/model.txt", ["logs/x.out"]),
        ("sbatch train.sh -e 10", []),
        ("sbatch --wrap='python x.py -o y' -o my.out", ["my.out"]),
        ("sbatch -o 'a b.out' train.sh", ["a b.out"]),
        ("sbatch 'unended", []),
    ],
)
def test_an_output_typed_behind_the_script_is_the_program_s(line: str, names: list[str]) -> None:
    assert typed(line) == names


@pytest.mark.parametrize("mark", ["#flux:", "#FLUX:", "# flux:", "#  FLUX:"])
@pytest.mark.parametrize("pattern", ["{{name}}-{{id}}.out", "out-{{jobid.f58}}.txt", "{{name}}.out"])
def test_a_flux_job_s_own_output_is_found_and_no_other_job_s(tmp_path: Path, mark: str, pattern: str) -> None:
    for name, number in (("train", "f7"), ("other", "f8")):
        path = tmp_path / pattern.replace("{{name}}", name).replace("{{id}}", number).replace("{{jobid.f58}}", number)
        path.write_text("x")
    job = QueuedJob("flux", "f7", name="train", fields=(("WorkDir", str(tmp_path)),))
    found = output_files(job, f"#!/bin/bash\n{mark} -N 2\n{mark} --output={pattern}\nflux run ./a.out\n")
    assert [path.name for path in found] == [
        pattern.replace("{{name}}", "train").replace("{{id}}", "f7").replace("{{jobid.f58}}", "f7")
    ]


@pytest.mark.parametrize(
    ("scheduler", "script"),
    [
        ("flux", "#flux: --output={{tmpdir}}.out\n"),
        ("slurm", "#SBATCH -o %N.out\n"),
        ("slurm", "#SBATCH -o %x-%N.out\n"),
    ],
)
def test_a_name_that_tells_no_job_is_not_read(tmp_path: Path, scheduler: Scheduler, script: str) -> None:
    for name in ("other.out", "train-gpu003.out"):
        (tmp_path / name).write_text("of another job")
    job = QueuedJob(scheduler, "f7", name="train", fields=(("WorkDir", str(tmp_path)),))
    assert output_files(job, "#!/bin/bash\n" + script) == ()
