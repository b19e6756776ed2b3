"""Conversations in PostgreSQL, by several processes, through every way in which a connection or a worker goes."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from langgraph.runtime import get_runtime

import graph.usecases.write_script
from assistant.errors import InputError, UnavailableError
from assistant.events import Diagnosed, Error, Event, Progress, Script, Streaming
from assistant.running import RECONNECTING
from assistant.session import Session
from assistant.settings import Settings, read_settings
from assistant.storage.database import LostError, open_database
from graph.context import Context
from knowledge.types import LaunchBundle, LaunchPlan, Writing

Admin = Callable[[str], list[tuple[object, ...]]]
render = graph.usecases.write_script.render
ASK = "import sys; from assistant.cli import main; sys.exit(main())"
HANGING = """
import asyncio, sys, time
from pathlib import Path
from unittest import mock
from assistant.attachments import attach
from assistant.session import Session
from assistant.settings import read_settings

def hang(*arguments, **more):
    Path(sys.argv[2]).touch()
    time.sleep(600)

async def talk():
    attached = [attach(Path(name)) for name in sys.argv[4:]]
    async for event in Session(read_settings(), "t").send(sys.argv[3], attached):
        print(event)

with mock.patch(sys.argv[1], hang):
    asyncio.run(talk())
"""


async def said(session: Session, text: str) -> list[Event]:
    return [event async for event in session.send(text)]


async def resumed(session: Session) -> list[Event]:
    return [event async for event in session.resume()]


def killed_at(point: str, mark: Path, *arguments: str) -> None:
    """Run a turn in a process of its own and kill it where it hangs."""
    child = subprocess.Popen([sys.executable, "-c", HANGING, point, str(mark), *arguments], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not mark.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert mark.exists(), "the turn never came to the point where it is killed"
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The node that writes the script says so and waits at the gate; once, then it goes through."""
    gate = threading.Event()
    came = threading.Event()

    def slow(plan: LaunchPlan) -> LaunchBundle:
        if not came.is_set():
            came.set()
            get_runtime(Context).context.tell(Writing("here"))
            assert gate.wait(60)
        return render(plan)

    monkeypatch.setattr("graph.usecases.write_script.render", slow)
    yield gate
    gate.set()


async def cut_in_the_middle(
    session: Session, text: str, cut: Callable[[], object], gate: threading.Event
) -> list[Event]:
    """Say it, cut something while the graph runs, and hear the rest."""
    events = []
    async for event in session.send(text):
        events.append(event)
        if isinstance(event, Streaming) and not gate.is_set():
            cut()
            gate.set()
    return events


def test_a_conversation_lives_there_and_nothing_here(postgres: Settings, whole: str) -> None:
    session = Session(postgres, "t")
    asyncio.run(said(session, whole))
    events = asyncio.run(said(Session(postgres, "t"), "make it 8 nodes"))
    assert next(e for e in events if isinstance(e, Script)).made.changes == ("nodes: 4 → 8",)
    assert len(session.history()) == 2 and not postgres.conversations.exists()
    session.forget()
    assert session.history() == () and "question" in {e.type for e in asyncio.run(said(session, "8 nodes of DDP"))}


def test_only_the_newest_state_is_kept(postgres: Settings, whole: str) -> None:
    session = Session(postgres, "t")
    for text in (whole, "make it 8 nodes", "use DDP"):
        asyncio.run(said(session, text))
    with session.database.transaction() as talk:
        checkpoints = talk.execute("SELECT count(*) FROM checkpoints").fetchone()[0]
        blobs = talk.execute("SELECT count(*), count(DISTINCT channel) FROM checkpoint_blobs").fetchone()
        carried = talk.execute("SELECT count(*) FROM carried").fetchone()[0]
    assert checkpoints == 1 and blobs[0] == blobs[1] and carried == 0


@pytest.mark.broke("two programs")
def test_two_processes_on_one_thread_keep_order(postgres: Settings, whole: str) -> None:
    command = [sys.executable, "-c", ASK, "ask", "--json", "--thread", "t"]
    texts = [whole, "make it 2 nodes"]
    children = [subprocess.Popen([*command, text], stdout=subprocess.PIPE, text=True) for text in texts]
    answers = [json.loads(child.communicate(timeout=120)[0]) for child in children]
    assert sorted(answer["events"][-1]["turn"] for answer in answers) == [1, 2]
    turns = Session(postgres, "t").history()
    assert [turn.number for turn in turns] == [1, 2] and {turn.text for turn in turns} == set(texts)


