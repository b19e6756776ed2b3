"""Which line is the root cause: the first thing that went wrong, whatever else was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.diagnosis import diagnose

WATCHDOG = (
    "[rank2]:[E1121 10:00:00.1 ProcessGroupNCCL.cpp:629] [Rank 2] Watchdog caught collective operation timeout:"
    " WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
)
TIME_LIMIT = "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***"
CANCELLED = "slurmstepd: error: *** STEP 9.0 ON gpu04 CANCELLED AT 2026-11-21T10:00:00 ***"
CLOSED = "RuntimeError: [../gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:4711"
SUMMARY = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"
STEPS = "\n".join(f"step {n} loss {9 / (n + 1):.3f}" for n in range(12))
KEY_ERROR = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/scratch/ada/run/train.py", line 12, in <module>\n'
    "[rank3]:     loss = batch['labels']\n"
    "[rank3]: KeyError: 'labels'"
)


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([STEPS, KEY_ERROR, CLOSED, SUMMARY], "user-code"),
        ([STEPS, CLOSED, SUMMARY, KEY_ERROR], "user-code"),
        ([STEPS, KEY_ERROR, WATCHDOG], "user-code"),
        ([STEPS, WATCHDOG], "comm-collective-timeout"),
        ([STEPS, TIME_LIMIT], "sched-time-limit"),
        ([STEPS, KEY_ERROR, TIME_LIMIT], "user-code"),
        ([STEPS, CANCELLED], "sched-cancelled"),
        ([STEPS, KEY_ERROR, CANCELLED], "user-code"),
        ([STEPS, "RuntimeError: DataLoader worker (pid 9) is killed by signal: Killed."], "fw-dataloader"),
        (
            [
                STEPS,
                "RuntimeError: DataLoader worker (pid 9) is killed by signal: Killed.",
                "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0. Some of the step tasks were killed.",
            ],
            "sched-host-oom",
        ),
        ([STEPS, SUMMARY, "  exitcode  : 1 (pid: 4711)"], "unknown"),
        ([STEPS, "srun: error: gpu04: task 3: Exited with exit code 1"], "unknown"),
        ([STEPS], "no-failure"),
        ([STEPS, "Training complete."], "no-failure"),
        ([STEPS, "UserWarning: no such file last.pt", "Training complete."], "no-failure"),
        ([KEY_ERROR, STEPS, "Training complete.", "nohup: ignoring input", STEPS, TIME_LIMIT], "sched-time-limit"),
        (["run.sh: line 4: module: command not found", "ModuleNotFoundError: No module named 'torch'"], "env-module"),
        (
            ["srun: Job step creation temporarily disabled, retrying", "srun: Step created for StepId=9.1", STEPS],
            "no-failure",
        ),
        (
            ["sbatch: error: invalid partition specified: gpux", "sbatch: error: Batch job submission failed: x"],
            "sched-bad-queue",
        ),
        (
            ["run.sh: line 4: CUDA out of memory is what this script is about", STEPS, "Training complete."],
            "no-failure",
        ),
    ],
)
def test_the_root_cause(lines: list[str], cause: str) -> None:
    assert diagnose("\n".join(lines)).cause == cause


def test_the_evidence_is_the_line_of_the_original_and_the_persons_own_frame() -> None:
    found = diagnose("\n".join(["\x1b[31mstep\x1b[0m 1\r\n", STEPS, KEY_ERROR]))
    assert found.evidence[0].text == "KeyError: 'labels'"
    assert (found.evidence[0].line, found.evidence[0].rank) == (18, 3)
    assert "train.py" in found.evidence[1].text


def test_the_same_message_of_many_ranks_is_folded() -> None:
    log = "\n".join(f"[rank{n}]: RuntimeError: CUDA error: device-side assert triggered" for n in range(64))
    found = diagnose(log)
    assert found.cause == "gpu-kernel-fault"
    assert found.evidence[0].count == 64
    assert len(found.evidence) == 1


def test_what_else_it_could_be_is_told_with_the_reason() -> None:
    found = diagnose("\n".join([STEPS, KEY_ERROR, WATCHDOG]))
    assert [c.cause for c in found.considered] == ["comm-collective-timeout"]
    assert found.considered[0].why_not


def test_several_files_are_one_job(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("ranks")
    for rank in range(3):
        (folder / f"rank-{rank}.log").write_text(KEY_ERROR if rank == 2 else f"{STEPS}\n{CLOSED}\n")
    found = diagnose(folder)
    assert found.cause == "user-code"
    assert found.evidence[0].file == str(folder / "rank-2.log")


def test_what_a_rank_says_of_a_connection_that_its_peer_closed_is_an_after_effect() -> None:
    closed = "n1:51:60 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2<48122>"
    fabric = "n1:51:60 [0] net_ib.cc:1726 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<40121> with error 12"
    assert diagnose(f"{closed}\n{fabric}\n").cause == "comm-remote-exit"
    assert diagnose(f"{fabric}\n{closed}\n").cause == "comm-interface"


HARMLESS = Path(__file__).with_name("harmless.txt").read_text().splitlines()[1:]


@pytest.mark.parametrize("end", ["", "Training complete.\n"])
@pytest.mark.parametrize("line", HARMLESS)
def test_no_false_alarm(line: str, end: str) -> None:
    assert diagnose(f"{line}\n{STEPS}\n{end}").cause == "no-failure"


@pytest.mark.parametrize("echo", ["Job finished at Mon Mar  2 10:00:12", "Training completed", "Done: job completed"])
def test_what_a_script_echoes_at_its_end_is_no_proof(echo: str) -> None:
    assert diagnose(f"{STEPS}\n{KEY_ERROR}\n{echo}\n").cause == "user-code"


def test_what_the_program_says_at_its_end_is_a_proof() -> None:
    caught = KEY_ERROR.replace("[rank3]: ", "")
    assert diagnose(f"{caught}\n{STEPS}\n{{'train_runtime': 9.1, 'train_loss': 0.3}}\n").cause == "no-failure"


def test_a_restart_that_went_well_is_no_failure() -> None:
    log = f"{KEY_ERROR}\nE1121 elastic/multiprocessing/api.py:9] failed (exitcode: 1) local_rank: 0 (pid: 7)\n{STEPS}\n"
    assert diagnose(f"{log}{{'train_runtime': 9.1}}\n").cause == "no-failure"


def test_over_several_files_the_clock_decides(tmp_path: Path) -> None:
    (tmp_path / "rank-0.log").write_text("2026-11-21 10:09:00 torch.OutOfMemoryError: CUDA out of memory.\n")
    (tmp_path / "rank-1.log").write_text("2026-11-21 10:01:00 RuntimeError: CUDA error: device-side assert triggered\n")
    assert diagnose(tmp_path).cause == "gpu-kernel-fault"


LOADED = "Loaded dependency [python3/3.8.11]: gcc/10.3.0\nLoaded module: python3/3.8.11\n"
TRACEBACK = 'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n'
NEEDS_TQDM = TRACEBACK + "ModuleNotFoundError: No module named {}\n"


@pytest.mark.parametrize(
    ("head", "cause"),
    [
        (LOADED, "user-code"),
        (
            "2026-03-02 10:00:1{}.1: I x/dso_loader.cc:53] opened libcudart.so\nSat Dec  2{} 18:48:39 2026\n",
            "user-code",
        ),
        ("short\nlines\n", "env-python-package"),
    ],
)
def test_a_run_that_was_appended_begins_like_the_first(head: str, cause: str) -> None:
    first, last = NEEDS_TQDM.format("'tqdm'"), KEY_ERROR.replace("[rank3]: ", "")
    log = head.format(1, 2) + first + head.format(3, 4) + last
    assert diagnose(log).cause == cause


def test_lines_that_come_again_in_a_run_begin_no_other() -> None:
    again = "torch/nn/modules/conv.py: a remark that is printed often\nnothing to do for the person here\n"
    log = again + "working\n" + again + NEEDS_TQDM.format("'tqdm'") + again + KEY_ERROR.replace("[rank3]: ", "")
    assert diagnose(log).cause == "env-python-package"


def test_an_error_long_before_the_end_is_not_what_ended_the_run() -> None:
    went_on = "\n".join(f"Progress on: {n}.0kit/200kit rate:1.4it/s remaining:36:51" for n in range(400))
    early = KEY_ERROR.replace("[rank3]: ", "")
    assert diagnose("\n".join([early, went_on, CANCELLED])).cause == "sched-cancelled"
    assert diagnose("\n".join([early, went_on])).cause == "no-failure"
    assert diagnose("\n".join([KEY_ERROR, went_on, CANCELLED])).cause == "user-code"


def test_of_general_errors_the_plainer_one_counts() -> None:
    log = ["RuntimeError: something is odd", "ImportError: cannot import name 'x' from 'transformers' (/opt/x.py)"]
    assert diagnose("\n".join(log)).cause == "fw-version"


def test_a_path_that_the_terminal_broke_is_a_frame() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/opt/env/lib/python3.11/site-packages/accelerate/comm\n'
        'ands/launch.py", line 12, in main\n'
        "ValueError: odd\n"
    )
    assert diagnose(log).cause == "fw-config"


INSTEAD = "no checkpoint found at ckpt/last.pt (FileNotFoundError), starting from scratch"


@pytest.mark.parametrize(
    "after",
    [
        "Training finished in 3:11:02",
        "step 5000 loss 0.21\nTraining finished in 3:11:02",
        "step 5000 loss 0.21\nDone. Best model saved\nCOMPLETED ExitCode 0:0",
    ],
)
def test_what_the_program_says_it_does_instead_is_no_failure_where_the_run_went_on(after: str) -> None:
    assert diagnose(f"{INSTEAD}\n{after}\n").cause == "no-failure"


def test_what_the_program_says_it_does_instead_does_not_save_a_run_that_ends_there() -> None:
    assert diagnose(f"{INSTEAD}\nsrun: error: n1: task 0: Exited with exit code 1\n").cause == "env-file-missing"


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("tar: out/a.tar: Cannot write: No space left on device", "env-disk"),
        ("cp: cannot stat 'a.txt': No such file or directory", "sched-cancelled"),
    ],
)
def test_a_command_that_missed_a_file_stopped_no_job_and_a_full_disk_may_have(line: str, cause: str) -> None:
    assert (
        diagnose(f"{line}\nslurmstepd: error: *** JOB 31 ON c4 CANCELLED AT 2026-05-01T00:00:01 ***\n").cause == cause
    )
