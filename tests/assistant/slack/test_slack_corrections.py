"""What an answer should have been, from Slack: by its button, or by `/maple correct` with a link or without."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assistant.cli import main
from assistant.slack.app import Bot
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE, BOB, escaped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Channel, Message

LINE = "frobnicator: fatal: frob 17 did not settle (code 17), giving up"
LOG = f"step 10 loss 2.1\n{LINE}\n"


async def answered(slack: Slack, channel: Channel, user: str = ALICE) -> Message:
    asked = await slack.mention(channel, f"why?\n```\n{escaped(LOG)}\n```", user=user)
    answer: Message = (await slack.until(lambda: slack.replies(channel.id, asked["ts"])))[0]
    return answer


def values(**said: str) -> dict[str, Any]:
    written = {name: {name: {"value": text}} for name, text in said.items() if name != "expected"}
    return {"expected": {"expected": {"selected_option": {"value": said["expected"]}}}, **written}


def proposals(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    main(["signatures", "review", "--json"])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


async def test_a_correction_is_proposed_and_the_next_who_asks_is_told_the_cure(
    slack: Slack, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = slack.channel("support")
    first = await answered(slack, channel)
    await slack.press(channel, first, "maple_feedback", value="wrong")
    (view,) = await slack.until(lambda: slack.views)
    cure = "the licence desk restarted it, ask bob@example.org"
    await slack.submit(view, values(expected="user-auth", fix=cure, line=f"  {LINE}"))
    (one,) = await asyncio.to_thread(proposals, capsys)
    assert (one["cause"], one["answered"], one["fit"]) == ("user-auth", "unknown", True)
    assert "licence desk restarted it" in one["fix"] and "bob@example.org" not in str(one)
    second = await answered(slack, channel, BOB)
    assert "licence desk restarted it" in shown(second) and "/archives/" in str(second["blocks"])
    assert ALICE not in str(second) and "bob@example.org" not in str(second)
    elsewhere = await answered(slack, slack.channel("other"), "U0CAROL01")
    assert "licence desk" not in shown(elsewhere), "what was said in a channel stays there unless a site says otherwise"


async def test_the_command_finds_the_answer_by_a_link_or_one_s_newest(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    hers, his = await answered(slack, channel, ALICE), await answered(slack, channel, BOB)
    await slack.until(lambda: bot.inbox.waiting() == 0)
    assert not await slack.command(channel, "correct", user=ALICE)
    link = f"https://standin.slack.com/archives/{channel.id}/p{his['ts'].replace('.', '')}?thread_ts={his['thread_ts']}"
    assert not await slack.command(channel, f"correct {link}", user=ALICE, name="/maple-chat")
    keys = [view["private_metadata"] for view in slack.views]
    assert [key.rpartition(":")[2] for key in keys] == [hers["thread_ts"], his["thread_ts"]]
    told = await slack.command(slack.channel("other"), "correct", user=ALICE)
    assert "I find no answer" in str(told)
