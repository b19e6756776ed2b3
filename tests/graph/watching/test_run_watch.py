"""A run followed line by line, with a clock of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.watching.progress import progress_line
from graph.watching.run_watch import RunWatch
from graph.watching.tail import FileTail


@pytest.mark.parametrize(
    ("line", "step", "total", "loss"),
    [
        ("step 120/1000 loss 2.31 tokens/s 51000", 120, 1000, 2.31),
        ("[2026-11-22 10:00:00] iteration    1,200 of 10,000 | lm loss: 3.1E+00 |", 1200, 10000, 3.1),
        (" 12%|█▏        | 120/1000 [01:10<08:33, 1.71it/s, loss=0.5]", 120, 1000, 0.5),
        ("{'loss': 1.25, 'global_step': 40}", 40, None, 1.25),
        ("Epoch 1 Step: 7 Loss: 0.9", 7, None, 0.9),
    ],
)
def test_lines_of_progress_in_their_usual_forms(line: str, step: int, total: int | None, loss: float) -> None:
    found = progress_line(line)
    assert found is not None
    assert (found.step, found.total, found.loss) == (step, total, loss)


@pytest.mark.parametrize("line", ["loading checkpoint shards", "NCCL INFO Channel 00/02", "saved in 3 s"])
def test_other_lines_are_no_progress(line: str) -> None:
    assert progress_line(line) is None


def after(steps: int, watch: RunWatch, seconds: float = 1.0, total: int = 1000) -> float:
    for number in range(steps):
        assert watch.feed([f"step {number}/{total} loss 2.0"], number * seconds) == []
    return (steps - 1) * seconds


def test_a_stall_is_told_once_against_its_own_pace() -> None:
    watch = RunWatch()
    now = after(20, watch, 10.0)
    assert watch.look(now + 100) == []
    (notice,) = watch.look(now + 121)
    assert "no step for 2 min 1 s after step 19" in notice.text
    assert watch.look(now + 200) == []


def test_the_end_is_set_against_the_limit() -> None:
    watch = RunWatch(ends=500.0)
    notices = [n for number in range(10) for n in watch.feed([f"step {number}/1000 loss 2.0"], float(number))]
    assert [n.key for n in notices] == ["late"]
    assert "near step 500 of 1000" in notices[0].text
    assert watch.end_in() == pytest.approx(991, rel=0.1)
    assert "done in about 16 min" in watch.line(9.0)


def test_the_pace_counts_all_steps_of_one_reading() -> None:
    watch = RunWatch()
    for reading in range(8):
        watch.feed([f"step {reading * 10 + n}/1000" for n in range(10)], reading * 2.0)
    assert watch.seconds_a_step == pytest.approx(0.2)


def test_nan_and_a_rank_behind_are_told_once_each() -> None:
    watch = RunWatch()
    assert [n.key for n in watch.feed(["step 5 loss nan", "step 6 loss nan"], 1.0)] == ["nan"]
    lines = [f"[rank0] step {n} loss 1.0" for n in range(40)] + ["[rank1] step 3 loss 1.0"]
    assert [n.key for n in watch.feed(lines, 2.0)] == ["rank-1"]
    assert watch.feed(["[rank0] step 41 loss 1.0"], 3.0) == []


def test_only_what_is_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    tail = FileTail(path)
    assert tail.read() == []
    path.write_bytes(b"x" * 200_000 + b"\nstep 1\nste")
    assert tail.read()[-1] == "step 1"
    with path.open("ab") as stream:
        stream.write(b"p 2\rstep 3\n")
    assert tail.read() == ["step 2", "step 3"]
    path.write_bytes(b"anew\n")
    assert tail.read() == ["anew"]
