"""Single messages of many programs, each diagnosed alone and amid ordinary output."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.debugging.diagnosis import diagnose

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
