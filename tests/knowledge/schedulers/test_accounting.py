"""The accounting of four schedulers: ended jobs of all users with nodes, GPUs and times, as their commands print."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime

import pytest

from knowledge.schedulers.accounting import (
    APART,
    end_of,
    ended_since,
    gpus_of,
    host_names,
    moment,
    nodes_of,
    read_accounting,
    scripts_of,
    start_of,
)
from knowledge.schedulers.asking import CouldNotAsk, Printed
from knowledge.schedulers.records import QueuedJob, Scheduler

NOW = int(time.time())


def ctime(at: float) -> str:
    return time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(at))


def short(at: float) -> str:
    return time.strftime("%b %e %H:%M", time.localtime(at))


HEAD = ("JobIDRaw", "JobID", "JobName", "User", "State", "Start", "End", "NodeList", "AllocTRES")
BEGUN, DONE, LATER = "2026-11-20T10:00:00", "2026-11-20T10:30:00", "2026-11-20T11:00:00"
ROWS = (
    HEAD,
    ("12", "12", "a|b", "ada", "FAILED", BEGUN, LATER, "n[08-10]", "cpu=4,gres/gpu=12"),
    ("14", "13_1", "x", "bob", "CANCELLED by 7", BEGUN, DONE, "n1", "gres/gpu:a100=2,gres/gpu:l4=1"),
    ("15", "15", "x", "bob", "RUNNING", BEGUN, "Unknown", "n1", ""),
    ("12.0", "12.0", "x", "bob", "FAILED", BEGUN, LATER, "n08", ""),
)
SACCT = "\n".join(APART.join(row) for row in ROWS)
PBS = json.dumps(
    {
        "Jobs": {
            "77.pbs01": {
                "Job_Name": "train", "Job_Owner": "ada@login1", "job_state": "F", "queue": "prod", "project": "astro",
                "Exit_status": 1, "exec_host": "x1000c0s0b0n0/0*64+x1000c0s1b0n0/0*64", "stime": ctime(NOW - 7200),
                "mtime": ctime(NOW - 3600), "Output_Path": "login1:/home/ada/train.o77",
                "Resource_List": {"select": "2:ncpus=64:ngpus=4", "walltime": "06:00:00"},
            },
            "78.pbs01": {"Job_Name": "x", "Job_Owner": "b@l", "job_state": "R", "queue": "prod"},
            "70.pbs01": {"Job_Owner": "b@l", "job_state": "F", "Exit_status": 0, "mtime": ctime(NOW - 30 * 86_400)},
        }
    }
)  # fmt: skip
LSF = json.dumps(
    {
        "RECORDS": [
            {"JOBID": "41", "USER": "ada", "PROJ_NAME": "CSC1", "QUEUE": "batch", "STAT": "EXIT", "EXIT_CODE": "1",
             "START_TIME": short(NOW - 7200), "FINISH_TIME": f"{short(NOW - 3600)} L",
             "EXEC_HOST": "42*h36n09:42*h36n10", "GPU_NUM": "12"},
            {"JOBID": "42", "USER": "ada", "STAT": "RUN", "EXEC_HOST": "h1"},
        ]
    }
)  # fmt: skip
FLUX = json.dumps(
    {
        "jobs": [
            {"id": "f2B9", "username": "ada", "queue": "pbatch", "bank": "guests", "status": "FAILED",
             "nodelist": "tuo[11-12]", "t_submit": NOW - 8000.5, "t_run": NOW - 7200.5, "t_cleanup": NOW - 3600.5,
             "nnodes": 2, "ntasks": 8},
        ]
    }
)  # fmt: skip


def asked(scheduler: Scheduler, prints: str, since: float) -> tuple[QueuedJob, ...]:
    def ask(words: Sequence[str]) -> Printed:
        return Printed("JobID AllocTRES StdOut" if "--helpformat" in words else prints)

    return ended_since(scheduler, since, ask).jobs


def test_slurm_with_bars_in_names_arrays_and_kinds_of_gpu() -> None:
    first, second = asked("slurm", SACCT, datetime(2026, 11, 19).timestamp())
    assert (first.id, first.name, nodes_of(first), gpus_of(first)) == ("12", "a|b", ("n08", "n09", "n10"), 12)
    assert (second.id, second.state, gpus_of(second)) == ("13_1", "CANCELLED by 7", 3)
    assert (end_of(first) or 0) - (start_of(first) or 0) == 3600


@pytest.mark.parametrize(
    ("scheduler", "prints", "job", "nodes", "gpus"),
    [
        ("pbs", PBS, "77", ("x1000c0s0b0n0", "x1000c0s1b0n0"), 8),
        ("lsf", LSF, "41", ("h36n09", "h36n10"), 12),
        ("flux", FLUX, "f2B9", ("tuo11", "tuo12"), None),
    ],
)
def test_the_others(scheduler: Scheduler, prints: str, job: str, nodes: tuple[str, ...], gpus: int | None) -> None:
    (found,) = asked(scheduler, prints, NOW - 7 * 86_400)
    assert (found.id, found.user, nodes_of(found), gpus_of(found)) == (job, "ada", nodes, gpus)
    assert abs((end_of(found) or 0) - (NOW - 3600)) <= 60
    assert abs((start_of(found) or 0) - (NOW - 7200)) <= 60


def test_what_cannot_be_asked_is_no_empty_accounting() -> None:
    found = ended_since("slurm", 0, lambda words: CouldNotAsk("sacct", "Slurm accounting storage is disabled"))
    assert found.jobs == () and "disabled" in found.failures[0].why


def test_a_table_pasted_with_blanks_is_read_too() -> None:
    rows = ("JobID        State    NodeList", "------------ -------- --------", "12           FAILED   n01")
    text = "\n".join((*rows, "12.batch     FAILED   n01", ""))
    assert [(job.id, job.where) for job in read_accounting(text)] == [("12", "n01")]
    assert read_accounting("nothing of the kind") == ()


def test_scripts_of_many_jobs_come_apart() -> None:
    printed = "Batch Script for 12\n-----\n#!/bin/bash\necho 1\nBatch Script for 13\n-----\nNONE\n"
    found = scripts_of([QueuedJob("slurm", id="12"), QueuedJob("slurm", id="13")], lambda words: Printed(printed))
    assert found == {"12": "#!/bin/bash\necho 1\n"}


def test_times_and_nodes_that_are_none() -> None:
    assert [moment(text) for text in ("Unknown", "", "2026-99-99T00:00:00", "Nov 99 10:00", "-")] == [None] * 5
    assert len(list(host_names("n[0-99999999999]"))) < 20_000
    assert list(host_names("n[1-x],a")) == ["a"]
