"""The web in Slack: off, because a channel has many readers, unless the setting says otherwise."""

from __future__ import annotations

import pytest

from assistant.settings import Settings
from assistant.slack.app import Bot
from assistant.slack.settings import SlackSettings
from knowledge.web import open_web


@pytest.mark.parametrize(("set_to", "held"), [(None, "never"), ("ask", "ask"), ("always", "always")])
async def test_the_web_is_off_unless_it_is_set(settings: Settings, tokens: None, set_to: str | None, held: str) -> None:
    bot = Bot(settings.model_copy(update={"web": set_to}), SlackSettings())
    assert bot.settings.web == held
    assert (open_web(bot.settings.web) is None) == (held == "never")
