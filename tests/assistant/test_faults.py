"""Faults of the computer: a full disk, a home that cannot be written, damaged files, clocks that jump, no locks.

Each ends in one line that says what to do, or is not noticed at all; nothing private is in the line.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock

from assistant import session as session_module
from assistant.cli import main
from assistant.events import Diagnosed, Done, Error, Event
from assistant.health import database, documents, guarded
from assistant.session import Session
from assistant.settings import Settings
from assistant.storage.incidents import Incidents
from assistant.storage.schema import TABLES
from assistant.storage.sqlite import Sqlite
from assistant.turns import Turns
from graph.incidents.incident import Rules
from knowledge.documents import FILE, Chunk, Documents, SourceDocument

ROOT = Path(__file__).parents[2]
LIMITED = """
import resource, sys
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from assistant.cli import main
sys.exit(main(sys.argv[3:]))
"""
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.5 GiB"
PRIVATE = "my words are private"


def spoil(path: Path, what: bytes = b"\xff\xfe") -> None:
    """Write over the middle of a database, where its rows lie; its head stays."""
    data = bytearray(path.read_bytes())
    for at in range(4096, len(data), 64):
        data[at : at + len(what)] = what
    path.write_bytes(bytes(data))


@pytest.fixture
def spoken(settings: Settings) -> Settings:
    """A data folder with forty turns in it."""
    turns = Turns(Sqlite(settings.conversations))
    for number in range(40):
        turns.begin(f"t{number}", f"{PRIVATE} {number} " * 40, [])
    return settings


@pytest.mark.broke("corrupted database")
def test_a_database_with_spoilt_pages_is_not_called_well(spoken: Settings) -> None:
    assert "40 conversations" in database().says
    spoil(spoken.conversations)
    found = guarded("database", database)
    assert found.state == "wrong" and "move it away" in found.says and PRIVATE not in found.says


@pytest.mark.broke("corrupted database")
def test_text_that_is_none_is_told_without_the_text(spoken: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(spoken.conversations)) as talk, talk:
        talk.execute("UPDATE turns SET text = CAST(? AS TEXT)", (f"{PRIVATE} \xff".encode("latin-1"),))
    assert main(["ask", "--thread", "t1", "hello"]) == 2
    said = capsys.readouterr()
    assert PRIVATE not in said.err + said.out and said.err.strip().count("\n") == 0


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"job": 5}', "null", "[" * 100_000])
@pytest.mark.broke("corrupted database")
def test_damaged_rows_cost_no_more_than_themselves(settings: Settings, damaged: str) -> None:
    said_by(Session(settings, "t1"), OOM)
    with closing(sqlite3.connect(settings.conversations)) as talk, talk:
        talk.execute("UPDATE turns SET attachments = ?, answer = ?, at = ?", (damaged, damaged, damaged))
        talk.execute("UPDATE diagnoses SET record = ?, fix = ?, rating = 'helpful'", (damaged, damaged))
        talk.execute("INSERT INTO incidents (id, state, last, version, body) VALUES ('i', 'open', 0, 1, ?)", (damaged,))
    session = Session(settings, "t1")
    assert [turn.text for turn in session.history()] == [OOM]
    assert [thread.name for thread in session.turns.threads()] == ["t1"]
    assert any(isinstance(event, Diagnosed) for event in said_by(Session(settings, "t2"), OOM))
    Incidents(session.database, Rules()).look(time.time())


@pytest.mark.broke("corrupted database")
def test_documents_with_spoilt_pages_are_not_called_well(settings: Settings) -> None:
    store = Documents(settings.data / FILE)
    store.begin("here", "folder", "docs", {})
    chunks = tuple(Chunk(f"{PRIVATE} {number} " * 20) for number in range(40))
    store.put("here", [SourceDocument("k", "https://e.org/k", "docs", "Tokens", chunks, "h")])
    store.close()
    spoil(settings.data / FILE)
    found = guarded("documents", documents)
    assert found.state == "wrong" and "move it away" in f"{found.says} {found.do}" and PRIVATE not in found.says


def run_limited(size: int, data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The program where no file may grow beyond so many bytes: to it, the disk is full."""
    environment = {**os.environ, "MAPLE_CHAT_DATA": str(data), "HOME": str(data), "XDG_CACHE_HOME": str(data / "c")}
    command = [sys.executable, "-c", LIMITED, str(ROOT), str(size), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)


ADD = ("knowledge", "add", str(ROOT / "docs/slack.md"))


