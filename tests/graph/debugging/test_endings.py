"""How a log ends: proved, going on, broken off, or with trouble in words that nobody knows."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose

STEPS = "\n".join(f"step {n} loss {9 / (n + 1):.3f}" for n in range(12))


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "E1121 10:00:00 4711 torch/distributed/elastic/api.py:869] failed (exitcode: -9) local_rank: 3",
            "sched-host-oom",
        ),
        ("srun: error: gpu04: task 3: Exited with exit code 137", "sched-host-oom"),
        ("mpirun noticed that process rank 3 with PID 0 on node gpu04 exited on signal 9 (Killed).", "sched-host-oom"),
        (
            "[2026-03-02 10:00:12] [ERROR] [launch.py:325:sigkill_handler] exits with return code = 247",
            "sched-host-oom",
        ),
        ("srun: error: gpu04: task 3: Exited with exit code 135", "env-disk"),
        ("command terminated with exit code 139", "user-code"),
        ("x3004c0s7b0n0: rank 3 exited with code 132", "env-shared-library"),
        ("Exited with exit code 130.", "sched-cancelled"),
        ("srun: error: gpu04: task 3: Exited with exit code 1", "unknown"),
    ],
)
def test_how_a_process_ended_is_decoded_where_nothing_else_is_known(line: str, cause: str) -> None:
    found = diagnose(f"{STEPS}\n{line}\n")
    assert found.cause == cause
    assert found.confidence <= 0.6 and found.send_next
    assert line.partition(" ")[2] in found.evidence[0].text


def test_the_process_that_the_launcher_did_not_stop_is_told() -> None:
    ends = [f"srun: error: gpu04: task {n}: Exited with exit code {code}" for n, code in ((0, 143), (3, 139), (5, 143))]
    found = diagnose("\n".join([STEPS, *ends]))
    assert found.cause == "user-code" and "task 3" in found.evidence[0].text


@pytest.mark.parametrize(
    "line",
    [
        "quolld: error: the brim of flimsel 7 is not level",
        "FATAL: quoll 7 left the brim",
        "flimseld[4711]: cannot brim flimsel 7: giving up",
        "quoll.errors.FlimselError: the brim of flimsel 7 is not level",
    ],
)
@pytest.mark.parametrize("end", ["", "srun: error: gpu04: task 3: Exited with exit code 1\n"])
def test_trouble_in_unknown_words_is_shown(line: str, end: str) -> None:
    found = diagnose(f"starting\n{line}\n{end}")
    assert found.cause in ("unknown", "user-code")
    assert line in found.evidence[0].text


def test_a_log_that_breaks_off_is_not_said_to_be_healthy_for_sure() -> None:
    going_on, broken = diagnose(STEPS), diagnose("loading the data\nbuilding the model\n")
    assert going_on.cause == broken.cause == "no-failure"
    assert max(going_on.confidence, broken.confidence) < 0.6
    assert "no end" in broken.says and "line 2" in broken.send_next[0]
    assert diagnose(f"{STEPS}\n{{'train_runtime': 9.1}}\n").confidence > 0.8


def test_a_loss_beyond_all_bounds_is_no_health() -> None:
    log = "\n".join(f"step {n} loss {10.0**n:.3e}" for n in range(13))
    assert diagnose(log).cause == "user-numerics"


def test_a_loss_that_leaves_its_first_half_far_behind_has_diverged() -> None:
    steady = [f"Schritt {n} Verlust {4e-3 + n % 3 * 1e-4:.2e}" for n in range(20)]
    risen = [f"Schritt {20 + n} Verlust {4e-2 * 10**n:.2e}" for n in range(6)]
    assert diagnose("\n".join([*steady, *risen])).cause == "user-numerics"
    assert diagnose("\n".join([*steady, *risen[:3]])).cause == "no-failure"


def test_what_counts_up_behind_a_standing_number_went_on() -> None:
    missing = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'apex'\nplain norm instead"
    chunks = "\n".join(
        f"2026-03-02 10:{n // 60:02}:{n % 60:02} pass {n // 80} chunk {n % 80} nll 2.1" for n in range(240)
    )
    limit = "slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 2026-03-02T10:09:00 DUE TO TIME LIMIT ***"
    assert diagnose(f"{missing}\n{chunks}\n{limit}\n").cause == "sched-time-limit"
    waiting = "\n".join(f"2026-03-02 10:{n:02}:00 waiting for the others" for n in range(40))
    assert diagnose(f"{missing}\n{waiting}\n").cause == "env-python-package"


OOM = "RuntimeError: CUDA out of memory. Tried to allocate 8.00 GiB"
TABLE = "\n".join(f"width {2**n}  {OOM if n == 5 else f'{n * 3.1:.1f} TFLOP/s'}" for n in range(12))


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("survey complete: 12 of 12 widths measured", "no-failure"),
        ("12/12 cases pass", "no-failure"),
        ("survey complete: 11 of 12 widths measured", "gpu-oom"),
        (f"survey complete: 12 of 12 widths measured\n{OOM}", "gpu-oom"),
        ("12/12 cases finished, 1 failed", "gpu-oom"),
    ],
)
def test_an_end_that_counts_all_as_done_outlived_what_came_before(end: str, cause: str) -> None:
    assert diagnose(f"{TABLE}\n{end}\n").cause == cause


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("Abbruch in Schritt 12: Kraft ist nicht endlich", "unknown"),
        ("Erreur : le calcul a été interrompu, code de sortie 3", "unknown"),
        ("Beendet nach 12 Schritten, keine Fehler, Validierungsfehler 0.04", "no-failure"),
        ("Terminé sans erreur, erreur de validation : 6.05 %", "no-failure"),
    ],
)
def test_an_end_in_other_languages_is_understood(end: str, cause: str) -> None:
    assert diagnose(f"loading\n{end}\n").cause in (cause, "user-numerics" if cause == "unknown" else cause)


def test_an_argument_list_that_a_launcher_repeats_says_nothing() -> None:
    repeated = "['/opt/x/python', '-u', 'train.py', '--image_folder', '/x/apptainer/enroot', '--mount', 'pyxis']"
    line = f"[2026-03-02 10:00:12] [ERROR] [launch.py:321:sigkill_handler] {repeated} exits with return code = 1"
    assert diagnose(f"{STEPS}\n{line}\n").cause == "unknown"


def test_source_that_a_traceback_shows_says_nothing() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/scratch/a/train.py", line 3, in f\n'
        '    raise RuntimeError(f"CUDA out of memory on {device}") if full else KeyError(name)\n'
        "KeyError: 'labels'\n"
    )
    found = diagnose(log)
    assert found.cause == "user-code" and found.evidence[0].line == 4


def test_ranks_that_write_into_one_line_are_read_apart() -> None:
    glued = (
        "loading shard 7 of 9[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.[rank3]: x"
    )
    found = diagnose(f"{STEPS}\n{glued}\n")
    assert found.cause == "gpu-oom" and found.evidence[0].rank == 2
    assert (
        diagnose("ImportErrorImportError: : cannot import name 'x' from 'transformers' (/opt/x.py)").cause
        == "fw-version"
    )


COUNTING = "\n".join(f"sweep {n}: residual {9 / (n + 1):.3f}" for n in range(40))


@pytest.mark.parametrize(
    "remark",
    [
        "ERROR: the plot could not be drawn",
        "cp: cannot stat 'old.nc': No such file or directory",
    ],
)
def test_what_a_program_overcame_that_counts_in_its_own_words_is_no_failure(remark: str) -> None:
    assert diagnose(f"{COUNTING}\n{remark}\n{COUNTING}\n").cause == "no-failure"
    assert diagnose(f"{COUNTING}\n{remark}\n").cause != "no-failure"


def test_words_long_before_the_end_do_not_tell_of_a_failure() -> None:
    rest = "\n".join(f"[INFO] results/{word}.csv: written" for word in "abcdefghijklmnopqrstuvwxyz" * 2)
    assert diagnose(f"quolld: error: the brim of flimsel 7 is not level\n{rest}\n").cause == "no-failure"
    assert diagnose(f"{rest}\nquolld: error: the brim of flimsel 7 is not level\n").cause == "unknown"


@pytest.mark.parametrize(
    "last",
    [
        "job ended with status 1",
        "[0] /opt/ompi/lib/libpmix.so.2(PMIx_Init+0x1f2) [0x7f12aabb]",
        '  File "/scratch/a/train.py", line 54',
        "terminated by SIGKILL",
    ],
)
def test_the_weakest_words_count_on_the_last_line(last: str) -> None:
    found = diagnose(f"{STEPS}\n{last}\n")
    assert found.cause != "no-failure" and last.split()[-1] in found.evidence[0].text
    assert diagnose(f"{last}\n{STEPS}\n").cause == "no-failure"


def test_a_report_that_all_memory_was_used_explains_the_end() -> None:
    report = (
        "Terminated\nExited with exit code 137.\n    Max Memory :  {} MB\n    Total Requested Memory : 10240.00 MB\n"
    )
    assert diagnose(f"{STEPS}\n{report.format(10240)}").confidence > 0.6
    assert "10240" in diagnose(f"{STEPS}\n{report.format(10240)}").evidence[0].text
    assert diagnose(f"{STEPS}\n{report.format(512)}").confidence <= 0.6


@pytest.mark.parametrize(
    "log",
    [
        "run fold 0\n./cv.sh: line 9: torchrn: command not found\nrun fold 1\nall folds submitted\njob exit status 0\n",
        "./run.sh: line 4: module: command not found\nPython 3.11\nNormal termination (return value 0)\n",
    ],
)
def test_the_status_of_a_scripts_last_command_does_not_make_up_for_a_failed_one(log: str) -> None:
    assert diagnose(log).cause in ("user-shell", "env-module")


@pytest.mark.parametrize(
    "log",
    [
        "auto-batch: CUDA out of memory. Tried to allocate 2.00 GiB, halving\n" + STEPS,
        STEPS + "\n2026-06-01 10:01:01: W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is"
        " aborting with status: OUT_OF_RANGE: End of sequence\n",
        "Trial train_fn_0001 errored after 12 iterations. Error file: /tmp/ray/error.txt\n"
        "Trial train_fn_0001 restarting from checkpoint\nTrial train_fn_0001 completed after 50 iterations\n"
        "Total run time: 3600.12 seconds\n",
    ],
)
def test_what_the_log_shows_to_be_overcome_is_no_failure(log: str) -> None:
    assert diagnose(log).cause == "no-failure"


def test_another_trial_that_came_through_does_not_excuse_the_one_that_did_not() -> None:
    log = (
        "Trial train_fn_0001 errored after 12 iterations. Error file: /tmp/e.txt\n"
        "Trial train_fn_0002 completed after 50 iterations\n"
    )
    assert diagnose(log).cause != "no-failure"


def test_what_is_announced_before_an_end_is_no_way_around_it() -> None:
    assert (
        diagnose("step 1 loss 2.1\nCUDA out of memory. Tried to allocate 2.00 GiB, aborting\nstep 2 loss 2.0\n").cause
        == "gpu-oom"
    )
