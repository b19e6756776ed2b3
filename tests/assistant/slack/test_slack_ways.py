"""Each way in, driven through Slack's SDK and Bolt against the stand-in."""

from __future__ import annotations

from assistant.slack.app import Bot
from tests.assistant.slack.conftest import OOM
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import escaped
from tests.assistant.slack.standin.server import Slack


async def test_a_mention_with_a_log_is_answered_in_its_thread(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, f"why did it fail?\n```\n{escaped(OOM)}\n```")
    answer = (await slack.until(lambda: slack.replies(channel.id, asked["ts"])))[0]
    text = shown(answer)
    assert "gpu-out-of-memory" in text or "oom" in text
    assert "CUDA out of memory" in text and "What to change" in text
    assert not slack.errors()