@pytest.mark.parametrize(("words", "size"), [(("ask", OOM), 0), (("ask", OOM), 30_000), (ADD, 0)])
@pytest.mark.broke("full disk")
def test_a_full_disk_is_one_line(tmp_path: Path, words: tuple[str, ...], size: int) -> None:
    done = run_limited(size, tmp_path / "data", *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr + done.stdout
    lines = [line for line in done.stderr.splitlines() if line.startswith("maple-chat: ")]
    assert len(lines) == 1 and len(lines[0]) < 400, done.stderr


@pytest.mark.broke("full disk")
def test_a_full_disk_does_not_stop_what_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM + "\n")
    done = run_limited(0, tmp_path / "data", "why", str(tmp_path / "a.log"))
    assert done.returncode == 1 and "memory" in done.stdout.lower() and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words", [("why", "{}"), ("check", "{}"), ("clusters", "perlmutter"), ("extract", "FSDP on 2 nodes")]
)
@pytest.mark.broke("read-only home")
def test_a_home_that_cannot_be_written_is_not_noticed_where_nothing_is_kept(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """/proc takes no folder of anybody's, not even root's."""
    (tmp_path / "a").write_text(f"#!/bin/bash\n#SBATCH -N 1\nsrun python t.py\n{OOM}\n")
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "MAPLE_CHAT_DATA"):
        monkeypatch.setenv(name, "/proc/self/none")
    assert main([word.format(tmp_path / "a") for word in words]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.broke("read-only home")
def test_a_home_that_cannot_be_written_is_one_line_where_something_is_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_DATA", "/proc/self/none")
    assert main(["ask", "hello"]) == 2
    said = capsys.readouterr().err.strip()
    assert "\n" not in said and "MAPLE_CHAT_DATA" in said


class Clock(datetime):
    """A clock that jumps by `step` at each look."""

    looks, step = 0, timedelta(hours=-1)

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        cls.looks += 1
        return datetime(2026, 11, 22, 12, tzinfo=UTC) + cls.looks * cls.step


def said_by(session: Session, text: str) -> list[Event]:
    async def collect() -> list[Event]:
        return [event async for event in session.send(text)]

    return asyncio.run(collect())


@pytest.mark.broke("clock")
@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(days=400)], ids=["back", "forth"])
def test_a_clock_that_jumps_changes_no_order(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, step: timedelta
) -> None:
    monkeypatch.setattr(session_module, "datetime", Clock)
    monkeypatch.setattr(Clock, "step", step)
    one = Session(settings, "t")
    for words in ("PyTorch DDP on Perlmutter, 1 node, 4 GPUs per node", "make it 2 nodes", "make it 3 nodes"):
        said = said_by(one, words)
        assert any(isinstance(event, Done) for event in said)
    assert "--nodes=3" in str(said)
    assert [turn.text for turn in one.history()][1:] == ["make it 2 nodes", "make it 3 nodes"]


@pytest.fixture(params=[OSError(37, "No locks available"), NotImplementedError()], ids=["NFS", "none"])
def lockless(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(lock: FileLock, **_: object) -> None:
        raise request.param

    monkeypatch.setattr(FileLock, "acquire", fail)
    yield


@pytest.mark.broke("no locks")
def test_without_locks_it_still_answers(settings: Settings, lockless: None) -> None:
    events = said_by(Session(settings, "t"), OOM)
    assert any(isinstance(event, Diagnosed) for event in events) and not any(isinstance(e, Error) for e in events)


LOCKLESS = """
import errno, os, sys
sys.path.insert(0, sys.argv[1])
from graph.verification.simulator.jail import kernel, seccomp as s
flock = {"x86_64": 73, "aarch64": 32}[os.uname().machine]
fails = s.give(s.ERROR | errno.ENOLCK)
steps = [s.step(s.LOAD, 0), *s.one_of([flock], fails), s.step(s.JUMP_EQUAL, s.NUMBERS[os.uname().machine]["fcntl"], 1)]
steps += [*s.give(s.ALLOW), s.step(s.LOAD, s.AT_ARGUMENTS + 8), *s.one_of([6, 7, 37, 38], fails), *s.give(s.ALLOW)]
code = b"".join(steps)
program = s.FilterProgram(len(steps), code)
import ctypes
kernel.no_new_privileges()
assert ctypes.CDLL(None).prctl(22, 2, ctypes.byref(program), 0, 0) == 0
from assistant.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="the filter's numbers are not known here")
@pytest.mark.broke("no locks")
@pytest.mark.parametrize("words", [("ask", OOM), ADD, ("doctor",)], ids=["ask", "add", "doctor"])
def test_a_file_system_without_any_locks_is_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    """As on NFS without its lock daemon: flock and fcntl fail, and SQLite calls each database locked."""
    environment = {**os.environ, "MAPLE_CHAT_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "c")}
    command = [sys.executable, "-c", LOCKLESS, str(ROOT), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if "locks" in line]
    assert str(tmp_path) in line and "MAPLE_CHAT_DATA" in done.stdout + done.stderr
    assert "move it away" not in done.stdout and "Traceback" not in done.stderr


@pytest.mark.broke("older database")
def test_a_database_of_an_older_version_goes_on(settings: Settings) -> None:
    """Its first version had two tables; what was said in it is still there."""
    settings.data.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(settings.conversations)) as talk, talk:
        for table in TABLES[:2]:
            talk.execute(table)
        row = ("t", 0, "2026-01-01T00:00:00+00:00", "hello", "[]", "[]")
        talk.execute("INSERT INTO turns (thread, turn, at, text, attachments, answer) VALUES (?, ?, ?, ?, ?, ?)", row)
    session = Session(settings, "t")
    assert any(isinstance(event, Diagnosed) for event in said_by(session, OOM))
    assert [turn.text for turn in session.history()] == ["hello", OOM]
    assert guarded("database", database).state == "ok"


@pytest.mark.broke("fifty threads")
async def test_fifty_threads_at_once_are_answered_each_once(settings: Settings) -> None:
    async def one(number: int) -> list[Event]:
        return [event async for event in Session(settings, f"t{number}").send(OOM)]

    answers = await asyncio.gather(*map(one, range(50)))
    assert all(sum(isinstance(event, Diagnosed) for event in answer) == 1 for answer in answers)
    assert all(len(Session(settings, f"t{number}").history()) == 1 for number in range(50))
