"""What is no log of a job: binary files, questions, pages about failures, source code."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.texts import look

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
RUNBOOK = """# When a GPU fails

An Xid is what the driver writes to the kernel log when something goes wrong on the card.

- Xid 79 means that the GPU has fallen off the bus. Drain the node and call the vendor.
- Xid 48 is a double bit ECC error: the node needs a reset before it is used again.
- An NVLink error (Xid 74) shows in a job as an NCCL failure. Look at the fabric manager first.

## What to tell the person

Say which node it was, and that the job can be submitted again with the node excluded.
"""
PROGRAM = """import os
import torch

def fit(batch):
    if batch is None:
        raise RuntimeError("CUDA out of memory. Tried to allocate too much")
    try:
        return batch.sum()
    except ValueError as error:
        raise SystemExit(f"NCCL error: unhandled system error {error}")
"""
SCRIPT = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --time=01:00:00
set -e
module load cuda
export MASTER_PORT=29500
srun torchrun --nnodes=2 train.py || echo "out of memory: Killed process"
"""


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("archive/data.pkl", OOM)
    return out.getvalue()


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        file.addfile(tarfile.TarInfo("a.log"), io.BytesIO())
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(99) + OOM.encode(), "ELF"),
        (b"\x89PNG\r\n\x1a\n" + OOM.encode(), "picture"),
        (archive(), "ZIP"),
        (tar(), "tar"),
        (bytes(range(256)) * 40, "binary"),
    ],
)
def test_a_binary_file_is_said_to_be_no_log(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(data)
    for found in (diagnose(data), diagnose(tmp_path / "file")):
        assert found.cause == "unknown" and found.send_next
        assert "not a text log" in found.says and says in found.says


def test_a_binary_file_beside_logs_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(archive())
    (tmp_path / "rank-0.log").write_text(OOM)
    assert diagnose(tmp_path).cause == "gpu-oom"


@pytest.mark.parametrize(
    "text",
    ["my training hangs, what shall I do?", "Why did my job stop after the first epoch?", RUNBOOK, PROGRAM, SCRIPT],
)
def test_prose_and_programs_are_unknown(text: str) -> None:
    found = diagnose(text)
    assert (found.cause, found.evidence) == ("unknown", ()), found
    assert found.send_next and "This reads like" in found.says


def test_a_log_that_is_quoted_among_prose_is_a_log() -> None:
    letter = "Hello, my job on four nodes stopped last night and I do not know why it did that.\n"
    letter += "It worked on one node before.\n\n"
    letter += (
        f"[rank3]: {OOM}\n\nWhat can I do? The same model fits on the other machine.\nThanks for your help with this.\n"
    )
    assert diagnose(letter).cause == "gpu-oom"


@pytest.mark.parametrize(
    "line", ["RuntimeError: CUDA out of memory tests are disabled", "CUDA out of memory handling is on"]
)
def test_words_about_memory_are_no_failure(line: str) -> None:
    assert diagnose(f"step 1 loss 0.3\n{line}\nstep 2 loss 0.2\n").cause != "gpu-oom"


@pytest.mark.parametrize(
    "end", ["", ".", "!", ", skipping", " (GPU 3)", ": tried 4 GB", '"', "\\n", " at step 3", " during backward"]
)
def test_a_message_of_no_memory_may_end_in_many_ways(end: str) -> None:
    assert diagnose(f"RuntimeError: CUDA out of memory{end}\n").cause == "gpu-oom"


def test_a_log_with_holes_and_broken_characters_is_a_log() -> None:
    assert diagnose(bytes(5000) + b"\xe2\x96 10%|\xe2\x96\n" * 40 + OOM.encode() + bytes(5000)).cause == "gpu-oom"
    assert diagnose("\r".join(f"{n}%|████" for n in range(99)).encode() + b"\n" + OOM.encode()).cause == "gpu-oom"


def test_a_message_in_sentences_is_a_log_where_nobody_asks() -> None:
    message = (
        "A requested component was not found, or was unable to be opened.  This means that this component is\n"
        "either not installed or is unable to be used on your system (e.g., shared libraries are missing).\n"
        "Note that the library stopped checking at the first component that it did not find.\n\n"
        "Host:      node1\nFramework: psec\nComponent: munge\n\n"
        "It looks like pmix_init failed for some reason; your parallel process is likely to abort.\n"
    )
    assert diagnose(message).cause == "comm-mpi-init"


def test_lines_that_start_alike_are_of_a_program() -> None:
    passes = "".join(f"{n}. Executing the pass that cleans the design `top`.\n" for n in range(40))
    assert diagnose(passes).cause == "no-failure"


def test_what_a_compiler_shows_of_a_program_is_no_message() -> None:
    shown = "main.F90:87:12:\n   87 |  stop 'RuntimeError: NaN detected in loss'\n      |      1\nWarning: unused\n"
    assert diagnose(shown).cause == "no-failure"


def test_a_table_of_numbers_is_a_log() -> None:
    rows = "\n".join(f"  {1 << n}   {1 << n}   float   sum   -1   {n}.52   39.05   73.23" for n in range(2, 6))
    heads = "# Using devices of the nodes that you have asked for\n# This is the time it took, in the middle\n"
    assert diagnose(f"{heads}{heads.upper()}{rows}\n# Avg bus bandwidth    : 52.97\n").cause == "no-failure"


ORTE = (
    "ORTE was unable to reliably start one or more daemons.\nThis usually is caused by:\n\n"
    "* not finding the required libraries and/or binaries on\n  one or more nodes. Please check your PATH.\n\n"
    "* lack of authority to execute on one or more specified nodes.\n  Please verify your allocation.\n\n"
    "* the inability to write startup files. Please check with your sys admin for the location to use.\n"
)
FRAME = "-" * 74 + "\n"


def test_what_open_mpi_says_in_a_frame_of_dashes_is_a_log() -> None:
    assert diagnose(FRAME + ORTE + FRAME).cause == "comm-mpi-init"
    assert diagnose(ORTE).cause == "unknown"


def test_a_log_that_is_quoted_as_in_a_mail_is_a_log() -> None:
    quoted = "".join(f"> {line}\n" for line in (FRAME + ORTE + FRAME).splitlines())
    assert diagnose(quoted).cause == "comm-mpi-init"


NUMPY = """ImportError:

PLEASE READ THIS: the C-extensions of NumPy could not be loaded. This can happen for
many reasons, and most of them have to do with the setup of the environment.
The others have to do with the way in which it was installed, or with the system.

The reasons that are known, and what to do about each of them, are listed here:

    https://numpy.example.org/troubleshooting.html

Please note the version of Python, and make sure that it is the one that you want.
Please read what is written there before you ask for help with it.
And please look at the list of the packages that are installed: this is not likely to be a fault of NumPy.

Original error was: /usr/lib64/libstdc++.so.6: version `GLIBCXX_3.4.36' not found
"""
TABLE = "".join(
    f"| base | all | part {n} of the suite is done | {n} | 0.{n} |\n+------+-----+---+\n" for n in range(10, 30)
)
DUMP = "".join(f"    - the {word} of the data is kept for it\n" for word in dir(str))
BENCHMARK = "# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20\n" + "".join(
    f"#  Rank  {n} Group  0 Pid   34{n} on  gpu04 device  {n} of the node is to be used\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (NUMPY, "env-shared-library"),
        (f"{TABLE}2026-03-02 10:00:12,532 - suite - INFO - Finished evaluation for base\n", "no-failure"),
        (f"[2026-03-02 10:00:12,532][run][rank0][pid:1][INFO]][train.py:158] config\n{DUMP}{OOM}\n", "gpu-oom"),
        (
            f"{BENCHMARK}gpu04: Test NCCL failure a.cu:274 'remote process exited or there was a network error'\n",
            "comm-remote-exit",
        ),
    ],
)
def test_what_begins_or_ends_as_a_programs_output_is_a_log(log: str, cause: str) -> None:
    assert look(log.encode()) == "log"
    assert diagnose(log).cause == cause