@pytest.mark.parametrize("point", ["graph.usecases.write_script.render", "assistant.turns.Turns.close"])
@pytest.mark.broke("killed worker")
def test_another_process_finishes_what_a_killed_one_left(
    postgres: Settings, tmp_path: Path, whole: str, point: str
) -> None:
    killed_at(point, tmp_path / "hangs", whole)
    began = time.monotonic()
    session = Session(postgres, "t")
    events = asyncio.run(resumed(session))
    assert [event.type for event in events] == ["script", "known", "done"]
    assert time.monotonic() - began < 30, "the thread of a dead process was not freed"
    assert asyncio.run(resumed(session)) == []
    assert [turn.answer for turn in session.history()] == [tuple(events)]


def test_a_log_that_lay_on_the_dead_machine_is_diagnosed(postgres: Settings, tmp_path: Path) -> None:
    log = tmp_path / "there" / "job.log"
    log.parent.mkdir()
    log.write_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" * 200)
    killed_at("graph.nodes.diagnose.find_cause", tmp_path / "hangs", "why?", str(log))
    shutil.rmtree(log.parent)
    events = asyncio.run(resumed(Session(postgres, "t")))
    assert [e.diagnosis.cause for e in events if isinstance(e, Diagnosed)] == ["gpu-oom"]


@pytest.mark.broke("PostgreSQL")
def test_connections_killed_in_mid_turn(
    postgres: Settings, address: str, admin: Admin, whole: str, gate: threading.Event
) -> None:
    name = address.rpartition("/")[2]
    kill = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    session = Session(postgres, "t")
    events = asyncio.run(cut_in_the_middle(session, whole, lambda: admin(kill), gate))
    assert [event.type for event in events if not isinstance(event, Streaming | Progress)] == [
        "script",
        "known",
        "done",
    ]
    assert Progress(RECONNECTING) in events
    (turn,) = session.history()
    assert turn.answer is not None and turn.answer[0] == next(e for e in events if isinstance(e, Script))


@pytest.mark.broke("PostgreSQL")
def test_a_server_that_is_restarted_in_mid_turn(
    own_server: Callable[[], None], whole: str, gate: threading.Event
) -> None:
    """Not shut down in good order, but as by a crash of its computer; the turn ends as if nothing had been."""
    session = Session(read_settings(), "t")
    events = asyncio.run(cut_in_the_middle(session, whole, own_server, gate))
    told = [event.type for event in events if not isinstance(event, Streaming | Progress)]
    assert told == ["script", "known", "done"] and Progress(RECONNECTING) in events
    assert [turn.text for turn in session.history()] == [whole]


