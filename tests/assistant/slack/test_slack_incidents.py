"""Incidents as the team sees them, and what people who ask are told: through the bot, against the stand-in of Slack."""

from __future__ import annotations

import asyncio
import time

import pytest

from assistant.settings import Settings
from assistant.slack.app import Bot
from assistant.slack.blocks import NO_INCIDENT
from assistant.slack.incidents import is_quiet
from assistant.slack.settings import SlackSettings
from tests.assistant.slack.conftest import StartBot
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import BOB, escaped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Channel, Message
from tests.assistant.slack.test_slack_http import shared as shared
from tests.assistant.slack.test_slack_http import start_http

PEOPLE = [f"U0USER{n:03}" for n in range(8)]
HOUR_S = 3_600.0
# There are no weeks of tickets behind these: with the usual threshold only the fourth would tell of a file system.
EARLY = 1.0


def log(number: int) -> str:
    """Each person's own job on one broken file system."""
    where = f"/lustre/eagle/proj{number}/data/shard-{number}.tar"
    return f"Traceback (most recent call last):\nOSError: [Errno 5] Input/output error: '{where}'"


async def ask(slack: Slack, channel: Channel, number: int) -> Message:
    """One person asks; the answer."""
    asked = await slack.mention(channel, f"why did it fail?\n```\n{escaped(log(number))}\n```", user=PEOPLE[number])
    answer: Message = (await slack.until(lambda: slack.replies(channel.id, asked["ts"])))[0]
    return answer


def told(slack: Slack, team: Channel) -> list[Message]:
    return [message for message in team.messages if message.get("bot_id")]


@pytest.fixture
def team(slack: Slack) -> Channel:
    """The team's channel."""
    return slack.channel("hpcops")


@pytest.fixture
async def watching(slack: Slack, team: Channel, start_bot: StartBot) -> Bot:
    return await start_bot(incident_channel=team.id, incident_chance=EARLY, past="channel")


async def test_one_message_is_written_as_people_come_and_closed_when_it_is_over(
    slack: Slack, watching: Bot, team: Channel
) -> None:
    support = slack.channel("support")
    firsts = [await ask(slack, support, n) for n in range(3)]
    assert all("others see this" not in shown(one) for one in firsts[:2]), "two are a coincidence"
    (message,) = await slack.until(lambda: told(slack, team))
    assert "/lustre/eagle" in shown(message) and "3 people, 3 tickets" in shown(message)
    assert "Input/output error" in shown(message) and "/archives/" in str(message["blocks"])
    await slack.until(lambda: watching.inbox.waiting() == 0)
    fourth = await ask(slack, support, 3)
    assert "3 others see this since" in shown(fourth) and "the team knows" in shown(fourth)
    await slack.until(lambda: "4 people" in shown(told(slack, team)[0]))
    assert not any(person in str(fourth) for person in PEOPLE), "nobody is named to those who ask"
    later = time.time() + 3 * HOUR_S
    await asyncio.to_thread(watching.worker.answering.team_channel.look, later)
    await slack.until(lambda: "Over:" in shown(told(slack, team)[0]))
    assert len(told(slack, team)) == 1
    fifth = await ask(slack, support, 4)
    assert "others see this" not in shown(fifth)


async def test_one_person_who_asks_again_and_again_is_no_incident(slack: Slack, watching: Bot, team: Channel) -> None:
    support = slack.channel("support")
    for _ in range(5):
        await ask(slack, support, 0)
    await asyncio.to_thread(watching.worker.answering.team_channel.look)
    assert not told(slack, team) and watching.inbox.waiting() == 0


