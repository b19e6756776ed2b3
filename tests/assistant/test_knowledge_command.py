"""`maple-chat knowledge`, as a person calls it; stopped in the middle it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.progress import ProgressCallback, line
from assistant.settings import Settings
from knowledge.building import Unfinished
from knowledge.documents import Documents
from knowledge.embedding import Embedder
from knowledge.generations import Generations
from knowledge.ingest.adding import About, add

PAGES = 24
# The command in a process of its own. Told so, it waits at its sixth page or its sixth text until it is stopped.
PROGRAM = """
import signal, sys, time
from assistant.cli import main
from knowledge import building, embedding
from knowledge.errors import UnavailableError
from knowledge.ingest import adding
from knowledge.ingest.parser import Parser

calls = 0

def waiting(function):
    def called(*given):
        global calls
        calls += 1
        if {waits} and calls == 6:
            for _ in range(6000):  # in short steps: a signal that another thread gets ends no long sleep
                time.sleep(0.1)
        return function(*given)

    return called

def none():
    raise UnavailableError("no model in this test")

adding.STORE_EVERY_S, building.STEP = 0.0, 1
if {embedded}:
    embedding.Embedder.embed = waiting(embedding.Embedder.embed)
else:
    Parser.read = waiting(Parser.read)
    embedding.weights_file = none
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(PAGES):
        text = f"Set ``VALUE_{number}``.\n\n.. code-block:: bash\n\n   srun -n {number} a.out\n"
        (folder / f"page{number:03d}.rst").write_text(f"Page {number}\n==========\n\n{text}\n")
    return folder


def maple(data: Path, *words: str, waits: bool = True, embedded: bool = False) -> subprocess.Popen[bytes]:
    own = {**os.environ, "MAPLE_CHAT_DATA": str(data)}
    program = PROGRAM.format(waits=waits, embedded=embedded)
    return subprocess.Popen([sys.executable, "-c", program, *words], env=own, stderr=subprocess.PIPE)


def documents(data: Path) -> Documents:
    return Documents(data / "documents.sqlite")


def stop_when(process: subprocess.Popen[bytes], reached: Callable[[], bool], how: int) -> str:
    """Stop it there. Returns what it said on stderr."""
    while process.poll() is None and not reached():
        time.sleep(0.01)
    process.send_signal(how)
    said: bytes = process.communicate()[1]
    return said.decode()


def count(data: Path) -> int:
    return sum(origin.documents for origin in documents(data).origins())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_in_the_middle_it_goes_on_complete_and_nothing_twice(pages: Path, tmp_path: Path, how: int) -> None:
    data, whole = tmp_path / "data", tmp_path / "whole"
    process = maple(data, "knowledge", "add", str(pages))
    said = stop_when(process, lambda: count(data) > 3, how)
    kept = count(data)
    assert 3 < kept < PAGES and not documents(data).origins()[0].finished
    assert process.returncode == (-how if how == signal.SIGKILL else 130)
    assert ("the same command goes on" in said) == (how == signal.SIGINT) and "Traceback" not in said
    again = maple(data, "knowledge", "add", str(pages), waits=False)
    assert again.communicate() and again.returncode == 0
    add(documents(whole), str(pages), About())
    found = documents(data).passages()
    assert found == documents(whole).passages()
    assert len(found) == len({(p.source, p.text) for p in found}) and len({p.source for p in found}) == PAGES
    assert documents(data).origins()[0].finished


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_while_the_index_is_made_nothing_is_half_built(
    settings: Settings, pages: Path, how: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    index = settings.data / "index" / "docs"
    unfinished = Unfinished(index)
    process = maple(settings.data, "knowledge", "add", str(pages), embedded=True)
    said = stop_when(process, lambda: unfinished.path.exists() and len(unfinished.path.read_bytes()) > 5000, how)
    assert process.returncode == (-how if how == signal.SIGKILL else 130)
    assert ("the rest is embedded at the next use" in said) == (how == signal.SIGINT) and "Traceback" not in said
    kept = len(unfinished.rows())
    assert 0 < kept < PAGES and documents(settings.data).origins()[0].finished
    assert not Generations(index).newest_first()
    embedded: list[str] = []
    embed = Embedder.embed
    monkeypatch.setattr(Embedder, "embed", lambda self, texts: (embedded.extend(texts), embed(self, texts))[1])
    assert main(["knowledge", "search", "srun -n 7 a.out VALUE_7"]) == 0
    assert "VALUE_7" in capsys.readouterr().out
    of_pages = [text for text in embedded if "a.out" in text and "\n" in text]
    assert len(set(of_pages)) == len(of_pages) == PAGES - kept
    assert len(Generations(index).newest_first()) == 1 and not unfinished.path.exists()
    assert not list(index.glob(".building-*"))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Queues\n\nThe debug queue runs one hour.\n")
    return folder


def test_add_list_remove(settings: Settings, docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "list"]) == 1
    assert main(["knowledge", "add", str(docs), "--machine", "Perlmutter"]) == 0
    assert f"{docs}: 1 read" in capsys.readouterr().out
    assert main(["knowledge", "list", "--json"]) == 0
    (origin,) = json.loads(capsys.readouterr().out)
    assert (origin["origin"], origin["documents"], origin["options"]) == (str(docs), 1, {"machine": "perlmutter"})
    assert main(["knowledge", "add"]) == 0
    assert "1 unchanged" in capsys.readouterr().out
    assert main(["knowledge", "remove", str(docs)]) == 0
    assert main(["knowledge", "remove", str(docs)]) == 2
    assert "knowledge list" in capsys.readouterr().err
    assert not documents(settings.data).passages()


