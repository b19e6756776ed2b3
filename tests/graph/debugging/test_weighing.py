"""How events of one log are weighed against each other: strength, what was survived, and who failed first."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose

TIME_LIMIT = "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
TRACEBACK = (
    f'Traceback (most recent call last):\n  File "/scratch/a/train.py", line 3, in f\n    loss.backward()\n{OOM}'
)


def steps(first: int, last: int) -> str:
    return "\n".join(f"step {n} loss {9 / (n + 1):.3f}" for n in range(first, last))


def of_rank(rank: int, error: str) -> str:
    lines = ("Traceback (most recent call last):", f'  File "/scratch/a/train.py", line {rank + 3}, in f', error)
    return "\n".join(f"[rank{rank}]: {line}" for line in lines)


def summary(rank: int, time: str = "2026-11-21_03:22:50") -> str:
    return (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\ntrain.py FAILED\n"
        f"Root Cause (first observed failure):\n[0]:\n  time      : {time}\n  host      : n1\n"
        f"  rank      : {rank} (local_rank: {rank})\n  exitcode  : 1 (pid: 822)\n  error_file: <N/A>"
    )


@pytest.mark.parametrize(
    "lines",
    [
        [steps(0, 5), f"{OOM} skipping batch", steps(5, 12), TIME_LIMIT],
        [steps(0, 5), f"{OOM} skipping batch", "epoch 3 done", TIME_LIMIT],
        [steps(0, 5), "step 5: CUDA out of memory, skipping batch", steps(5, 6), TIME_LIMIT],
        [*(f"{OOM}\n{steps(n, n + 1)}" for n in range(5)), TIME_LIMIT],
        [steps(0, 5), TRACEBACK, steps(5, 12), TRACEBACK, steps(12, 13), TIME_LIMIT],
        [steps(0, 5), f"[rank3]: {OOM}", steps(5, 12), f"[rank1]: {OOM}", steps(12, 14), TIME_LIMIT],
        [steps(0, 5), f"{OOM} retrying", steps(5, 7), TIME_LIMIT],
        [steps(0, 5), OOM, "ERROR: the metrics could not be sent", steps(5, 12), TIME_LIMIT],
    ],
)
def test_what_the_run_survived_is_not_why_the_clock_stopped_it(lines: list[str]) -> None:
    assert diagnose("\n".join(lines)).cause == "sched-time-limit"


@pytest.mark.parametrize(
    "lines",
    [
        [steps(0, 5), TRACEBACK, TIME_LIMIT],
        [steps(0, 5), f"{OOM} skipping batch", steps(5, 12), TRACEBACK, TIME_LIMIT],
        [steps(0, 5), f"{OOM} retrying", TIME_LIMIT],
    ],
)
def test_what_the_job_hung_after_is(lines: list[str]) -> None:
    assert diagnose("\n".join(lines)).cause == "gpu-oom"


def test_a_batch_that_was_skipped_is_no_failure_of_its_own() -> None:
    assert diagnose("\n".join([steps(0, 5), f"{OOM} skipping batch", steps(5, 12)])).cause == "no-failure"


def test_of_after_effects_the_strongest_speaks() -> None:
    closed = "RuntimeError: [../gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:4711"
    clients = "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."
    for lines in ([closed, clients], [clients, closed]):
        assert diagnose("\n".join(lines)).cause == "comm-rendezvous"


@pytest.mark.parametrize(
    ("summaries", "cause"),
    [
        ([], "env-file-missing"),
        ([summary(0)], "env-file-missing"),
        ([summary(3)], "gpu-oom"),
        ([summary(0, "2026-11-21_03:22:55"), summary(3)], "gpu-oom"),
    ],
)
def test_the_rank_that_the_launcher_saw_fail_first_decides_among_equals(summaries: list[str], cause: str) -> None:
    missing = of_rank(0, "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/a/x'")
    assert diagnose("\n".join([steps(0, 9), missing, of_rank(3, OOM), *summaries])).cause == cause


PACKAGES = "/opt/env/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ((f"{PACKAGES}/accelerate/commands/launch.py", "/opt/env/lib/python3.11/json/decoder.py"), "fw-config"),
        ((f"{PACKAGES}/accelerate/commands/launch.py", "<frozen posixpath>"), "fw-config"),
        ((f"{PACKAGES}/accelerate/commands/launch.py", "/scratch/ada/train.py"), "user-code"),
        (("/scratch/ada/train.py", "/opt/env/lib/python3.11/json/decoder.py"), "user-code"),
    ],
)
def test_a_general_exception_is_the_librarys_that_called_pythons_own(files: tuple[str, ...], cause: str) -> None:
    frames = "".join(f'  File "{file}", line 9, in f\n    call()\n' for file in files)
    assert diagnose(f"Traceback (most recent call last):\n{frames}ValueError: odd value\n").cause == cause


@pytest.mark.parametrize("line", ["ERROR: the table is gone", "2026-03-02 10:00:12,100 - ERROR - the table is gone"])
def test_an_error_of_no_known_kind_is_unknown_unless_the_run_went_on(line: str) -> None:
    assert diagnose(f"{steps(0, 5)}\n{line}\n").cause == "unknown"
    assert diagnose(f"{line}\n{steps(0, 5)}\n").cause == "no-failure"


WATCHDOG = (
    "[rank2]:[E1121 10:00:00.1 ProcessGroupNCCL.cpp:629] [Rank 2] Watchdog caught collective operation timeout:"
    " WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
)
DRIVER = (
    "/opt/env/torch/cuda/__init__.py:128: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old"
    " (found version 11040). Please update your GPU driver"
)


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([steps(0, 9), WATCHDOG, TIME_LIMIT], "comm-collective-timeout"),
        ([steps(0, 9), TIME_LIMIT, WATCHDOG], "sched-time-limit"),
        ([DRIVER, "RuntimeError: No CUDA GPUs are available"], "env-driver"),
        ([DRIVER, "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!"], "env-driver"),
        (["RuntimeError: No CUDA GPUs are available", DRIVER], "gpu-not-visible"),
    ],
)
def test_an_earlier_cause_explains_what_follows_from_it(lines: list[str], cause: str) -> None:
    assert diagnose("\n".join(lines)).cause == cause


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("IndexError: Index 99 out of range for a set of size 42.", "user-code"),
        (OOM, "gpu-oom"),
        ("TypeError: expected str, bytes or os.PathLike object, not NoneType", "env-file-missing"),
        ("ModuleNotFoundError: No module named 'lab'", "env-file-missing"),
    ],
)
def test_a_file_of_settings_that_is_missing_explains_what_settings_change(error: str, cause: str) -> None:
    missing = "/var/spool/slurmd/job9/slurm_script: line 15: /scratch/a/secrets.sh: No such file or directory"
    frame = 'Traceback (most recent call last):\n  File "/scratch/a/train.py", line 3, in f\n'
    assert diagnose(f"{missing}\n{frame}{error}\n").cause == cause
