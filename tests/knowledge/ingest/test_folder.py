"""Folders and checkouts: what is read of them, how it is called in public, and what changes later."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knowledge.documents import Documents
from knowledge.errors import InputError
from knowledge.ingest.adding import About, add, again


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(tmp_path / "data" / "documents.sqlite")


Closed = Callable[[Path], None]


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Closed:
    """Makes folders that may not be looked into, for root too."""
    looked, shut = os.scandir, set[str]()

    def scandir(path: Any) -> Any:
        if os.fspath(path) in shut:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return looked(path)

    monkeypatch.setattr(os, "scandir", scandir)
    return lambda folder: shut.add(str(folder))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for name in ("index.md", "jobs/queues.md", "jobs/gpu.rst", "node_modules/x.md", ".git-like/x.md", "notes.txt"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n\nThe words of {name} here.\n")
    (folder / "LICENSE.md").write_text("# Licence\n\nYou may do much.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def git(folder: Path, *arguments: str) -> None:
    own = {"GIT_AUTHOR_DATE": "2024-05-06T00:00:00Z", "GIT_COMMITTER_DATE": "2024-05-06T00:00:00Z"}
    who = ("-c", "user.name=n", "-c", "user.email=e@x")
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, env=os.environ | own)


def sources(documents: Documents) -> list[str]:
    return [passage.source for passage in documents.passages()]


def test_what_a_folder_gives(documents: Documents, docs: Path) -> None:
    report = add(documents, str(docs), About(machine="aurora"))
    assert report.read == 4 and not report.problems
    assert sources(documents) == [
        str(docs / name) for name in ("index.md", "jobs/gpu.rst", "jobs/queues.md", "notes.txt")
    ]
    assert {passage.machine for passage in documents.passages()} == {"aurora"}


def test_only_what_changed_is_read_again(documents: Documents, docs: Path) -> None:
    add(documents, str(docs), About())
    before = documents.version()
    report = add(documents, str(docs), About())
    assert (report.read, report.unchanged) == (0, 4) and documents.version() == before
    (docs / "index.md").write_text("# Index\n\nOther words now.\n")
    (docs / "notes.txt").unlink()
    report = add(documents, str(docs), About())
    assert (report.read, report.unchanged, report.removed) == (1, 2, 1)
    texts = [passage.text for passage in documents.passages()]
    assert "Other words now." in texts and not any("notes.txt" in text for text in texts)


def test_another_machine_is_another_content(documents: Documents, docs: Path) -> None:
    add(documents, str(docs), About())
    assert add(documents, str(docs), About(machine="polaris")).read == 4
    assert {passage.machine for passage in documents.passages()} == {"polaris"}


def test_a_page_added_from_two_places_is_there_once(documents: Documents, docs: Path) -> None:
    add(documents, str(docs), About())
    add(documents, str(docs / "jobs"), About())
    assert len(sources(documents)) == len(set(sources(documents))) == 4


def test_a_checkout_gives_what_is_tracked_with_dates(documents: Documents, docs: Path) -> None:
    git(docs, "init", "-b", "main")
    git(docs, "add", "index.md", "jobs")
    git(docs, "commit", "-m", "m")
    git(docs, "remote", "add", "origin", "https://user:secret@github.com/site/guide.git")
    add(documents, str(docs), About())
    address = "https://github.com/site/guide/blob/main/"
    assert sources(documents) == [address + name for name in ("index.md", "jobs/gpu.rst", "jobs/queues.md")]
    assert {passage.date for passage in documents.passages()} == {"2024-05-06"}


@pytest.mark.parametrize(
    ("settings", "page", "address"),
    [
        ("site_url: https://docs.x.example/\nplugins: !!python/name:x.y\n", "index.md", ""),
        ("site_url: https://docs.x.example/\n", "jobs/queues.md", "jobs/queues/"),
        ("site_url: https://docs.x.example\nuse_directory_urls: false\n", "jobs/queues.md", "jobs/queues.html"),
    ],
)
def test_the_address_of_a_mkdocs_page(
    documents: Documents, docs: Path, tmp_path: Path, settings: str, page: str, address: str
) -> None:
    (tmp_path / "mkdocs.yml").write_text(settings)
    git(tmp_path, "init")
    git(tmp_path, "add", "docs", "mkdocs.yml")
    add(documents, str(docs / page), About())
    assert set(sources(documents)) == {f"https://docs.x.example/{address}"}


def test_the_address_of_a_sphinx_page(documents: Documents, docs: Path) -> None:
    (docs / "conf.py").write_text("raise SystemExit  # never run\nhtml_baseurl = 'https://docs.x.example/en'\n")
    add(documents, str(docs), About())
    assert "https://docs.x.example/en/jobs/gpu.html" in sources(documents)


def test_a_given_site_goes_first_and_is_remembered(documents: Documents, docs: Path) -> None:
    add(documents, str(docs), About(site="https://guide.example"))
    assert "https://guide.example/jobs/queues/" in sources(documents)
    ((origin, about),) = again(documents)
    assert add(documents, origin, about).unchanged == 4


def test_hooks_of_a_strange_checkout_do_not_run(documents: Documents, docs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    git(docs, "init")
    git(docs, "add", "index.md")
    git(docs, "config", "core.fsmonitor", f"touch {trap}")
    add(documents, str(docs), About())
    assert not trap.exists()


def test_links_out_of_the_folder_are_not_followed(documents: Documents, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text("# Private\n\nNot for the docs.\n")
    (docs / "linked.md").symlink_to(tmp_path / "private.md")
    add(documents, str(docs), About())
    assert not any("Not for the docs" in passage.text for passage in documents.passages())


@pytest.mark.broke("linked settings")
@pytest.mark.parametrize("name", ["mkdocs.yml", "conf.py"])
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_settings_that_have_no_end_are_not_read(documents: Documents, docs: Path, name: str, kind: str) -> None:
    (docs / name).unlink(missing_ok=True)
    if kind == "device":
        (docs / name).symlink_to("/dev/zero")
    else:
        os.mkfifo(docs / name)
    assert add(documents, str(docs), About()).read == 4


def test_a_broken_page_stops_nothing(documents: Documents, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 no")
    (docs / "binary.md").write_bytes(b"\x00\x00")
    report = add(documents, str(docs), About())
    assert report.read == 4
    assert [problem.split(": ")[0] for problem in report.problems] == [
        str(docs / "binary.md"),
        str(docs / "broken.pdf"),
    ]


@pytest.mark.parametrize("name", ["nowhere", "empty", "picture.png"])
def test_what_gives_nothing_is_one_line(documents: Documents, docs: Path, name: str) -> None:
    (docs / "empty").mkdir()
    with pytest.raises(InputError):
        add(documents, str(docs / name), About())
    assert documents.origins() == []


def test_a_name_that_is_no_text_is_spelled_out(documents: Documents, tmp_path: Path) -> None:
    name = tmp_path / os.fsdecode(b"caf\xe9.md")
    name.write_text("# Coffee\n\nThe words.\n")
    assert add(documents, str(tmp_path), About()).read == 1
    assert sources(documents) == [f"{tmp_path}/caf\\udce9.md"]
    assert add(documents, str(tmp_path), About()).unchanged == 1
    name.unlink()
    (tmp_path / "other.md").write_text("# Other\n\nWords.\n")
    assert add(documents, str(tmp_path), About()).removed == 1


def test_a_folder_that_was_closed_keeps_what_was_read(documents: Documents, docs: Path, closed: Closed) -> None:
    add(documents, str(docs), About())
    closed(docs / "jobs")
    report = add(documents, str(docs), About())
    assert (report.unchanged, report.removed) == (2, 0) and "Permission denied" in report.problems[0]
    assert len(sources(documents)) == 4
    closed(docs)
    with pytest.raises(InputError, match="Permission denied"):
        add(documents, str(docs), About())


def test_a_checkout_runs_nothing_and_leads_nowhere(documents: Documents, docs: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    git(docs, "init")
    git(docs, "add", "index.md", "jobs/gpu.rst")
    git(docs, "commit", "-m", "m")
    git(docs, "remote", "add", "origin", "ssh://localhost/x")
    for name, value in (("core.sshCommand", f"touch {trap}"), ("remote.origin.promisor", "true")):
        git(docs, "config", name, value)
    git(docs, "config", "extensions.partialClone", "origin")
    tree = subprocess.run(["git", "-C", docs, "rev-parse", "HEAD^{tree}"], check=True, capture_output=True, text=True)
    (docs / ".git/objects" / tree.stdout[:2] / tree.stdout[2:].strip()).unlink()
    add(documents, str(docs), About())
    assert not trap.exists()
    git(docs, "config", "core.worktree", str(tmp_path))
    (tmp_path / "private.md").write_text("# Private\n\nNot for the docs.\n")
    add(documents, str(docs), About())
    assert not any("Not for the docs" in passage.text for passage in documents.passages())


def test_settings_that_repeat_themselves_are_not_written_out(documents: Documents, docs: Path) -> None:
    rows = [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    (docs / "mkdocs.yml").write_text("\n".join(["a: &a [x, x, x]", *rows, "site_url: *i", "docs_dir: *i"]))
    assert add(documents, str(docs), About()).read == 4