def test_search_by_scheduler_and_framework(settings: Settings, docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["knowledge", "search", "how long does the debug queue run", "--json"]
    assert main(["knowledge", "add", str(docs), "--scheduler", "pbs"]) == 0
    capsys.readouterr()

    def found(*more: str) -> bool:
        main([*words, *more])
        return str(docs / "a.md") in capsys.readouterr().out

    assert found() and found("--scheduler", "pbs") and not found("--scheduler", "slurm")
    assert found("--framework", "deepspeed")


def test_a_search_by_words_alone_says_so(docs: Path, tmp_path: Path) -> None:
    process = maple(tmp_path / "data", "knowledge", "add", str(docs), waits=False)
    assert b"maple-chat: searching by words alone: no model in this test" in process.communicate()[1]


def test_one_bad_place_stops_no_other(
    settings: Settings, docs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("knowledge.fetching.PAUSE_S", 0.0)
    (docs / "broken.pdf").write_bytes(b"no pdf")
    assert main(["knowledge", "add", "/nowhere", "http://127.0.0.1:9/docs/", str(docs)]) == 1
    said = capsys.readouterr()
    assert "there is no /nowhere" in said.err and "cannot reach 127.0.0.1:9" in said.err
    assert "broken.pdf: no PDF" in said.err
    assert "1 read, 1 problem" in said.out
    assert main(["knowledge", "add", "/nowhere"]) == 2


def test_sync_github_by_the_front_door(
    settings: Settings, stand_in: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", stand_in.address)
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_secretsecretsecret")
    issue = {
        "number": 1,
        "title": "It hangs",
        "body": "Text of it.",
        "html_url": "https://x/1",
        "state_reason": "not_planned",
    }
    issue |= {"url": f"{stand_in.address}/i/1", "updated_at": "2025-01-01T00:00:00Z"}
    stand_in.say("/repos/lab/tool/issues", json.dumps([issue]))
    stand_in.say("/i/1/timeline", "[]")
    assert main(["knowledge", "sync", "github", "lab/tool", "--framework", "deepspeed"]) == 0
    assert "github:lab/tool: 1 read" in capsys.readouterr().out
    assert {p.framework for p in documents(settings.data).passages()} == {"deepspeed"}
    stand_in.say("/repos/lab/tool/issues", "{}", 401)
    assert main(["knowledge", "sync", "github", "lab/tool"]) == 2
    assert "ghp_" not in "".join(capsys.readouterr())
    assert main(["knowledge", "sync", "github", "lab/tool", "--since", "yesterday"]) == 2


def test_sync_without_a_network_is_one_line(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("knowledge.fetching.PAUSE_S", 0.0)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("STACKEXCHANGE_API_URL", "http://127.0.0.1:9")
    assert main(["knowledge", "sync", "github", "lab/tool"]) == 2
    assert main(["knowledge", "sync", "stackexchange", "--tag", "slurm"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and all("cannot reach 127.0.0.1:9" in one for one in lines)


def test_the_web_shows_what_it_would_send_and_asks(
    settings: Settings, stand_in: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_SEARCH_URL", stand_in.address)
    page = {"url": f"{stand_in.address}/p.txt", "title": "A page", "content": "words"}
    stand_in.say("/search", json.dumps({"results": [page]}))
    stand_in.say("/p.txt", "torchrun hangs where the host is not reachable.", content_type="text/plain")
    query = "torchrun hangs for jane@uni.example in /home/jane/x"
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, sent in (("n\n", 0), ("\n", 0), ("y\n", 1)):
        monkeypatch.setattr("sys.stdin.readline", lambda answer=answer: answer, raising=False)
        assert main(["knowledge", "web", query]) == (0 if sent else 1)
        assert stand_in.paths().count("/search") == sent
        said = capsys.readouterr()
        assert "This would be sent: torchrun hangs for in" in said.err
    assert "found on the web" in said.out and "not reachable" in said.out
    assert "jane" not in stand_in.asked[0].raw
    monkeypatch.setenv("MAPLE_CHAT_WEB", "never")
    assert main(["knowledge", "web", query, "--yes"]) == 2


def test_progress_without_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert line("reading", 100, 120, 240, 10.0) == "reading: 120 of 240 (50 %), 10.0/s, 12 s left"
    monkeypatch.setattr("assistant.progress.SAY_EVERY_S", 0.0)
    with ProgressCallback() as progress:
        progress("reading", 0, 2)
        progress("reading", 1, 2)
    said = capsys.readouterr()
    assert said.out == "" and "reading: 1 of 2 (50 %)" in said.err
