"""The steps that cure a failure are filled with what the log tells; what it does not tell is in no step."""

from __future__ import annotations

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.facts import clock_time, seconds
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
