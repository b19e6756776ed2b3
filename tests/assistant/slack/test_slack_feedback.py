"""What of a log goes into a labelled case."""

from __future__ import annotations

import gzip
from pathlib import Path

from assistant.slack.feedback import AROUND, HEAD, TAIL, WHOLE, excerpt


def log(path: Path, count: int) -> Path:
    """More than one block of lines, each saying its number."""
    path.write_text("".join(f"line {n} {'x' * 90}\n" for n in range(1, count + 1)))
    return path


def numbers(text: str) -> list[int]:
    return [int(line.split()[1]) for line in text.splitlines() if line]


def test_a_short_log_is_kept_whole(tmp_path: Path) -> None:
    path = log(tmp_path / "a.log", 1000)
    assert excerpt(path, [500]) == path.read_text()


def test_of_a_long_log_head_end_and_what_stands_about_the_evidence(tmp_path: Path) -> None:
    count, told = 100_000, (60_000, 99_950)
    kept = numbers(excerpt(log(tmp_path / "a.log", count), told))
    near = {n for line in told for n in range(line - AROUND, line + AROUND + 1)}
    assert kept == sorted({*range(1, HEAD + 1), *near, *range(count - TAIL + 2, count + 1)})


def test_what_was_packed_is_read_as_text(tmp_path: Path) -> None:
    packed = tmp_path / "a.log.gz"
    packed.write_bytes(gzip.compress(log(tmp_path / "a.log", 50).read_bytes()))
    assert numbers(excerpt(packed, [])) == list(range(1, 51))


def test_an_endless_line_is_cut_and_what_is_gone_or_no_text_is_empty(tmp_path: Path) -> None:
    (tmp_path / "endless").write_bytes(b"x" * (9 << 20))
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 100)
    assert len(excerpt(tmp_path / "endless", [1])) <= WHOLE
    assert excerpt(tmp_path / "binary", [1]) == excerpt(tmp_path / "gone", [1]) == ""