async def test_what_the_team_calls_no_incident_is_closed_and_not_told_again(
    slack: Slack, watching: Bot, team: Channel
) -> None:
    support = slack.channel("support")
    for number in range(3):
        await ask(slack, support, number)
    (message,) = await slack.until(lambda: told(slack, team))
    await slack.until(lambda: watching.inbox.waiting() == 0)
    outside = slack.channel("elsewhere")
    await slack.press(outside, message, NO_INCIDENT, user=BOB)
    assert watching.worker.answering.team_channel.incidents.open(), "only the team says so, in its channel"
    await slack.press(team, message, NO_INCIDENT, user=BOB)
    await slack.until(lambda: "No incident:" in shown(told(slack, team)[0]))
    closed = told(slack, team)[0]
    assert f"<@{BOB}>" in str(closed["blocks"]) and NO_INCIDENT not in str(closed["blocks"])
    for number in range(3, 6):
        assert "others see this" not in shown(await ask(slack, support, number))
    await asyncio.to_thread(watching.worker.answering.team_channel.look)
    await slack.until(lambda: watching.inbox.waiting() == 0)
    assert len(told(slack, team)) == 1 and "No incident:" in shown(told(slack, team)[0])


async def test_direct_messages_count_and_are_not_shown(slack: Slack, watching: Bot, team: Channel) -> None:
    support = slack.channel("support")
    for number in range(2):
        await ask(slack, support, number)
    asked = await slack.direct_message(f"why? secretword\n```\n{escaped(log(5))}\n```", user=PEOPLE[5])
    await slack.until(lambda: slack.replies(slack.direct(PEOPLE[5]).id, asked["ts"]))
    (message,) = await slack.until(lambda: told(slack, team))
    assert "3 people" in shown(message) and "1 of them in direct messages" in shown(message)
    assert PEOPLE[5] not in str(message) and slack.direct(PEOPLE[5]).id not in str(message["blocks"])


async def test_in_quiet_hours_nothing_is_told_and_nothing_is_lost(
    slack: Slack, team: Channel, start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = time.strftime("%H:00", time.gmtime()) + "-" + time.strftime("%H:59", time.gmtime(time.time() + HOUR_S))
    bot = await start_bot(incident_channel=team.id, incident_chance=EARLY, incident_quiet=quiet)
    support = slack.channel("support")
    for number in range(3):
        await ask(slack, support, number)
    await asyncio.to_thread(bot.worker.answering.team_channel.look)
    fourth = await ask(slack, support, 3)
    assert "3 others see this" in shown(fourth) and "the team knows" not in shown(fourth)
    assert not told(slack, team)
    await asyncio.to_thread(bot.worker.answering.team_channel.look, time.time() + 3 * HOUR_S)
    (message,) = await slack.until(lambda: told(slack, team))
    assert "4 people" in shown(message) and "Over:" in shown(message)


@pytest.mark.parametrize(
    ("quiet", "hour", "expected"),
    [
        ("22:00-07:00", 23, True),
        ("22:00-07:00", 6, True),
        ("22:00-07:00", 7, False),
        ("12:00-13:00", 12, True),
        ("", 3, False),
    ],
)
def test_quiet_hours_may_go_over_midnight(quiet: str, hour: int, expected: bool) -> None:
    assert is_quiet(hour * HOUR_S, SlackSettings(incident_quiet=quiet)) is expected


@pytest.mark.xdist_group("postgres")
async def test_two_workers_on_postgresql_send_each_message_once(
    slack: Slack, shared: Settings, start_bot: StartBot, team: Channel
) -> None:
    bots = [
        (await start_http(start_bot, slack, data=shared, incident_channel=team.id, incident_chance=EARLY))[0]
        for _ in range(2)
    ]
    support, mine = slack.channel("support"), slack.channel("other")
    await asyncio.gather(*(ask(slack, support if n % 2 else mine, n) for n in range(8)))
    await slack.until(lambda: told(slack, team) and "8 people" in shown(told(slack, team)[0]))
    await slack.until(lambda: bots[0].inbox.waiting() == 0)
    later = time.time() + 3 * HOUR_S
    await asyncio.gather(*(asyncio.to_thread(bot.worker.answering.team_channel.look, later) for bot in bots))
    await slack.until(lambda: "Over:" in shown(told(slack, team)[0]))
    await slack.until(lambda: bots[0].inbox.waiting() == 0)
    posts = [call for call in slack.called("chat.postMessage") if call.args.get("channel") == team.id]
    assert len(told(slack, team)) == len(posts) == 1