def test_connections_ended_while_they_lay_unused_are_not_used_again(
    postgres: Settings, address: str, admin: Admin
) -> None:
    name = address.rpartition("/")[2]
    database = open_database(postgres)
    with database.transaction() as talk:
        talk.execute("SELECT 1")
    admin(f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'")
    with database.transaction() as talk:
        assert talk.execute("SELECT 1").fetchone()[0] == 1


def test_what_need_not_wait_for_the_disk_is_stored_whole_or_not_at_all(postgres: Settings) -> None:
    database = open_database(postgres)

    def setting(durable: bool) -> str:
        with database.transaction(durable=durable) as talk:
            return str(talk.execute("SELECT current_setting('synchronous_commit')").fetchone()[0])

    assert [setting(False), setting(True)] == ["off", "on"]
    with database.transaction(durable=False) as talk:
        talk.execute("INSERT INTO titles (thread, title) VALUES (?, ?)", ("a", "kept"))
    with pytest.raises(ZeroDivisionError), database.transaction(durable=False) as talk:
        talk.execute("INSERT INTO titles (thread, title) VALUES (?, ?)", ("b", "dropped"))
        raise ZeroDivisionError
    with database.transaction() as talk:
        assert talk.execute("SELECT title FROM titles").fetchall() == [("kept",)]


@pytest.mark.broke("PostgreSQL")
def test_a_server_that_stays_away_loses_nothing(
    postgres: Settings, address: str, admin: Admin, whole: str, gate: threading.Event
) -> None:
    name = address.rpartition("/")[2]
    session = Session(postgres.model_copy(update={"wait_s": 1.0}), "t")

    def cut() -> None:
        admin(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        admin(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

    events = asyncio.run(cut_in_the_middle(session, whole, cut, gate))
    assert isinstance(events[-1], Error) and "PostgreSQL" in events[-1].text and "\n" not in events[-1].text
    admin(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    again = asyncio.run(said(Session(postgres, "t"), "make it 8 nodes"))
    assert [e.made.changes for e in again if isinstance(e, Script)] == [(), ("nodes: 4 → 8",)]


def in_a_thread(work: Callable[[], None]) -> None:
    """Where another event loop may run."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def test_who_lost_the_thread_stores_and_says_nothing(
    postgres: Settings, address: str, admin: Admin, whole: str, gate: threading.Event
) -> None:
    """Its connection goes, another worker answers, and then it wakes up."""
    name = address.rpartition("/")[2]
    other = postgres.model_copy(update={"workers": 3})

    def cut() -> None:
        admin(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        taken_over = asyncio.run(resumed(Session(other, "t")))
        assert [event.type for event in taken_over] == ["script", "known", "done"]

    try:
        events = asyncio.run(cut_in_the_middle(Session(postgres, "t"), whole, lambda: in_a_thread(cut), gate))
    finally:
        open_database(other).close()  # type: ignore[attr-defined]
    assert [turn.tries for turn in Session(postgres, "t").history()] == [2]
    assert not any(isinstance(event, Script | Error) for event in events)


def test_a_message_waits_for_the_turn_before_it(postgres: Settings, whole: str, gate: threading.Event) -> None:
    """Another worker gets the next message while the first is in the middle of a turn."""
    other, later = postgres.model_copy(update={"workers": 3}), []
    second = threading.Thread(target=lambda: later.extend(asyncio.run(said(Session(other, "t"), "make it 8 nodes"))))

    def cut() -> None:
        second.start()
        second.join(1.0)

    try:
        events = asyncio.run(cut_in_the_middle(Session(postgres, "t"), whole, cut, gate))
        second.join()
    finally:
        open_database(other).close()  # type: ignore[attr-defined]
    assert [e.made.changes for e in events if isinstance(e, Script)] == [()]
    assert [e.made.changes for e in later if isinstance(e, Script)] == [("nodes: 4 → 8",)]
    assert [(turn.text, turn.tries) for turn in Session(postgres, "t").history()] == [
        (whole, 1),
        ("make it 8 nodes", 1),
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.rpartition("/")[0] + "/no_such_database", ("does not exist", "createdb")),
        (lambda a: a.replace("postgres@", "nobody_here@"), ("does not exist", "createuser")),
        (lambda a: a.replace(":5432", ":1"), ("refused", "server runs")),
        (lambda a: a.replace("127.0.0.1", "no-such-host.invalid"), ("host", "correct the host")),
    ],
    ids=["database", "user", "port", "host"],
)
def test_what_cannot_be_reached_is_one_line(
    postgres: Settings,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[str], str],
    words: tuple[str, str],
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", change(address))
    with pytest.raises(UnavailableError) as caught:
        Session(read_settings(), "t")
    assert all(word in str(caught.value) for word in words) and "\n" not in str(caught.value)


def test_a_password_is_never_shown(server: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", "postgresql://me:hunter2@127.0.0.1:1/x")
    ours = read_settings()
    with pytest.raises(UnavailableError) as caught:
        Session(ours, "t")
    assert "hunter2" not in str(caught.value) + repr(ours)


@pytest.mark.parametrize(
    ("said", "todo"),
    [
        (
            'connection failed: connection to server at "h", port 5432 failed: FATAL:  password authentication failed '
            'for user "x"',
            "password",
        ),
        ("connection failed: FATAL:  sorry, too many clients already", "MAPLE_CHAT_WORKERS"),
        ("connection failed: FATAL:  the database system is starting up", "see that the server runs"),
        ("something new", "see to the server"),
    ],
)
def test_each_refusal_says_what_to_do(postgres: Settings, said: str, todo: str) -> None:
    import psycopg

    refused = open_database(postgres)._refused(psycopg.OperationalError(said))  # type: ignore[attr-defined]
    assert todo in str(refused) and "FATAL" not in str(refused)


@pytest.mark.parametrize("address", ["mysql://x/y", "/tmp/file", "postgresql", "nonsense"])
def test_an_address_of_another_kind_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", address)
    with pytest.raises(InputError, match="postgresql://"):
        Session(read_settings(), "t")


def test_without_its_client_it_says_what_to_install(settings: Settings) -> None:
    code = "import sys; sys.modules['psycopg'] = None\nfrom assistant.cli import main; sys.exit(main(['ask', 'hello']))"
    environment = {**os.environ, "MAPLE_CHAT_DATABASE": "postgresql://x@127.0.0.1/y"}
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert child.returncode == 2 and child.stderr.count("\n") == 1 and "maple-chat[postgres]" in child.stderr


def test_a_lost_connection_is_told_apart(postgres: Settings, address: str, admin: Admin) -> None:
    name = address.rpartition("/")[2]
    database = open_database(postgres)
    with pytest.raises(LostError), database.transaction() as talk:
        admin(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        talk.execute("SELECT 1")
    with pytest.raises(UnavailableError) as caught, database.transaction() as talk:
        talk.execute("SELECT nonsense")
    assert not isinstance(caught.value, LostError)
    with database.transaction() as talk:
        assert talk.execute("SELECT 1").fetchone() == (1,)
