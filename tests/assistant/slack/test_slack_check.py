"""Setting up: what --check finds, what --manifest prints, and a bot without its packages."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from pathlib import Path
from unittest.mock import Mock

import aiohttp
import pytest
import yaml

from assistant.cli import main
from assistant.commands.slack import log_to_stderr
from assistant.errors import InputError, UnavailableError
from assistant.slack.check import WHERE
from assistant.slack.listeners import COMMANDS, SHORTCUT
from assistant.slack.manifest import Way, manifest, scopes
from assistant.slack.settings import LOOPBACK
from tests.assistant.slack.conftest import StartBot, said
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.web_api import METHODS
from tests.assistant.slack.test_slack_http import free_port

OURS = Path(__file__).parents[3] / "assistant" / "slack"


async def command(*words: str) -> int:
    return await asyncio.to_thread(main, ["slack", *words])


async def test_all_is_well(slack: Slack, tokens: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert await command("--check") == 0
    told = capsys.readouterr().out
    assert "missing" not in told and "maple in Stand-in" in told and f"all {len(scopes(Way()))}" in told


@pytest.mark.parametrize("scope", scopes(Way()))
async def test_each_missing_scope_is_named(
    slack: Slack, tokens: None, capsys: pytest.CaptureFixture[str], scope: str
) -> None:
    slack.scopes.discard(scope)
    assert await command("--check") == 1
    assert f"scope {scope} is missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SLACK_BOT_TOKEN", "", "is not set"),
        ("SLACK_BOT_TOKEN", "xoxb-wrong", "invalid_auth"),
        ("SLACK_APP_TOKEN", "", "is not set"),
        ("SLACK_APP_TOKEN", "xoxb-standin-bot", "not_allowed_token_type"),
    ],
)
async def test_each_token_is_checked_and_where_to_find_it_is_said(
    slack: Slack,
    start_bot: StartBot,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    says: str,
) -> None:
    monkeypatch.setenv(variable, value)
    assert await command("--check") == 1
    told = capsys.readouterr().out
    assert says in told and WHERE[variable] in told and "xoxb-wrong" not in told
    if not value:
        assert await command() == 2, "and the bot does not start"
        assert len(capsys.readouterr().err.splitlines()) == 1
        return
    with pytest.raises(InputError, match=says):
        await start_bot()


async def test_slack_that_does_not_answer(
    slack: Slack, tokens: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAPLE_CHAT_SLACK_API", f"http://{LOOPBACK}:{free_port()}/api/")
    assert await command("--check") == 1
    assert "does not answer" in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["SUPPORT_GROUP=here", "LARGEST_FILE_MB=0", "API=http://evil.example/"])
def test_a_wrong_setting_is_one_line(
    tokens: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(f"MAPLE_CHAT_SLACK_{name}", value)
    assert main(["slack"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"MAPLE_CHAT_SLACK_{name}" in line


def test_without_the_extra_it_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("assistant.commands.slack.NEEDED", ("slack_bolt_that_is_not_there",))
    assert main(["slack", "--manifest"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "pip install 'maple-chat[slack]'" in line


@pytest.mark.parametrize("view", ["assistant", "agent", "none"])
def test_the_manifest_fits_what_the_bot_hears(view: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slack", "--manifest", "--view", view]) == 0
    made = yaml.safe_load(capsys.readouterr().out)
    assert made["settings"]["socket_mode_enabled"] is True
    assert made["features"]["shortcuts"][0]["callback_id"] == SHORTCUT
    assert [one["command"] for one in made["features"]["slash_commands"]] == [*COMMANDS]
    assert ("assistant:write" in made["oauth_config"]["scopes"]["bot"]) == (view != "none")
    heard = set(re.findall(r'app\.event\("(\w+)"\)', (OURS / "listeners.py").read_text()))
    assert {event.partition(".")[0] for event in made["settings"]["event_subscriptions"]["bot_events"]} <= heard


def test_the_manifest_of_http_mode(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["slack", "--manifest", "--http", "3000"]) == 2
    assert "--url" in capsys.readouterr().err
    way = Way("none", True, "https://bot.example/slack/events")
    made = manifest(way)
    assert made["settings"]["event_subscriptions"]["request_url"] == way.address
    assert {"channels:history", "groups:history"} <= set(scopes(way)) - set(scopes(Way("none")))


def test_every_method_that_the_bot_calls_is_covered_by_a_scope_of_the_manifest() -> None:
    source = "\n".join(path.read_text() for path in OURS.glob("*.py"))
    called = {name for name in METHODS if f"client.{name.replace('.', '_')}(" in source}
    assert {"chat.postMessage", "files.info", "conversations.replies"} <= called
    for name in called - {"conversations.replies"}:
        needed = METHODS[name][0]
        assert not needed or set(needed) & set(scopes(Way())), name


async def test_a_port_that_is_taken_is_said_before_anything_comes_in(slack: Slack, start_bot: StartBot) -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        with pytest.raises(InputError, match="choose another"):
            await start_bot(metrics_port=other.getsockname()[1])
    assert not slack.delivery.socket.connections


@pytest.mark.parametrize(("error", "code"), [(InputError("wrong"), 2), (UnavailableError("away"), 1)])
def test_the_exit_code_says_whether_another_start_may_help(
    tokens: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, code: int
) -> None:
    monkeypatch.setattr("assistant.commands.slack.work", Mock(side_effect=error))
    with pytest.raises(SystemExit) as ended:
        main(["slack"])
    assert ended.value.code == code and capsys.readouterr().err == f"maple-chat: {error}\n"


def test_the_log_starts_with_nothing_of_libraries(caplog: pytest.LogCaptureFixture) -> None:
    """bm25s sets its own level to DEBUG when it is loaded."""
    log_to_stderr()
    logging.getLogger("bm25s").setLevel(logging.DEBUG)
    logging.getLogger("bm25s").debug("Building index")
    assert "Building index" not in caplog.text


async def test_metrics_are_off_unless_asked_for_and_on_this_computer_only(slack: Slack, start_bot: StartBot) -> None:
    port = free_port()
    quiet = await start_bot()
    assert not quiet.runners
    await quiet.stop()
    bot = await start_bot(metrics_port=port)
    asked = await slack.mention(slack.channel("support"), "train project Zebra on Perlmutter")
    await said(slack, slack.channel("support").id, asked["ts"])
    await slack.until(lambda: bot.inbox.waiting() == 0)
    assert bot.runners[0].addresses == [(LOOPBACK, port)]
    async with aiohttp.ClientSession() as client:
        async with client.get(f"http://{LOOPBACK}:{port}/metrics") as answer:
            text = await answer.text()
        async with client.get(f"http://{LOOPBACK}:{port}/health") as answer:
            assert answer.status == 200
        slack.delivery.socket.cut()
        await slack.until(lambda: not bot.well())
        async with client.get(f"http://{LOOPBACK}:{port}/health") as answer:
            assert answer.status == 503
    assert 'maple_slack_received_total{way="mention"} 1.0' in text and "maple_slack_connected 1.0" in text
    assert "Zebra" not in text and "U0ALICE01" not in text
