"""Who is answered, and that nobody learns of another's conversation."""

from __future__ import annotations

import logging
from unittest.mock import Mock

import pytest
from prometheus_client import generate_latest

from assistant.slack.app import Bot
from tests.assistant.slack.conftest import OOM, StartBot, said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE, BOB, escaped, wrapped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import OTHER_TEAM


async def test_strangers_of_a_shared_channel_are_not_answered(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("shared")
    message = slack.say(channel, "<@U0BOT0001> why?")
    event = {**message, "channel": channel.id, "type": "app_mention", "user_team": OTHER_TEAM}
    await slack.tell_app(wrapped(event))
    await slack.until(lambda: slack.ephemeral)
    assert bot.inbox.waiting() == 0 and not slack.replies(channel.id, message["ts"])
    assert bot.metrics.refused._value.get() == 1


async def test_a_workspace_that_is_named_is_answered(slack: Slack, start_bot: StartBot) -> None:
    bot = await start_bot(teams=f"T0MAPLE01, {OTHER_TEAM}")
    channel = slack.channel("shared")
    message = slack.say(channel, "<@U0BOT0001> why?")
    await slack.tell_app(wrapped({**message, "channel": channel.id, "type": "app_mention", "user_team": OTHER_TEAM}))
    await said(slack, channel.id, message["ts"])
    assert bot.metrics.refused._value.get() == 0


async def test_a_button_pressed_from_another_workspace_belongs_to_the_same_conversation(
    slack: Slack, start_bot: StartBot
) -> None:
    """In a shared channel Slack names the workspace of the one who presses."""
    await start_bot(teams=f"T0MAPLE01, {OTHER_TEAM}")
    channel = slack.channel("shared")
    asked = await slack.mention(channel, "train with pytorch on Perlmutter")
    (question,) = await said(slack, channel.id, asked["ts"])
    slack.team_of_presser = OTHER_TEAM
    await slack.press(channel, question, "maple_choice_0", user=BOB)
    answers = await said(slack, channel.id, asked["ts"], 2)
    assert "ddp" in shown(answers[1])


async def test_only_channels_of_the_list_and_no_direct_messages(slack: Slack, start_bot: StartBot) -> None:
    listed, other = slack.channel("listed"), slack.channel("other")
    bot = await start_bot(channels=listed.id, direct=False)
    refused = await slack.mention(other, "why?")
    alone = await slack.direct_message("why?")
    assert "not set up" in str(await slack.command(other, "why?"))
    asked = await slack.mention(listed, "help me train on Perlmutter")
    await said(slack, listed.id, asked["ts"])
    assert not slack.replies(other.id, refused["ts"]) and not slack.replies(slack.direct(ALICE).id, alone["ts"])
    assert bot.inbox.counts() == {"threads": 1, "mention": 1}


async def test_a_button_in_a_channel_off_the_list_does_nothing(slack: Slack, start_bot: StartBot) -> None:
    bot = await start_bot()
    channel = slack.channel("support")
    asked = await slack.mention(channel, f"why?\n```\n{escaped(OOM)}\n```")
    (answer,) = await said(slack, channel.id, asked["ts"])
    object.__setattr__(bot.door, "settings", bot.slack.model_copy(update={"channels": ("C0OTHER",)}))
    await slack.press(channel, answer, "maple_evidence")
    await slack.press(channel, answer, "maple_feedback", value="helpful")
    assert bot.inbox.counts() == {"threads": 1, "mention": 1} and bot.door.feedback.counts() == {}


async def test_threads_know_nothing_of_each_other(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    first = await slack.mention(channel, "train ViT with FSDP on Perlmutter, account zebra42")
    await said(slack, channel.id, first["ts"])
    second = await slack.mention(channel, "what do you know of my account?", user=BOB)
    direct = await slack.direct_message("which account did I name?", user=BOB)
    everything = [*await said(slack, channel.id, second["ts"]), *await said(slack, slack.direct(BOB).id, direct["ts"])]
    assert not any("zebra42" in shown(message) for message in everything)


async def test_the_words_of_a_request_are_forgotten_once_it_is_done(slack: Slack, bot: Bot) -> None:
    asked = await slack.direct_message("train the secret project Zebra with FSDP on Perlmutter")
    await said(slack, slack.direct(ALICE).id, asked["ts"])
    await slack.until(lambda: bot.inbox.waiting() == 0)
    with bot.inbox.store.transaction() as talk:
        rows = talk.execute("SELECT body FROM slack_inbox UNION ALL SELECT body FROM slack_parts").fetchall()
    assert rows and "Zebra" not in str(rows)


async def test_trouble_in_a_turn_names_no_folder_of_the_bots_computer(
    slack: Slack, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.usecases.write_script.render", Mock(side_effect=RuntimeError("Zebra")))
    asked = await slack.direct_message("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
    (answer,) = await said(slack, slack.direct(ALICE).id, asked["ts"])
    assert "RuntimeError" in shown(answer) and "the bot's log" in shown(answer)
    assert str(bot.settings.data) not in str(answer) and "Zebra" not in str(answer)
    assert "Zebra" in bot.settings.log.read_text()


async def test_the_log_of_the_bot_holds_no_words_and_no_tokens(
    slack: Slack, start_bot: StartBot, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when all goes wrong: calls refused, files refused, an answer given up."""
    caplog.set_level(logging.WARNING)
    caplog.set_level(logging.INFO, "maple-slack")
    monkeypatch.setattr("assistant.slack.worker.AGAIN_AFTER_S", (0.01,))
    bot = await start_bot()
    slack.scopes.discard("files:read")
    slack.fail("chat.postMessage", error="invalid_blocks")
    slack.fail("assistant.threads.setStatus", error="internal_error", times=9)
    slack.fail("files.getUploadURLExternal", error="internal_error", times=99)
    file = slack.upload("zebra.log", b"project Zebra failed\n")
    await slack.direct_message(
        "Train project Zebra with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node", files=(file,)
    )
    await slack.mention(slack.channel("elsewhere", bot=False), "project Zebra")
    await slack.until(lambda: bot.inbox.waiting() == 0, 30)
    slack.scopes.add("files:read")
    slack.fail("download", cut=True, times=99)
    await slack.mention(slack.channel("support"), "why?", files=(slack.upload("zebra.out", b"failed\n"),))
    await slack.until(lambda: bot.inbox.waiting() == 0, 30)
    counted = generate_latest(bot.metrics.registry).decode()
    assert 'maple_slack_failed_total{why="Client' in counted and "zebra" not in counted and "127.0.0.1" not in counted
    assert "given up" in caplog.text and "cannot be answered" in caplog.text and "refused the blocks" in caplog.text
    assert "zebra" not in caplog.text.lower() and "xoxb" not in caplog.text and "xapp" not in caplog.text


async def test_pressing_a_button_does_not_make_somebody_the_asker(slack: Slack, bot: Bot) -> None:
    slack.scopes |= {"channels:history", "groups:history"}
    channel = slack.channel("support")
    asked = await slack.mention(channel, f"why?\n```\n{escaped(OOM)}\n```")
    (answer,) = await said(slack, channel.id, asked["ts"])
    await slack.press(channel, answer, "maple_evidence", user=BOB)
    await said(slack, channel.id, asked["ts"], 2)
    await slack.channel_message(channel, "a word between Bob and Alice", user=BOB, thread=asked["ts"])
    await slack.channel_message(channel, "write me a launch script", thread=asked["ts"])
    answers = await said(slack, channel.id, asked["ts"], 3)
    assert "Which machine" in shown(answers[2]), "Alice is answered, Bob is not"
    assert bot.inbox.counts() == {"threads": 1, "evidence": 1, "follow-up": 1, "mention": 1}
