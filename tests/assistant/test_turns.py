"""Conversations in a list: found by what was said, named, exported; files of older versions."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from assistant.events import Asked, Done, Report, Text
from assistant.session import exported
from assistant.storage.sqlite import Sqlite
from assistant.turns import Turns
from knowledge.types import Attachment, Question

OLD = """
CREATE TABLE turns (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL, attachments TEXT NOT NULL,
    answer TEXT, tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, turn));
INSERT INTO turns VALUES ('old', 1, '2026-01-02T03:04:05+00:00', 'train it', '[]', '[]', 1);
"""


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    turns = Turns(Sqlite(tmp_path / "conversations.sqlite"))
    said = {"a": ("Train ViT on Perlmutter", "Which strategy?"), "b": ("100% of my jobs fail", 'Say "more" of Zürich')}
    for thread, (text, answer) in said.items():
        turn = turns.begin(thread, text, [Attachment("slurm-7.out", "/tmp/slurm-7.out", 3)] if thread == "b" else [])
        with turns.database.transaction() as talk:
            turns.close(talk, thread, turn, [Text(answer), Asked(Question("strategy", "Or this?")), Done(1)])
    return turns


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["b", "a"]),
        ("perlmutter", ["a"]),
        ("STRATEGY vit", ["a"]),
        ("vit fail", []),
        ("100%", ["b"]),
        ("1_0", []),
        ('"more"', ["b"]),
        ("ZÜRICH", ["b"]),
        ("slurm-7", ["b"]),
        ("or this?", ["b", "a"]),
        ("type", []),
        ("number", []),
        ("b", ["b"]),
    ],
)
def test_found_by_what_was_said_and_answered(turns: Turns, words: str, found: list[str]) -> None:
    assert [thread.name for thread in turns.threads(words)] == found


def test_a_file_that_is_taken_away_is_begun_anew(turns: Turns) -> None:
    saver = turns.database.saver()  # type: ignore[attr-defined]
    saver.conn.execute("SELECT 1")
    for path in turns.database.path.parent.glob("conversations.sqlite*"):  # type: ignore[attr-defined]
        path.unlink()
    assert turns.threads() == ()
    turns.begin("c", "hello", [])
    assert [thread.name for thread in turns.threads()] == ["c"]
    fresh = turns.database.saver()  # type: ignore[attr-defined]
    assert fresh is not saver and fresh.get({"configurable": {"thread_id": "c"}}) is None


def test_what_was_said_is_for_its_owner_alone(turns: Turns) -> None:
    """The data folder may be one that a whole project reads."""
    assert not turns.database.path.stat().st_mode & 0o077  # type: ignore[attr-defined]


def test_a_thread_that_fails_takes_back_its_own_writing_alone(turns: Turns) -> None:
    other = threading.Thread(target=lambda: turns.begin("other", "stays", []))
    with pytest.raises(ZeroDivisionError), turns.database.transaction() as talk:
        talk.execute("UPDATE turns SET text = 'overwritten'")
        other.start()
        other.join(0.3)
        raise ZeroDivisionError
    other.join()
    assert {thread.begins for thread in turns.threads()} == {"Train ViT on Perlmutter", "100% of my jobs fail", "stays"}


def test_what_a_command_found_is_a_turn_that_is_whole(turns: Turns) -> None:
    asked = turns.begin("a", "8 nodes", [])
    turns.add("a", "/check", [], [Report("job.sh\n\n  1 warning")])
    first, second, third = turns.history("a")
    assert turns.unfinished("a") == asked == second and first.answer
    assert (third.number, third.text, third.answer) == (3, "/check", (Report("job.sh\n\n  1 warning"), Done(3)))
    assert [t.name for t in turns.threads("WARNING")] == ["a"]
    assert "```text\njob.sh\n\n  1 warning\n```" in exported("a", [third])


def test_programs_that_write_at_once_get_numbers_of_their_own(tmp_path: Path) -> None:
    """Two connections to one file, as of two programs; a command is kept while a message is begun."""
    both = [Turns(Sqlite(tmp_path / "c.sqlite")) for _ in range(2)]
    threads = [threading.Thread(target=lambda one=one: [one.begin("t", "x", []) for _ in range(100)]) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [turn.number for turn in both[0].history("t")] == list(range(1, 201))


def test_a_title_is_kept_found_and_taken_away(turns: Turns) -> None:
    turns.entitle("a", "  My thesis \n run ")
    assert turns.title("a") == "My thesis run"
    assert [(t.name, t.title) for t in turns.threads("thesis")] == [("a", "My thesis run")]
    turns.entitle("a", "")
    assert turns.title("a") == "" and not turns.threads("thesis")


def test_forgetting_takes_the_title_along(turns: Turns) -> None:
    turns.entitle("a", "Mine")
    with turns.database.transaction() as talk:
        turns.forget(talk, "a")
    assert turns.title("a") == "" and [t.name for t in turns.threads()] == ["b"]


def test_a_file_of_an_older_version_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(OLD)
    turns = Turns(Sqlite(path))
    turns.entitle("old", "Kept")
    assert [(t.name, t.begins, t.title) for t in turns.threads("train")] == [("old", "train it", "Kept")]
    assert turns.begin("old", "more", []).number == 2


def test_an_export_holds_all_that_was_said(turns: Turns) -> None:
    turns.begin("b", "# not a heading\n```\nx", [])
    text = exported("My jobs", turns.history("b"))
    assert text.startswith("# My jobs\n\n## 20")
    assert "100% of my jobs fail" in text and "slurm-7.out, 3 lines" in text and "**Or this?**" in text
    assert "````text\n# not a heading\n```\nx\n````" in text and text.endswith("(not answered yet)\n")
