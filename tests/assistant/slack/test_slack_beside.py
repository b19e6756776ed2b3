"""The terminal's commands on the data folder of a bot that runs: the same file, opened in another way."""

from __future__ import annotations

import asyncio
import sqlite3
import threading

import pytest

from assistant.cli import main
from assistant.settings import Settings
from assistant.slack.app import Bot
from assistant.storage.sqlite import Sqlite
from tests.assistant.slack.conftest import StartBot, said
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Message

ASK = "help me train on Perlmutter"


async def ask(*words: str) -> int:
    return await asyncio.to_thread(main, ["ask", *words])


async def bot_answers(slack: Slack) -> list[Message]:
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    return await said(slack, channel.id, asked["ts"])


async def test_ask_and_the_bot_at_the_same_time(
    slack: Slack, bot: Bot, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    results = await asyncio.gather(*(ask(ASK, "--thread", f"t{n}") for n in range(3)))
    assert results == [0, 0, 0]
    codes, answers = await asyncio.gather(ask("4 nodes", "--thread", "t0"), bot_answers(slack))
    assert codes == 0 and len(answers) == 1
    assert "perlmutter" in capsys.readouterr().out.lower()
    with sqlite3.connect(settings.conversations) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",), "and the bot's way of writing stays"
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_the_bot_starts_while_an_ask_is_in_the_middle_of_a_write(
    slack: Slack, settings: Settings, start_bot: StartBot
) -> None:
    """The switch of the journal needs the file for itself."""
    await ask(ASK, "--thread", "t1")
    other = Sqlite(settings.conversations)
    writing, over = threading.Event(), threading.Event()

    def write() -> None:
        with other.transaction() as talk:
            talk.execute("INSERT INTO titles (thread, title) VALUES ('t1', 'mine')")
            writing.set()
            over.wait(0.5)

    held = asyncio.create_task(asyncio.to_thread(write))
    await asyncio.to_thread(writing.wait)
    await start_bot()
    await held
    assert await bot_answers(slack)
    with other.transaction() as talk:
        assert talk.execute("SELECT title FROM titles").fetchall() == [("mine",)]