def test_a_question_that_begins_with_an_exception_is_a_question() -> None:
    said = "".join(f"I have tried it with {n} of the batches and it is the same\n" for n in ("two", "three", "most"))
    asked = "what can be done about that?\nthe cluster is the one that we have here\nand the queue is not the problem\n"
    more = "the job runs for a while and then it stops\nthe message is the one above\nand that is all that is shown\n"
    text = f"RuntimeError: it is not what you think that it is\n{said}{asked}{more}"
    assert look(text.encode()) == "prose"


SLOTS = """There are not enough slots available in the system to satisfy the 16
slots that were requested by the application:

  ./train

Either request fewer slots for your application, or make more slots
available for use.

A "slot" is the Open MPI term for an allocatable unit where we can
launch a process.  The number of slots available are defined by the
environment in which Open MPI processes are run:

  1. Hostfile, via "slots=N" clauses
  2. The --host command line parameter
"""


def test_a_program_that_explains_itself_in_sentences_is_read() -> None:
    assert diagnose(SLOTS).cause == "sched-step-layout"


def test_a_person_who_quotes_such_sentences_is_not_taken_for_a_program() -> None:
    asked = "I am new here, and I do not know what a slot is.\n" + SLOTS.replace(
        "There are", "It told me that there are"
    )
    assert diagnose(asked).cause == "unknown"
