"""Single messages of many programs, each diagnosed alone and amid ordinary output."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.diagnosis import diagnose
from graph.debugging.plain_words import cause_by_words
from knowledge.signatures.wording import likely_cause

LINES = Path(__file__).with_name("messages.txt").read_text().splitlines()
CASES = [line.split(" | ", 1) for line in LINES if line and not line.startswith("#")]
STEPS = "".join(f"[rank0]: step {n} loss {9 / (n + 1):.3f} lr 1e-4\n" for n in range(9))


@pytest.mark.parametrize(("cause", "message"), CASES, ids=[f"{c}:{m[:40]}" for c, m in CASES])
def test_a_message_alone(cause: str, message: str) -> None:
    assert diagnose(f"{STEPS}{message}\n").cause == cause


@pytest.mark.parametrize("prefix", ["[rank3]: ", "3: ", "[1,3]<stderr>: ", "node7 3: ", "(Worker pid=9, ip=10.0.0.1) "])
@pytest.mark.parametrize("cause", ["gpu-oom", "env-file-missing", "comm-collective-timeout"])
def test_a_rank_prefix_changes_nothing(prefix: str, cause: str) -> None:
    message = next(m for c, m in CASES if c == cause)
    found = diagnose(f"{STEPS}{prefix}{message}\n")
    assert (found.cause, found.evidence[0].line) == (cause, 10)


@pytest.mark.parametrize(
    "said",
    [
        "No files were renamed",
        "failed to load dataset: column 'label' is not there",
        "could not connect to the license server lic3",
        "device mlx5_1 not found",
        "unknown host key type",
        "cannot open library settings",
        "No packages were removed",
        "cannot open file a/b.nc: too many open files",
    ],
)
def test_words_that_name_another_thing_name_no_cause(said: str) -> None:
    assert cause_by_words(f"ERROR: {said}") == ""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("unknown host: n17", "comm-rendezvous"),
        ("java.net.UnknownHostException: head1", "comm-rendezvous"),
        ("no CUDA device in this node", "gpu-not-visible"),
        ("No files found in data/raw", "env-file-missing"),
    ],
)
def test_words_that_name_the_thing_still_do(said: str, cause: str) -> None:
    assert cause_by_words(f"ERROR: {said}") == cause


def test_a_guess_from_words_wants_the_thing_among_them() -> None:
    assert likely_cause("MissingOutputException in rule trim in file /home/a/wf/rules, line 7:")[0:2] != (
        "fw-checkpoint",
        1,
    )
    assert likely_cause("ERROR: No block devices found")[1] == 0.0


def test_a_server_out_of_memory_is_told_and_a_refused_request_is_not() -> None:
    server = "ERROR 05-01 10:00:12 [serving_completion.py:91] "
    full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    assert diagnose(f"{server}{full}\n").cause == "gpu-oom"
    assert (
        diagnose(f"{server}Error in preprocessing prompt inputs\n{server}ValueError: too long\n").cause == "no-failure"
    )
