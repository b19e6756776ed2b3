"""What is kept between processes: read back while nothing changed, and never believed when something did."""

from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.kept import folder, keep, kept


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    path = tmp_path / "facts.yaml"
    path.write_text("a: 1")
    return path


def test_what_was_kept_is_read_back(facts: Path) -> None:
    assert kept("facts", [facts]) is None
    keep("facts", [facts], {"a": 1})
    assert kept("facts", [facts]) == {"a": 1}


def test_a_changed_file_is_read_again(facts: Path) -> None:
    keep("facts", [facts], {"a": 1})
    facts.write_text("a: 22")
    assert kept("facts", [facts]) is None


def test_another_set_of_files_is_read_again(facts: Path, tmp_path: Path) -> None:
    keep("facts", [facts], {"a": 1})
    (tmp_path / "more.yaml").write_text("b: 2")
    assert kept("facts", [facts, tmp_path / "more.yaml"]) is None


def test_rubbish_is_as_nothing(facts: Path) -> None:
    keep("facts", [facts], {"a": 1})
    path = folder() / "facts.pickle"
    key = path.read_bytes().split(b"\n")[0]
    for rubbish in (b"", b"\xff\xfe", key, key + b"\n", key + b"\nnot a pickle"):
        path.write_bytes(rubbish)
        assert kept("facts", [facts]) is None


def test_a_file_that_others_can_write_is_not_read(facts: Path) -> None:
    keep("facts", [facts], {"a": 1})
    (folder() / "facts.pickle").chmod(0o666)
    assert kept("facts", [facts]) is None


def test_a_folder_that_cannot_be_written_is_done_without(facts: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file stands where the folder should be")
    keep("facts", [facts], {"a": 1})
    assert kept("facts", [facts]) is None


def test_a_full_disk_leaves_nothing_behind(facts: Path) -> None:
    class Large:
        def __reduce__(self) -> str:
            raise OSError(28, "No space left on device")

    keep("facts", [facts], ["x" * 100_000, Large()])
    assert list(folder().iterdir()) == []
