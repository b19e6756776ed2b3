"""A stand-in of Slack and a bot that is connected to it, for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from assistant.settings import Settings
from assistant.slack.app import Bot, Listen
from assistant.slack.manifest import Way, scopes
from assistant.slack.settings import SlackSettings
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, Message

StartBot = Callable[..., Awaitable[Bot]]
OOM = "\n".join(
    [
        "[rank0]: step 41 loss 2.31",
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/home/alice/train.py", line 88, in <module>',
        "[rank1]:     loss.backward()",
        "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity "
        "of 39.50 GiB of which 1.10 GiB is free.",
        "srun: error: nid001234: task 1: Exited with exit code 1",
    ]
)


async def said(slack: Slack, channel: str, thread: str, count: int = 1) -> list[Message]:
    """The bot's messages in a thread, once there are so many."""
    await slack.until(lambda: len(slack.replies(channel, thread)) >= count)
    return slack.replies(channel, thread)


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    """A workspace in which the app has the scopes of its own manifest, and no more."""
    async with Slack(scopes=frozenset(scopes(Way()))) as running:
        yield running


@pytest.fixture
def tokens(slack: Slack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a bot that talks to the stand-in."""
    monkeypatch.setenv("SLACK_BOT_TOKEN", BOT_TOKEN)
    monkeypatch.setenv("SLACK_APP_TOKEN", APP_TOKEN)
    monkeypatch.setenv("SLACK_SIGNING_SECRET", SIGNING_SECRET)
    monkeypatch.setenv("MAPLE_CHAT_SLACK_API", slack.api)


@pytest.fixture
async def start_bot(slack: Slack, settings: Settings, tokens: None) -> AsyncIterator[StartBot]:
    """Start a bot with settings of the test's own; it is stopped at the end."""
    running: list[Bot] = []

    async def start(
        *, listen: Listen | None = None, data: Settings = settings, wait_s: float = settings.wait_s, **changes: object
    ) -> Bot:
        data = data.model_copy(update={"own_disk": True, "wait_s": wait_s})
        bot = Bot(data, SlackSettings(**{"drain_s": 5, **changes}))  # type: ignore[arg-type]
        await bot.start(listen or Listen())
        running.append(bot)
        return bot

    yield start
    for bot in running:
        await bot.stop()


@pytest.fixture
async def bot(start_bot: StartBot) -> Bot:
    return await start_bot()
