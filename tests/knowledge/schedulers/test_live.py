"""Commands of a scheduler asked live: a value, none, and could not ask are three answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from knowledge.schedulers.asking import CouldNotAsk, Printed, ask_command, scheduler_here
from knowledge.schedulers.live import one_job, own_queue, script_of


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    answer = ask_command(["sh", "-c", "sleep 60 & sleep 60"], patience=0.3)
    assert isinstance(answer, CouldNotAsk)
    assert "no answer within 0.3 s" in answer.why
    assert time.monotonic() - began < 10


def test_a_failure_says_why_and_an_empty_answer_is_an_answer() -> None:
    failed = ask_command(["sh", "-c", "echo slurm_load_jobs error: Unable to contact >&2; exit 1"])
    assert isinstance(failed, CouldNotAsk)
    assert "Unable to contact" in failed.why
    assert ask_command(["true"]) == Printed("")
    assert isinstance(ask_command(["no-such-command-here"]), CouldNotAsk)


def asks(answers: dict[str, Printed | CouldNotAsk]) -> tuple[list[str], object]:
    asked: list[str] = []

    def ask(words: Sequence[str]) -> Printed | CouldNotAsk:
        asked.append(" ".join(words))
        return next((told for begin, told in answers.items() if asked[-1].startswith(begin)), Printed(""))

    return asked, ask


def test_a_job_that_left_the_queue_is_looked_up_in_the_accounting() -> None:
    gone = CouldNotAsk("scontrol", "slurm_load_jobs error: Invalid job id specified")
    asked, ask = asks({"scontrol": gone, "sacct": Printed("JobID|State|ExitCode\n71|TIMEOUT|0:0\n")})
    found = one_job("slurm", "71", ask)  # type: ignore[arg-type]
    assert [job.phase for job in found.jobs] == ["ended"]
    assert found.failures == ()
    assert asked[-1].startswith("sacct -P -j 71")


def test_a_controller_that_is_down_is_no_empty_queue() -> None:
    _, ask = asks({"squeue": CouldNotAsk("squeue", "Unable to contact slurm controller")})
    found = own_queue("slurm", ask)  # type: ignore[arg-type]
    assert found.jobs == ()
    assert found.failures


@pytest.mark.parametrize("job", ["1; rm -rf x", "$(id)", "-v", "../x"])
def test_what_is_no_job_id_never_reaches_a_command(job: str) -> None:
    asked, ask = asks({})
    assert one_job("slurm", job, ask).failures  # type: ignore[arg-type]
    assert script_of("slurm", job, ask) == ""  # type: ignore[arg-type]
    assert asked == []


def test_the_scheduler_is_known_by_its_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert scheduler_here() is None
    (tmp_path / "bjobs").write_text("#!/bin/sh\n")
    (tmp_path / "bjobs").chmod(0o755)
    assert scheduler_here() == "lsf"
