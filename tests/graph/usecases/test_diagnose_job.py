"""A log and a script in, the mended script out: the six forms of a message, and what costs is only offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.remedies import price
from graph.reading.message import take_apart
from graph.usecases.diagnose_job import diagnose_job
from knowledge.catalogue import catalogue
from knowledge.types import JobRequest

SCRIPT = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -q regular
#SBATCH -N 2
#SBATCH --gpus-per-node=4
#SBATCH -t 01:00:00

# my comment
module load pytorch
export MASTER_PORT=29500

srun torchrun --nnodes=2 \\
  --nproc-per-node=4 train.py --lr 1e-4
"""
LOG = """Epoch 1 loss 0.3
[rank0]: Traceback (most recent call last):
[rank0]:   File "train.py", line 3
RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use)
srun: error: nid001: task 0: Exited with exit code 1
"""
FORMS = {
    "script first": f"why did this fail? my script:\n{SCRIPT}\nlog:\n{LOG}",
    "log first": f"{LOG}\n\n{SCRIPT}\nwhat is wrong?",
    "both fenced": f"why did this fail?\n```bash\n{SCRIPT}```\nand the log\n```\n{LOG}```",
    "fences without words": f"```\n{LOG}```\n```\n{SCRIPT}```\nfix it please",
    "words between": f"my job died\n\n{SCRIPT}\n\nit printed\n\n{LOG}",
    "words last": f"{SCRIPT}\n{LOG}\nPlease fix it.",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_message_is_taken_apart_in_any_order(form: str) -> None:
    message = take_apart(FORMS[form])
    assert [one.text for one in message.scripts] == [SCRIPT.strip("\n")]
    assert [one.text for one in message.logs] == [LOG.strip("\n")]
    assert "rank0" not in message.words and "SBATCH" not in message.words


def test_only_the_line_of_the_cure_changes() -> None:
    report = diagnose_job(LOG, SCRIPT)
    assert report.diagnosis.cause == "comm-port-in-use" and report.mended
    before, after = SCRIPT.splitlines(), report.mended.text.splitlines()
    assert [line for line in before if line not in after] == ["export MASTER_PORT=29500"]
    assert len(before) == len(after)


def test_a_cure_that_costs_is_offered_with_its_price() -> None:
    report = diagnose_job(
        "slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***", SCRIPT
    )
    assert report.mended and report.mended.text == SCRIPT
    assert [one.price for one in report.mended.offers] == ["up to 4 node hours instead of 2"]


def test_the_offered_queue_keeps_the_time() -> None:
    text = SCRIPT.replace("regular", "debug").replace("01:00:00", "02:00:00")
    report = diagnose_job("sbatch: error: QOSMaxWallDurationPerJobLimit\n", text)
    assert report.mended and "+#SBATCH -t 00:30:00" in report.mended.diff
    (offer,) = report.mended.offers
    assert "#SBATCH -q regular" in offer.script and "-t 02:00:00" in offer.script


CAUSES = (
    "RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use)",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=8123377.0. Some of the step tasks have been OOM Killed.",
    "slurmstepd: error: execve(): python: No such file or directory",
    "RuntimeError: Distributed package doesn't have NCCL built in",
    "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "OSError: We couldn't connect to 'https://huggingface.co' to load the files",
    "ModuleNotFoundError: No module named 'flash_attn'",
)
GOLDEN = sorted(Path(__file__).parents[2].joinpath("golden").rglob("*.sh"))[::9]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_cure_adds_or_replaces_few_lines_of_a_golden_script(path: Path) -> None:
    script = path.read_text(encoding="utf-8")
    cluster = catalogue().find(path.parent.name)
    for log in CAUSES:
        mended = diagnose_job(log, script, cluster).mended
        if mended is None or not mended.diff:
            continue
        gone = [line for line in script.splitlines() if line not in mended.text.splitlines()]
        assert len(gone) <= 3, (log, gone)
        assert all("PROGRAM" not in line and "account" not in line.lower() for line in gone), (log, gone)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (
            "OSError: [Errno 122] Disk quota exceeded: '/global/homes/l/me/.cache/huggingface/hub/x'",
            'export HF_HOME="$SCRATCH/huggingface"',
        ),
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity of "
            "79.15 GiB of which 1.02 GiB is free. Of the allocated memory 64.90 GiB is allocated by PyTorch, and "
            "11.73 GiB is reserved by PyTorch but unallocated.",
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        ),
    ],
)
def test_a_line_is_put_before_the_launch(log: str, line: str) -> None:
    mended = diagnose_job(log, SCRIPT).mended
    assert mended and mended.text.splitlines()[-3:-2] == [line]


def test_no_cure_is_offered_that_the_file_has_no_place_for() -> None:
    """Another strategy lies in the program: said among the steps, never offered as a change of this file."""
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a total capacity of 39 GiB"
    report = diagnose_job(oom, SCRIPT)
    assert report.mended and report.mended.offers == () and any("FSDP" in step for step in report.diagnosis.fix)


def test_a_message_quoted_in_the_words_is_read_to_its_closing_quote() -> None:
    message = take_apart("it says 'qsub: would exceed queue generic's per-user limit' when I send it\n" + SCRIPT)
    assert [one.text for one in message.logs] == ["qsub: would exceed queue generic's per-user limit"]
    assert "when I send it" in message.words


def test_the_limit_of_jobs_is_told_as_one_of_jobs() -> None:
    found = diagnose_job("qsub: would exceed queue generic's per-user limit of jobs in 'Q' state").diagnosis
    assert found.cause == "sched-over-limit" and found.fix[0].startswith("Fewer jobs at once")


def test_only_a_smaller_batch_costs_more_steps() -> None:
    before = JobRequest(args="--bs 64 --id 3")
    assert price(before, JobRequest(args="--bs 64")) == "" == price(before, JobRequest(args="--bs 128"))
    assert price(before, JobRequest(args="--bs 32 --id 3")).startswith("smaller steps")
    gathered = JobRequest(args="--bs 32 --accum_iter 2")
    assert price(before, gathered).startswith("each update takes more and smaller passes")
