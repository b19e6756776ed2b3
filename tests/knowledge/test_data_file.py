"""Data files: read as YAML says, kept between processes, read anew when they change, and named when they are wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from knowledge.data_file import read_data, read_facts
from knowledge.errors import FactsError
from knowledge.glossary import GLOSSARY, Term


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "words.yaml"
    path.write_text("a: [1, two]")
    assert [read_data(path), read_data(path)] == [{"a": [1, "two"]}] * 2
    path.write_text("a: [1, two, 3]")
    assert read_data(path) == {"a": [1, "two", 3]}


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    for folder, value in (("here", 1), ("there", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "words.yaml").write_text(f"a: {value}")
    assert [read_data(tmp_path / folder / "words.yaml")["a"] for folder in ("here", "there")] == [1, 2]


@pytest.mark.parametrize(("text", "says"), [(b"a: [1", "not YAML"), (b"\xff\xfe\xff", "cannot be read"), (None, "")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: bytes | None, says: str) -> None:
    path = tmp_path / "words.yaml"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(FactsError, match=f"words.yaml: .*{says}"):
        read_data(path)


def test_what_was_validated_once_needs_no_pydantic() -> None:
    """The second process reads the same terms, and loads neither pydantic nor a YAML parser."""
    terms = read_facts(GLOSSARY, tuple[Term, ...])
    said = subprocess.run(
        [sys.executable, "-c", "import sys; from knowledge.glossary import *; print(len(glossary()));"
         "print(*(name for name in ('pydantic', 'yaml') if name in sys.modules))"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert said[-1] == "" and terms


@pytest.mark.parametrize("piece", ["[", "{", "- ", "? ", "{a: "])
def test_lists_without_end_in_each_other_are_no_data(tmp_path: Path, piece: str) -> None:
    """libyaml would go on in them until the stack is full, and the program with it."""
    path = tmp_path / "deep.yaml"
    path.write_text(piece * 100_000)
    with pytest.raises(FactsError, match="in each other"):
        read_data(path)
