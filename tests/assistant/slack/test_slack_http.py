"""HTTP mode: signatures, several workers on one PostgreSQL, a worker that dies."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator

import aiohttp
import pytest

from assistant.settings import Settings, read_settings
from assistant.slack.app import PATH, Bot, Listen
from assistant.slack.settings import LOOPBACK
from assistant.storage.database import open_database
from tests.assistant.slack.conftest import StartBot, said
from tests.assistant.slack.standin.delivery import signed
from tests.assistant.slack.standin.people import ALICE
from tests.assistant.slack.standin.server import Slack

SERVER = os.environ.get("MAPLE_CHAT_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432")
ASK = "train with pytorch on Perlmutter"


def free_port() -> int:
    with socket.socket() as found:
        found.bind((LOOPBACK, 0))
        return int(found.getsockname()[1])


def address(port: int) -> str:
    return f"http://{LOOPBACK}:{port}{PATH}"


async def start_http(start_bot: StartBot, slack: Slack, **changes: object) -> tuple[Bot, int]:
    port = free_port()
    bot = await start_bot(listen=Listen(port, LOOPBACK), **changes)
    slack.delivery.targets.append(address(port))
    return bot, port


@pytest.fixture
def shared(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings with a PostgreSQL database of the test's own."""
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    name = f"maple_slack_{uuid.uuid4().hex[:12]}"
    try:
        admin = psycopg.connect(f"{SERVER}/postgres", connect_timeout=3, autocommit=True)
    except psycopg.Error as error:
        pytest.skip(f"no PostgreSQL at {SERVER}: {str(error).splitlines()[0]}")
    admin.execute(f"CREATE DATABASE {name}")
    monkeypatch.setenv("MAPLE_CHAT_DATABASE", f"{SERVER}/{name}")
    ours = read_settings()
    yield ours
    open_database(ours).close()  # type: ignore[attr-defined]
    admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    admin.close()


async def test_events_buttons_and_commands_come_over_http(slack: Slack, start_bot: StartBot) -> None:
    _, port = await start_http(start_bot, slack)
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    (question,) = await said(slack, channel.id, asked["ts"])
    await slack.press(channel, question, "maple_choice_0")
    await said(slack, channel.id, asked["ts"], 2)
    assert "never submit" in str(await slack.command(channel, "help"))
    assert not slack.delivery.undelivered
    async with aiohttp.ClientSession() as client, client.get(f"http://{LOOPBACK}:{port}/health") as health:
        assert health.status == 200


