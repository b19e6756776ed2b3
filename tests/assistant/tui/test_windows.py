"""Large logs and large pastes, without the screen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assistant.tui.completing import files
from assistant.tui.logfile import BLOCK, LONGEST, LogFile
from assistant.tui.pasting import END, START, Growing, Pastes, Spooled
from assistant.tui.widgets.log_view import shown
from assistant.tui.work.scanning import rank_lines


def indexed(path: Path) -> LogFile:
    file = LogFile(path)
    for _ in file.index():
        pass
    return file


@pytest.mark.parametrize("ends", [b"\n", b""])
def test_windows_are_the_lines(tmp_path: Path, ends: bytes) -> None:
    chance = random.Random(1)
    lines = [b"x" * chance.choice((0, 1, 80, 3_000, BLOCK + 5)) + str(n).encode() for n in range(300)]
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(lines) + ends)
    file = indexed(path)
    cut = [line[:LONGEST] for line in lines]
    assert file.lines == 300
    for first in (1, 2, 7, 150, 299, 300):
        assert file.window(first, 40) == cut[first - 1 : first + 39]
    assert file.window(301, 5) == [] and file.line(300) == cut[-1]


def test_an_endless_line_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"y" * (3 * BLOCK))
    assert indexed(path).window(1, 9) == [b"y" * LONGEST]


def test_an_empty_log_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"")
    assert indexed(tmp_path / "log").lines == 0


def fed(folder: Path, data: bytes, size: int) -> tuple[bytes, list[Spooled]]:
    """What is left for the keyboard, and the pastes, when the data comes in pieces of that size."""
    pastes, keys, kept = Pastes(folder), b"", []
    for start in range(0, len(data), size):
        for part in pastes.feed(data[start : start + size]):
            if isinstance(part, bytes):
                keys += part
            elif isinstance(part, Spooled):
                kept.append(part)
            else:
                assert isinstance(part, Growing)
    return keys + pastes.rest(), kept


@pytest.mark.parametrize("size", [3, 5, 7, 64, 1 << 20])
def test_a_long_paste_is_a_file_however_it_is_cut(tmp_path: Path, size: int) -> None:
    text = b"".join(b"line %d \xff\x1b[31mred\r" % n for n in range(2_000))
    keys, (kept,) = fed(tmp_path, b"ab" + START + text + END + b"\x1b[A", size)
    assert keys.replace(START + END, b"") == b"ab\x1b[A"
    assert kept.path.read_bytes() == text.replace(b"\r", b"\n") and kept.lines == 2_000


@pytest.mark.parametrize("size", [3, 64])
def test_a_short_paste_is_left_to_the_keyboard(tmp_path: Path, size: int) -> None:
    keys, kept = fed(tmp_path, START + b"two\r\nlines" + END, size)
    assert keys == START + b"two\nlines" + END and not kept


def test_the_escape_key_is_not_held_back(tmp_path: Path) -> None:
    assert list(Pastes(tmp_path).feed(b"\x1b")) == [b"\x1b"]


def test_a_paste_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    _, (kept,) = fed(tmp_path / "file", START + b"x\r" * 9_000 + END, 4096)
    assert "exists" in kept.problem


def test_the_home_of_nobody_holds_no_files() -> None:
    assert files("@~nosuch/") == ()


def test_the_lines_of_a_rank(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("[rank1]: a\n 1: b\n[rank11]: c\nrank 1 said\n[rank1]: d")
    found = [number for _, _, numbers in rank_lines(path, 1) for number in numbers]
    assert found == [1, 2, 5]


def test_a_line_cannot_move_the_cursor() -> None:
    assert shown(b"\x1b[2J\x1b]0;title\x07\ta\x08b\xe2\x80\xae\r") == "        a b "
