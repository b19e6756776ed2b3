"""The steps that cure a failure are filled with what the log tells; what it does not tell is in no step."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.facts import LONGEST_FACT, clock_time, divisors_near, seconds, share_free
from knowledge.signatures.loader import library

FRAME = 'Traceback (most recent call last):\n  File "/scratch/a/train.py", line 3, in f\n    x()\n'
STEPS = "\n".join(f"step {n} loss {9 / (n + 1):.3f}" for n in range(12))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            f"per_device_train_batch_size = 32\n{FRAME}torch.OutOfMemoryError: CUDA out of memory. Tried to"
            " allocate 2.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 1.10 GiB is free.",
            ("16 instead of 32",),
        ),
        (
            " 31%|###       | 1225/3999 [1:07:35<2:33:02,  3.31s/it]\n"
            "slurmstepd: error: *** JOB 9 ON gpu04 CANCELLED AT 2026-11-21T10:00:00 DUE TO TIME LIMIT ***",
            ("03:40:37", "1225 of 3999", "05:00:00"),
        ),
        ("iteration 300/ 900 | lm loss 2.1\nTERM_RUNLIMIT: job killed", ("300 of 900", "3.3")),
        (
            FRAME.replace("/scratch/a", "/x/env/lib/python3.11") + "ModuleNotFoundError: No module named 'cv2'",
            ("/x/env/bin/python -m pip install opencv-python-headless",),
        ),
        (FRAME + "KeyError: 'labels'", ("'labels'", "/scratch/a/train.py:3")),
        (FRAME + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x3 and 4x2)", ("gets 3", "expects 4")),
        ("run.sh: line 7: DATA_DIR: unbound variable", ("Line 7", "DATA_DIR")),
        ("train.py: error: the following arguments are required: --data, --out", ("--data, --out",)),
        ("srun: error: Node failure on nid000002", ("--exclude=nid000002",)),
        ("RuntimeError: failed to bind to [::]:29511 (errno: 98 - Address already in use).", ("29511",)),
        (
            f"{FRAME}AssertionError: Check batch related parameters. train_batch_size is not equal to"
            " micro_batch_per_gpu * gradient_acc_step * world_size. train_batch_size 32 != 2 * 4 * 8",
            ("must be 64",),
        ),
    ],
)
def test_the_first_steps_hold_the_numbers_and_names_of_the_log(log: str, words: tuple[str, ...]) -> None:
    found = diagnose(f"{STEPS}\n{log}\n")
    assert all(word in " ".join(found.fix[:2]) for word in words), found.fix


def watchdog(rank: int, number: int) -> str:
    return (
        f"[rank{rank}]:[E1121 10:00:00.1 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation"
        f" timeout: WorkNCCL(SeqNum={number}, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600012 milliseconds"
    )


def test_the_rank_that_stands_behind_is_named() -> None:
    log = "\n".join([STEPS, *(watchdog(rank, 64088 if rank == 7 else 96120) for rank in range(8))])
    found = diagnose(log)
    assert found.cause == "comm-collective-timeout"
    assert found.fix[0].startswith("Rank 7 stands at 64088, the others at 96120")


def test_two_ranks_that_may_count_for_different_groups_are_not_compared() -> None:
    log = "\n".join([STEPS, watchdog(0, 96120), watchdog(7, 64088)])
    assert not any("64088" in step for step in diagnose(log).fix)


def test_what_is_reserved_and_unused_is_room_and_what_is_not_allowed_is_none() -> None:
    old = (
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 16.00 GiB total capacity; 6.00 GiB"
        " already allocated; 1.00 GiB free; 10.00 GiB reserved in total by PyTorch)"
    )
    assert "8.0 GiB of 11.0" in diagnose(old).fix[-1] and "expandable_segments" not in " ".join(diagnose(old).fix)
    capped = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of"
        " 64.00 GiB of which 2.00 GiB is free. Including non-PyTorch memory, this process has 62.00 GiB memory in use."
        " 60.00 GiB allowed; Of the allocated memory 59.50 GiB is allocated by PyTorch, and 100.00 MiB is reserved"
        " by PyTorch but unallocated."
    )
    assert "60.5 GiB of 60.0" in diagnose(capped).fix[-1]


def test_a_text_that_a_library_made_is_not_the_persons_code() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/home/ada/train.py", line 104, in <module>\n    args = TrainingArguments(\n'
        '  File "<string>", line 110, in __init__\n'
        '  File "/opt/env/lib/python3.11/site-packages/transformers/training_args.py", line 1263, in __post_init__\n'
        "    raise ValueError(\nValueError: the evaluation needs a strategy\n"
    )
    assert any("train.py:104" in one.text or "line 104" in one.text for one in diagnose(log).evidence)


def test_no_step_is_given_whose_facts_are_missing() -> None:
    for log in ("CUDA out of memory.", "PBS: job killed: walltime 3601 exceeded limit 3600", "KeyError: 'x'"):
        for step in diagnose(f"{STEPS}\n{log}\n").fix:
            assert "{" not in step and "NEEDED" not in step and "HALF_BATCH" not in step


def test_a_refused_pickle_is_not_called_damaged() -> None:
    log = FRAME + "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so"
    assert not any("damaged" in step for step in diagnose(log).fix)


def test_specific_steps_name_known_causes_and_compile() -> None:
    assert sum(len(cause.specific) for cause in library().causes.values()) > 60


def test_times_are_read_and_written() -> None:
    assert seconds("1 day, 2:03:04") == 93_784 and seconds("03:04") == 184
    assert clock_time(93_784) == "26:03:04"


OVER_TIME = "slurmstepd: error: *** JOB 31 ON c4 CANCELLED AT 2026-05-01T00:00:01 DUE TO TIME LIMIT ***\n"

TAKEN = "slurmstepd: error: *** JOB 31 ON c4 CANCELLED AT 2026-05-01T00:00:01 DUE TO PREEMPTION ***\n"

DOTTED = (
    "TERM_RUNLIMIT: job killed\n    CPU time :       ... sec.\n    Run time :       60..1 sec.\n",
    "step 1 loss: 1.5\nloss: 1.2.3\nloss 0...\nloss 4..\n",
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4, reducing to 2..1\n" * 8,
    "TERM_MEMLIMIT: job killed\n Max Memory :   1..2 MB\n Total Requested Memory : 1..2 MB\nExited with exit code 1\n",
    "".join(f"[{n}] time: 1.2.3 data: 0.9.9\n" for n in range(8)) + OVER_TIME,
    "CUDA out of memory. Tried to allocate .. GiB. of which . GiB is free. Process 7 has 1.. GiB memory in use; "
    "this process has . GiB\n",
)


@pytest.mark.parametrize("log", DOTTED)
def test_dots_where_a_number_is_expected_end_nothing(log: str) -> None:
    assert diagnose(f"working\n{log}").cause


@pytest.mark.parametrize("fact", ["step 1/{}", "--mem={}", "world size: {}", "batch_size: {}", "SeqNum={}"])
def test_a_number_of_thousands_of_digits_is_no_fact(fact: str) -> None:
    line = fact.format("9" * 5000)
    for end in (OVER_TIME, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"):
        assert all(len(value) <= LONGEST_FACT for _, value in diagnose(f"{line}\n[Rank 1] {line}\n{end}").facts)


@pytest.mark.parametrize(
    ("whole", "part", "known", "told"),
    [
        ("8", "16", {}, {"fitting": "8 or 4 or 2"}),
        ("3000000", "7", {}, {}),
        ("12", "5", {"world": "10"}, {"fitting": "2", "divides": "4 or 6"}),
        ("32", "7", {"world": "7"}, {"alone": "1", "divides": "4 or 8"}),
        ("7", "2", {}, {"fitting": "7", "divides": "1 or 7"}),
    ],
)
def test_parallel_sizes_are_ruled_out_only_by_what_is_known(
    whole: str, part: str, known: dict[str, str], told: dict[str, str]
) -> None:
    assert divisors_near({"whole": whole, "part": part}, known) == told


def test_a_server_is_given_no_share_of_a_full_gpu() -> None:
    assert share_free({"free": "0.30", "total": "79.10"}) == {}
    assert share_free({"free": "40.0", "total": "80.0"}) == {"share": "0.49"}


@pytest.mark.parametrize(
    ("log", "asked"),
    [
        ("=>> PBS: job killed: mem 1048576kb exceeded limit 1000000kb", "2 GB"),
        ("=>> PBS: job killed: mem 209715200kb exceeded limit 62914560kb", "250 GB"),
    ],
)
def test_more_memory_is_asked_than_there_was_and_than_was_used(log: str, asked: str) -> None:
    assert f"ask for {asked}" in diagnose(log).fix[0]


@pytest.mark.parametrize(
    ("line", "told"),
    [("+ srun python fit.py --lr 1 --overwrite", True), ("ignored in the settings: --overwrite", False)],
)
def test_a_run_begins_anew_where_its_launch_line_says_so(line: str, told: bool) -> None:
    assert ("`--overwrite`" in " ".join(diagnose(f"{line}\nstep 1/9 loss 2\n{TAKEN}").fix)) is told


def test_a_walltime_is_told_as_the_limit_and_not_as_what_was_used() -> None:
    assert "(3600)" in diagnose("=>> PBS: job killed: walltime 3633 exceeded limit 3600").says
