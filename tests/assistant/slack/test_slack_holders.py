"""Who holds what: a request has one holder, a worker that lives is not taken for dead, a dead one leaves nothing."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from assistant.settings import Settings
from assistant.slack.alive import Alive
from assistant.slack.database import InFile
from assistant.slack.inbox import Inbox, TakenOverError
from assistant.slack.types import Incoming, SlackPart
from assistant.storage.database import open_database

ASKED = Incoming("key", "message", "T1", "C1", "1.000001", "1.000001", "U1", "why?")
ANSWER = SlackPart("post", text="so")


@pytest.fixture
def inboxes(tmp_path: Path) -> tuple[Inbox, Inbox]:
    """Of two workers."""
    store = InFile(tmp_path / "slack.sqlite")
    return Inbox(store, "first"), Inbox(store, "second")


def test_two_workers_that_start_at_once_both_open_the_file(tmp_path: Path) -> None:
    """SQLite does not wait where the way of writing is switched."""
    path = tmp_path / "slack.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE mine (x)")
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, other.execute, ("COMMIT",)).start()
    assert Inbox(InFile(path), "first").put(ASKED, "mention")


def state(inbox: Inbox) -> tuple[str, str | None]:
    with inbox.store.transaction() as talk:
        (row,) = talk.execute("SELECT state, holder FROM slack_inbox").fetchall()
    return row


def test_a_worker_that_was_taken_for_dead_changes_nothing_any_more(inboxes: tuple[Inbox, Inbox]) -> None:
    """It lost its connection for a moment; the second has answered meanwhile. Else the answer would be sent again."""
    first, second = inboxes
    first.put(ASKED, "mention")
    (late,) = first.claim(1)
    assert second.free("first") == 1
    (job,) = second.claim(1)
    for change in (
        lambda: first.begin(late, 0),
        lambda: first.shows(late.key, "9.9"),
        lambda: first.answer(late, [ANSWER], 1),
        lambda: first.finish(late),
        lambda: first.release(late.key, 0),
    ):
        with pytest.raises(TakenOverError):
            change()
        assert state(second) == ("waiting", "second")
    job = second.answer(job, [ANSWER], 1)
    for change in (lambda: first.sending(late.key, 0), lambda: first.sent(late.key, 0, "9.9")):
        with pytest.raises(TakenOverError):
            change()
    assert second.parts(job.key)[0].state == "planned"
    second.finish(job)
    with pytest.raises(TakenOverError):
        first.answer(late, [ANSWER], 1)
    assert state(second) == ("done", None) and second.claim(1) == []


def test_messages_of_one_thread_are_taken_one_after_the_other(inboxes: tuple[Inbox, Inbox]) -> None:
    """In the order of Slack's time stamps, whatever came in first, and whoever takes them."""
    first, second = inboxes
    for ts in ("1.000003", "1.000001", "1.000002"):
        first.put(Incoming(ts, "message", "T1", "C1", "1.000000", ts, "U1"), "mention")
    first.put(Incoming("other", "message", "T1", "C2", "1.000000", "1.000000", "U1"), "mention")
    taken = [job.key for job in first.claim(8)]
    assert sorted(taken) == ["1.000001", "other"]
    assert second.claim(8) == []
    first.release("1.000001", after_s=60)
    assert second.claim(8) == [], "nor while the one before it waits to be tried again"
    with first.store.transaction() as talk:
        talk.execute("UPDATE slack_inbox SET due = 0")
    for ts in ("1.000001", "1.000002", "1.000003"):
        (job,) = second.claim(8)
        assert job.key == ts
        second.finish(job)


def test_a_worker_that_runs_for_longer_than_logs_are_kept_is_not_taken_for_dead(settings: Settings) -> None:
    database = open_database(settings)
    old, other = Alive(database, settings.data), Alive(database, settings.data)
    old.start()
    other.start()
    left = settings.data / "slack-T1-C1-1.000001.lock"
    left.touch()
    try:
        for path in settings.data.glob("slack-*.lock"):
            os.utime(path, (0, 0))
        old.forget_before(30)
        other.forget_before(30)
        assert old.is_alive(other.name) and other.is_alive(old.name)
        assert not left.exists()
    finally:
        old.stop()
        other.stop()
    assert not other.is_alive(old.name) and not list(settings.data.glob("slack-*.lock"))
