"""What a person sees while a turn runs: a status, streamed words, updates where there are no streams."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from langgraph.runtime import get_runtime

import graph.usecases.write_script
from assistant.slack.app import Bot
from assistant.slack.live import MOST_STREAMED
from graph.context import Context
from knowledge.types import LaunchBundle, LaunchPlan, Working, Writing
from tests.assistant.slack.conftest import said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE, BOB
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Message

WHOLE = "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node"
HOSTILE = "see <!channel> and <@U0BOB0001>, it says "
STREAMS = ["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"]
render = graph.usecases.write_script.render
Tell = Callable[..., threading.Event]


@pytest.fixture
def tells(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tell]:
    """The node that writes the script tells these parts, and then waits for the event that is given back."""
    gate = threading.Event()

    def given(*parts: Working | Writing) -> threading.Event:
        def slow(plan: LaunchPlan) -> LaunchBundle:
            tell = get_runtime(Context).context.tell
            for part in parts:
                tell(part)
            assert gate.wait(30)
            return render(plan)

        monkeypatch.setattr("graph.usecases.write_script.render", slow)
        return gate

    yield given
    gate.set()


def words(count: int) -> list[Writing]:
    return [Writing(f"{HOSTILE}word{n} ") for n in range(count)]


async def streamed(slack: Slack, bot: Bot, gate: threading.Event, method: str, times: int = 1) -> Message:
    """Ask, wait until a method was called so often, let the turn end: the message in which its answer stands."""
    channel = slack.channel("support")
    asked = await slack.mention(channel, WHOLE)
    await slack.until(lambda: len(slack.called(method)) >= times)
    first = slack.replies(channel.id, asked["ts"])
    gate.set()
    await slack.until(lambda: bot.inbox.waiting() == 0, 30)
    answer, file = slack.replies(channel.id, asked["ts"])
    assert not first or first == [answer], "the answer takes the place of what was shown"
    assert file["files"] and "Submit it yourself" in shown(answer) and "word0" not in shown(answer)
    assert not answer.get("_streaming")
    return answer


async def test_words_are_streamed_and_the_answer_takes_their_place(slack: Slack, bot: Bot, tells: Tell) -> None:
    answer = await streamed(slack, bot, tells(*words(30)), "chat.appendStream", 3)
    called = [call.method for call in slack.calls if call.method in STREAMS]
    assert called[0] == "chat.startStream" and called[-2:] == ["chat.stopStream", "chat.update"]
    start = slack.called("chat.startStream")[0].args
    assert (start["recipient_user_id"], start["recipient_team_id"]) == (ALICE, "T0MAPLE01")
    text = "".join(chunk["text"] for call in slack.calls for chunk in call.args.get("chunks") or [])
    assert text.replace("\u200b", "") == "".join(part.text for part in words(30)), "all the words, once, in order"
    assert answer["_notifies"] == [] and f"@{BOB}" not in text.replace(f"<\u200b@{BOB}", "")
    assert not slack.errors()


async def test_a_few_words_that_were_never_shown_leave_nothing_behind(slack: Slack, bot: Bot, tells: Tell) -> None:
    gate = tells(Writing("short"))
    gate.set()
    await streamed(slack, bot, gate, "chat.postMessage")
    assert not any(slack.called(method) for method in STREAMS)


async def test_without_streams_words_come_as_updates(
    slack: Slack, bot: Bot, tells: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.slack.live.UPDATE_EVERY_S", 0.0)
    slack.streaming_allowed = False
    answer = await streamed(slack, bot, tells(*words(20)), "chat.update", 3)
    assert slack.errors() == {"chat.startStream: feature_not_enabled": 1}
    shows = [call for call in slack.calls if call.args.get("text") == "…"]
    assert "word0" in str(shows[0].args["blocks"]) and "word19" in str(shows[-1].args["blocks"])
    assert "<!channel>" not in str([call.args for call in shows]) and answer["_notifies"] == []


async def test_a_stream_that_breaks_off_goes_on_and_ends_in_the_answer(slack: Slack, bot: Bot, tells: Tell) -> None:
    slack.fail("chat.appendStream", error="internal_error", times=9)
    await streamed(slack, bot, tells(*words(30)), "chat.appendStream")


async def test_what_was_shown_and_cannot_be_replaced_does_not_cost_the_answer(
    slack: Slack, bot: Bot, tells: Tell
) -> None:
    gate = tells(*words(30))
    asked = await slack.direct_message(WHOLE)
    await slack.until(lambda: slack.called("chat.appendStream"))
    slack.fail("chat.update", error="message_not_found", times=9)
    gate.set()
    await slack.until(lambda: bot.inbox.waiting() == 0, 30)
    _, answer, file = slack.replies(slack.direct(ALICE).id, asked["ts"])
    assert "Submit it yourself" in shown(answer) and file["files"]


async def test_no_more_is_streamed_than_slack_takes(slack: Slack, bot: Bot, tells: Tell) -> None:
    await streamed(slack, bot, tells(Writing("w" * 9_000), Writing("x" * 9_000)), "chat.startStream")
    sent = sum(len(chunk["text"]) for call in slack.calls for chunk in call.args.get("chunks") or [])
    assert sent <= MOST_STREAMED


async def test_a_status_tells_how_far_it_is(slack: Slack, bot: Bot, tells: Tell) -> None:
    gate = tells(Working("reading rank7.log", 1, 4))
    asked = await slack.direct_message(WHOLE)
    await slack.until(lambda: len(slack.statuses) == 2)
    assert [s["status"] for s in slack.statuses] == ["is reading …", "is working: reading rank7.log, 25 %"]
    assert slack.statuses[0]["thread_ts"] == asked["ts"]
    gate.set()
    await said(slack, slack.direct(ALICE).id, asked["ts"])


async def test_a_status_on_its_way_does_not_come_behind_the_answer(slack: Slack, bot: Bot) -> None:
    hold = asyncio.Event()
    slack.fail("assistant.threads.setStatus", hold=hold)
    asked = await slack.direct_message("help me train on Perlmutter")
    await slack.until(lambda: slack.statuses)
    await asyncio.sleep(0.5)
    assert not slack.called("chat.postMessage")
    hold.set()
    await said(slack, slack.direct(ALICE).id, asked["ts"])


async def test_a_status_that_slack_refuses_does_no_harm(slack: Slack, bot: Bot) -> None:
    slack.fail("assistant.threads.setStatus", error="internal_error", times=9)
    asked = await slack.direct_message("help me train on Perlmutter")
    assert await said(slack, slack.direct(ALICE).id, asked["ts"])
