"""The store of documents: replaced whole, counted, resumed, and shared by processes."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from knowledge.documents import Chunk, Documents, SourceDocument
from knowledge.errors import UnavailableError


def document(key: str, *texts: str, machine: str = "") -> SourceDocument:
    chunks = tuple(Chunk(text, ("Jobs", "Queues")) for text in texts)
    return SourceDocument(
        key, f"https://docs.example/{key}", "docs", key.title(), chunks, "h-" + key, "2026-01-02", machine
    )


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "new" / "documents.sqlite")


def test_reading_makes_no_file(documents: Documents) -> None:
    assert documents.version() == "" and list(documents.passages()) == [] and documents.origins() == []
    assert not documents.path.parent.exists()


def test_passages_come_in_a_stable_order_with_their_facts(documents: Documents) -> None:
    documents.begin("here", "folder", "docs", {"machine": "aurora"})
    documents.put("here", [document("b", "3", machine="aurora")])
    documents.put("here", [document("a", "1", "2")])
    assert [p.text for p in documents.passages()] == ["1", "2", "3"]
    last = documents.passages()[-1]
    assert (last.source, last.title, last.path) == ("https://docs.example/b", "B", ("Jobs", "Queues"))
    assert (last.kind, last.machine, last.date) == ("doc", "aurora", "2026-01-02")


def test_a_document_replaces_the_one_of_its_key(documents: Documents) -> None:
    documents.begin("here", "folder", "docs", {})
    documents.put("here", [document("a", "1", "2", "3")])
    first = documents.version()
    documents.put("here", [document("a", "new")])
    assert [p.text for p in documents.passages()] == ["new"]
    assert documents.version() != first


def test_a_key_is_there_once_whoever_added_it(documents: Documents) -> None:
    for origin in ("here", "there"):
        documents.begin(origin, "folder", "docs", {})
        documents.put(origin, [document("a", "1")])
    assert len(documents.passages()) == 1
    assert {one.origin: one.documents for one in documents.origins()} == {"here": 0, "there": 1}


def test_put_is_all_or_nothing(documents: Documents) -> None:
    documents.begin("here", "folder", "docs", {})
    documents.put("here", [document("a", "1")])
    before = documents.version()

    def broken() -> list[SourceDocument]:
        raise RuntimeError("cut")

    with pytest.raises(RuntimeError):
        documents.put("here", (d for make in (lambda: [document("a", "2")], broken) for d in make()))
    assert [p.text for p in documents.passages()] == ["1"] and documents.version() == before


def test_an_origin_keeps_where_it_goes_on_until_it_is_forgotten(documents: Documents) -> None:
    documents.begin("gh", "github", "issues", {"labels": "bug"})
    documents.put("gh", [document("a", "1")], cursor={"page": "3"})
    documents.begin("gh", "github", "issues", {"labels": "bug"})
    found = documents.origin("gh")
    assert found and found.cursor == {"page": "3"} and not found.finished and found.documents == 1
    documents.finish("gh", {"etag": "x"})
    found = documents.origin("gh")
    assert found and found.finished and found.cursor == {"etag": "x"}
    assert documents.forget("gh") == 1 and documents.origin("gh") is None and not documents.passages()


def test_what_changes_no_passage_changes_no_version(documents: Documents) -> None:
    documents.begin("here", "folder", "docs", {})
    documents.put("here", [document("a", "1")])
    before = documents.version()
    documents.touch("a", "etag")
    documents.put("here", [], cursor={"page": "2"})
    assert documents.remove(["none"]) == 0
    documents.finish("here")
    assert documents.version() == before
    assert documents.known("here")["a"].etag == "etag"


def write_many(path: Path, name: str) -> None:
    documents = Documents(path)
    documents.begin(name, "folder", "docs", {})
    for number in range(25):
        documents.put(name, [document(f"{name}-{number}", "text")])


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "documents.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(path, name)) for name in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(Documents(path).passages()) == 50


@pytest.mark.broke("newer database")
def test_a_damaged_or_newer_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "documents.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(UnavailableError, match="move it away"):
        Documents(path).passages()
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(UnavailableError, match="newer maple-chat"):
        Documents(path).version()


def test_what_a_terminal_would_obey_is_not_stored(documents: Documents) -> None:
    bad = "a\x1b[2Jb\u202ec\ud800\n\td"
    documents.begin("here", "folder", "docs", {})
    documents.put("here", [SourceDocument("k", bad, "docs", bad, (Chunk(bad, (bad,)),), "h")])
    (found,) = documents.passages()
    assert {found.text, found.title, found.source, *found.path} == {"a[2Jbc\n\td"}


def test_what_is_replaced_or_forgotten_is_in_the_file_no_more(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where SQLite was built to leave what is deleted on its free pages."""
    connect = sqlite3.connect

    def as_elsewhere(*given: Any, **options: Any) -> sqlite3.Connection:
        made = connect(*given, **options)
        made.execute("PRAGMA secure_delete = OFF")
        return made

    monkeypatch.setattr(sqlite3, "connect", as_elsewhere)
    documents.begin("o", "tickets", "tickets", {})
    documents.put("o", [document(f"t{n}", f"Quirin Zauner {n} " * 40) for n in range(40)])
    documents.put("o", [document(f"t{n}", f"<PERSON_1> {n} " * 40) for n in range(20)])
    documents.forget("o")
    documents.close()
    assert b"Zauner" not in documents.path.read_bytes()
