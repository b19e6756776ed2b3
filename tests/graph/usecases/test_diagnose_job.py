"""A log and a script in, the mended script out: the six forms of a message, and what costs is only offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.remedies import case_of, price
from graph.debugging.script_edits import put_lines
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
GOLDEN = sorted(Path(__file__).parents[2].joinpath("golden").rglob("*.sh"))[::4]


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


def test_more_nodes_for_less_time_are_priced_by_their_product() -> None:
    before = JobRequest(nodes=2, walltime="04:00:00")
    assert price(before, JobRequest(nodes=4, walltime="04:00:00")) == "up to 16 node hours instead of 8"
    for after in (JobRequest(nodes=4, walltime="02:00:00"), JobRequest(nodes=1, walltime="08:00:00")):
        assert "up to 8 node hours, before 8" in price(before, after)
    assert price(before, JobRequest(nodes=1, walltime="04:00:00")) == ""


def test_only_a_smaller_batch_costs_more_steps() -> None:
    before = JobRequest(args="--bs 64 --id 3")
    assert price(before, JobRequest(args="--bs 64")) == "" == price(before, JobRequest(args="--bs 128"))
    assert price(before, JobRequest(args="--bs 32 --id 3")).startswith("smaller steps")
    gathered = JobRequest(args="--bs 32 --accum_iter 2")
    assert price(before, gathered).startswith("each update takes more and smaller passes")


BUSY = LOG.splitlines()[3]
SLURM_PORT = "$((10000 + SLURM_JOB_ID % 50000))"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (SCRIPT.replace("export MASTER_PORT=29500\n", ""), f'srun torchrun --master-port="{SLURM_PORT}" --nnodes=2 \\'),
        ("#!/bin/bash\n#SBATCH -N 1\nsrun -n 4 python train.py\n", f"export MASTER_PORT={SLURM_PORT}"),
        (
            "#!/bin/bash\n#SBATCH -N 1\naccelerate launch --mixed_precision bf16 train.py\n",
            f'accelerate launch --main_process_port="{SLURM_PORT}" --mixed_precision bf16 train.py',
        ),
        (
            "#!/bin/bash\n#PBS -l select=2\nmpiexec -n 8 --ppn 4 python train.py\n",
            "export MASTER_PORT=$((10000 + ${PBS_JOBID%%.*} % 50000))",
        ),
    ],
)
def test_a_port_that_nobody_named_goes_where_the_launcher_takes_it_from(script: str, line: str) -> None:
    mended = diagnose_job(BUSY, script).mended
    assert mended and line in mended.text.splitlines()
    assert [one for one in script.splitlines() if one not in mended.text.splitlines()] in ([], [line_of(script)])


def line_of(script: str) -> str:
    return next(one for one in script.splitlines() if "torchrun" in one or "launch" in one or "python" in one)


def test_a_step_that_names_a_line_is_offered_as_that_line() -> None:
    """What a site documents for its network, and what records a hang: one line of the person's file each, on a yes."""
    hung = (
        "[rank5]:[E ProcessGroupNCCL.cpp:607] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)"
    )
    mended = diagnose_job(hung, SCRIPT, catalogue().find("perlmutter")).mended
    assert mended and mended.text == SCRIPT
    texts = [one.script for one in mended.offers]
    assert any("export FI_MR_CACHE_MONITOR=userfaultfd\nsrun torchrun" in text for text in texts)
    assert any("export TORCH_NCCL_DUMP_ON_TIMEOUT=1\nsrun torchrun" in text for text in texts)
    again = diagnose_job(hung, texts[0], catalogue().find("perlmutter")).mended
    assert again and len(again.offers) == len(mended.offers) - 1


def test_what_a_log_says_never_becomes_a_line() -> None:
    case = case_of(SCRIPT, diagnose_job(BUSY).diagnosis, None)
    assert put_lines(case, "`export A_B=$(touch x)`, `export A_B=x;y`, `export PATH=`, export A_B=1") is None
    assert put_lines(case, "`export MASTER_PORT=1`") is None, "the script sets it"
    assert put_lines(case, "`export LD_PRELOAD=/tmp/x.so`") is None, "no step of ours names it"
    edit = put_lines(
        case,
        "`export TORCH_NCCL_TRACE_BUFFER_SIZE=2000`, `export TORCH_NCCL_DUMP_ON_TIMEOUT=1`, `export LD_PRELOAD=/tmp/x`",
    )
    assert edit and "export TORCH_NCCL_TRACE_BUFFER_SIZE=2000\nexport TORCH_NCCL_DUMP_ON_TIMEOUT=1\nsrun" in edit[0]