async def test_slack_finds_the_address_when_the_app_is_made(slack: Slack, start_bot: StartBot) -> None:
    """Slack asks by a challenge; signed like everything else."""
    _, port = await start_http(start_bot, slack)
    data = json.dumps({"type": "url_verification", "token": "deprecated", "challenge": "3eZbrw1aB"}).encode()
    headers = {**signed(data, slack.delivery.secret), "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as client, client.post(address(port), data=data, headers=headers) as answer:
        assert answer.status == 200 and "3eZbrw1aB" in await answer.text()


@pytest.mark.parametrize("wrong", ["none", "secret", "old", "changed"])
async def test_what_slack_did_not_sign_is_refused(slack: Slack, start_bot: StartBot, wrong: str) -> None:
    bot, port = await start_http(start_bot, slack)
    channel = slack.channel("support")
    data = json.dumps(slack.event(channel, slack.say(channel, ASK), type="app_mention")).encode()
    headers = {
        "none": {},
        "secret": signed(data, "another secret"),
        "old": signed(data, slack.delivery.secret, int(time.time()) - 600),
        "changed": signed(data + b" ", slack.delivery.secret),
    }[wrong]
    sent = {**headers, "Content-Type": "application/json"}
    async with aiohttp.ClientSession() as client, client.post(address(port), data=data, headers=sent) as answer:
        assert answer.status == 401
    assert bot.inbox.counts() == {"threads": 0}


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("wrong", ["nan", "1e999", "\u0661", "signature", "json", "payload", "zero"])
@pytest.mark.broke("unsigned")
async def test_what_nobody_can_parse_is_refused_and_no_error_of_ours(
    slack: Slack, start_bot: StartBot, wrong: str
) -> None:
    _, port = await start_http(start_bot, slack)
    deep = b"[" * 100_000 + b"]" * 100_000
    data = {"json": deep, "payload": b"payload=" + deep, "zero": b"\x00\xff"}.get(wrong, b"{}")
    headers = {"Content-Type": "application/json", **signed(data, slack.delivery.secret)}
    if wrong in ("nan", "1e999", "\u0661"):
        headers["X-Slack-Request-Timestamp"] = wrong
    if wrong == "signature":
        headers["X-Slack-Signature"] = "v0=\u00e9"
    headers |= FORM if wrong == "payload" else {}
    async with aiohttp.ClientSession() as client, client.post(address(port), data=data, headers=headers) as answer:
        assert answer.status == 401


@pytest.mark.parametrize(
    "event", [None, {}, {"type": "app_mention"}, {"type": "message", "user": "U1", "channel": 5}, {"channel": True}]
)
@pytest.mark.broke("unsigned")
async def test_what_is_signed_and_has_another_form_is_refused_and_no_error_of_ours(
    slack: Slack, start_bot: StartBot, event: object
) -> None:
    _, port = await start_http(start_bot, slack)
    data = json.dumps({"type": "event_callback", "event": event}).encode()
    headers = {"Content-Type": "application/json", **signed(data, slack.delivery.secret)}
    async with aiohttp.ClientSession() as client, client.post(address(port), data=data, headers=headers) as answer:
        assert answer.status in (400, 401, 404)


async def test_any_worker_takes_any_message_of_a_thread(slack: Slack, shared: Settings, start_bot: StartBot) -> None:
    bots = [(await start_http(start_bot, slack, data=shared))[0] for _ in range(2)]
    root = await slack.direct_message(ASK)
    channel = slack.direct(ALICE)
    for count, text in enumerate(("pytorch", "fsdp", "4 nodes"), 2):
        await said(slack, channel.id, root["ts"], count - 1)
        await slack.direct_message(text, thread=root["ts"])
    answers = await said(slack, channel.id, root["ts"], 5)
    assert any(m.get("files") for m in answers)
    assert all(bot.metrics.received.labels("assistant")._value.get() > 0 for bot in bots), "both took part"


async def test_each_delivery_is_answered_once_by_all_workers(
    slack: Slack, shared: Settings, start_bot: StartBot
) -> None:
    bots = [(await start_http(start_bot, slack, data=shared))[0] for _ in range(2)]
    channel = slack.channel("support")
    message = slack.say(channel, f"<@U0BOT0001> {ASK}")
    event = slack.event(channel, message, type="app_mention")
    await asyncio.gather(*(slack.tell_app(event) for _ in range(6)))
    await slack.until(lambda: bots[0].inbox.waiting() == 0)
    assert len(slack.replies(channel.id, message["ts"])) == 1
    assert sum(bot.metrics.repeated._value.get() for bot in bots) == 5


async def test_what_a_dead_worker_had_taken_goes_on_elsewhere(
    slack: Slack, shared: Settings, start_bot: StartBot
) -> None:
    first, _ = await start_http(start_bot, slack, data=shared)
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    asked = await slack.direct_message(ASK)
    await slack.until(lambda: slack.called("chat.postMessage"))
    # Dead for the others: its lock is gone, its requests are still marked as taken.
    await asyncio.to_thread(first.alive.stop)
    second, _ = await start_http(start_bot, slack, data=shared)
    await slack.until(lambda: second.inbox.waiting() == 0)
    hold.set()
    assert len(slack.replies(slack.direct(ALICE).id, asked["ts"])) == 1
