"""A run followed line by line, with a clock of the test's own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.watching import Watching
from graph.watching import run_watch
from graph.watching.run_watch import RunWatch, progress_line
from graph.watching.tail import MOST_LINES, FileTail


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


def steady(step: int) -> float:
    return 0.8


def uneven(step: int) -> float:
    return 0.5 + (step * 7919 % 13) / 13


def with_evaluation(step: int) -> float:
    return 12.0 if step % 40 == 39 else 0.6


def with_warm_up(step: int) -> float:
    return 50.0 if step == 1 else 0.5


def of_long_steps(step: int) -> float:
    return 9.0 + step % 3


@pytest.mark.parametrize("seconds", [steady, uneven, with_evaluation, with_warm_up, of_long_steps])
def test_after_two_minutes_the_end_is_told_within_a_tenth(seconds: Callable[[int], float]) -> None:
    total = 60 if seconds is of_long_steps else 900
    moments = list(itertools.accumulate(seconds(step) for step in range(1, total + 1)))
    watch, told, done = RunWatch(), dict[float, float](), 0
    for look in range(0, int(moments[-1]), 2):
        new = [f"step {step + 1}/{total} loss 2.0" for step in range(done, total) if moments[step] <= look]
        done += len(new)
        watch.feed(new, float(look))
        left = watch.end_in()
        if left is not None and watch.at is not None and look >= 120:
            told[look] = watch.at + left
    assert len(told) > 50
    worst = max(told.values(), key=lambda end: abs(end - moments[-1]))
    assert worst == pytest.approx(moments[-1], rel=0.1)


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


def test_of_very_many_lines_the_last_are_read_and_those_of_trouble(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"")
    tail = FileTail(path)
    assert tail.read() == []
    lines = [f"step {number}/99999 loss 2.0" for number in range(30_000)]
    lines[12] = "step 12/99999 loss NaN"
    lines[9_000] = "RuntimeError: CUDA out of memory"
    with path.open("a") as stream:
        stream.write("\n".join(lines) + "\n")
    read = tail.read()
    assert read[:2] == [lines[12], lines[9_000]] and read[2:] == lines[-MOST_LINES:]


def test_ten_times_the_log_costs_no_more_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(run_watch, "progress_line", lambda line: read.append(line))
    for many in (2_000, 20_000):
        path = tmp_path / f"log{many}"
        path.write_bytes(b"")
        watching = Watching([FileTail(path)], RunWatch())
        watching.look(0.0)
        with path.open("a") as stream:
            stream.writelines(f"step {number}/99999 loss 2.0\n" for number in range(many))
        watching.look(2.0)
    assert len(read) == 2 * MOST_LINES
