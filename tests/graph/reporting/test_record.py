"""What a report and an incident count of a diagnosis: the mark, the nodes, modules and file systems, no person."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from graph.reporting.record import mark_of, mount_of, record_of

MISSING = "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/{who}/data/part-{n}.bin'"
TRACE = 'Traceback (most recent call last):\n  File "/home/{who}/train.py", line {n}, in <module>\n    open(p)\n'


def test_jobs_that_say_the_same_have_the_same_mark_and_name_nobody() -> None:
    texts = [(TRACE + MISSING).format(who=who, n=n) + "\n" for who, n in (("adalovelace", 7), ("ghopper", 312))]
    first, second = (record_of(diagnose(text), job="1") for text in texts)
    assert first.cause == second.cause == "env-file-missing"
    assert first.mark == second.mark and "Errno 2" in first.mark
    assert "adalovelace" not in repr(first) and "ghopper" not in repr(second)
    assert first.filesystem == "/scratch"


def test_the_node_that_the_log_blames_and_the_missing_module() -> None:
    lost = "slurmstepd: error: *** JOB 4711 ON nid001234 CANCELLED AT 2026-11-20T10:00:00 DUE TO NODE FAILURE ***\n"
    assert record_of(diagnose(lost)).blamed == ()  # who prints it is the job's first node
    assert record_of(diagnose(lost + "srun: error: Node failure on nid001299\n")).blamed == ("nid001299",)
    late = lost.replace("NODE FAILURE", "TIME LIMIT")
    assert record_of(diagnose(late)).blamed == ()
    text = TRACE.format(who="x", n=1) + "ModuleNotFoundError: No module named 'flash_attn'\n"
    assert record_of(diagnose(text)).module == "flash_attn"


@pytest.mark.parametrize(
    ("path", "mount"),
    [("/scratch/a/b", "/scratch"), ("/lustre/orion/p/x", "/lustre/orion"), ("data/x", ""), ("/x", ""), ("", "")],
)
def test_the_mount_point_of_a_path(path: str, mount: str) -> None:
    assert mount_of(path) == mount


def test_numbers_of_errors_stay_in_the_mark() -> None:
    assert mark_of("OSError: [Errno 28] no space for 1234 bytes") == "OSError: [Errno 28] no space for 0 bytes"


def test_times_and_gpus_make_hours() -> None:
    made = record_of(diagnose("x"), job="1", gpus=8, started=0.0, ended=1800.0)
    assert made.seconds == 1800 and made.gpu_hours == 4
