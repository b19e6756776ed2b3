"""What goes wrong between Slack and the bot: nothing is lost, nothing is said twice."""

from __future__ import annotations

import asyncio

import pytest

from assistant.settings import Settings
from assistant.slack.app import Bot
from assistant.slack.database import open_store
from assistant.slack.inbox import Inbox
from assistant.slack.sending import BURST
from assistant.slack.types import Incoming, thread_name
from assistant.slack.worker import MOST_TRIES
from assistant.storage.database import open_database
from assistant.turns import Turns
from knowledge.types import Attachment
from tests.assistant.slack.conftest import OOM, StartBot, said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE, escaped, wrapped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Message

ASK = "help me train on Perlmutter"


async def settled(bot: Bot, slack: Slack) -> None:
    """Until nothing is left to do."""
    await slack.until(lambda: bot.inbox.waiting() == 0, 30)


@pytest.mark.broke("out of order")
async def test_a_delivery_that_comes_again_is_answered_once(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    message = slack.say(channel, f"<@U0BOT0001> {ASK}")
    event = slack.event(channel, message, type="app_mention")
    await asyncio.gather(*(slack.tell_app(event) for _ in range(5)))
    await slack.tell_app(wrapped({**event["event"], "type": "message", "channel_type": "channel"}))
    await settled(bot, slack)
    await slack.tell_app(event)
    await settled(bot, slack)
    assert len(slack.replies(channel.id, message["ts"])) == 1


async def test_what_could_not_be_written_down_is_not_acknowledged_and_comes_again(
    slack: Slack, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bot.settings.data / "slack.sqlite"
    blocker = bot.inbox.store._connect("NORMAL")  # type: ignore[attr-defined]
    monkeypatch.setattr("assistant.slack.database.WAIT_S", 0.1)
    for connection in (bot.inbox.store._durable, bot.inbox.store._quick):  # type: ignore[attr-defined]
        connection.execute("PRAGMA busy_timeout = 50")
    blocker.execute("BEGIN IMMEDIATE")
    slack.delivery.socket.answer_within = 0.5
    asking = asyncio.create_task(slack.mention(slack.channel("support"), ASK))
    await asyncio.sleep(0.8)
    assert not asking.done(), path
    blocker.execute("ROLLBACK")
    blocker.close()
    asked = await asking
    assert await said(slack, slack.channel("support").id, asked["ts"])


@pytest.mark.broke("out of order")
async def test_messages_of_a_thread_are_answered_in_order(slack: Slack, bot: Bot) -> None:
    root = await slack.direct_message("train ViT on Perlmutter with DDP, 1 node, 4 GPUs per node")
    channel = slack.direct(ALICE)
    asked = [slack.say(channel, f"make it {n} nodes", thread=root["ts"]) for n in (2, 3, 4, 5)]
    events = [slack.event(channel, message, type="message", channel_type="im") for message in asked]
    await asyncio.gather(*map(slack.tell_app, events))
    await settled(bot, slack)
    told = [shown(m) for m in slack.replies(channel.id, root["ts"]) if m.get("blocks")]
    changed = [text.partition("Changed: ")[2].partition(".")[0] for text in told if "Changed: " in text]
    assert [words.split()[-1] for words in changed] == ["2", "3", "4", "5"]


async def test_a_rate_limit_is_waited_for_as_long_as_slack_says(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", retry_after=2, times=2)
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    assert len(await said(slack, channel.id, asked["ts"])) == 1
    calls = slack.called("chat.postMessage")
    assert [c.answer.get("error") for c in calls] == ["ratelimited", "ratelimited", None]
    assert calls[1].at - calls[0].at >= 2.0 and calls[2].at - calls[1].at >= 2.0


async def test_a_busy_channel_gets_a_burst_and_then_one_a_second(slack: Slack, bot: Bot) -> None:
    slack.post_burst = BURST + 1
    channel = slack.channel("support")
    asked = [await slack.mention(channel, ASK) for _ in range(BURST + 2)]
    for message in asked:
        await said(slack, channel.id, message["ts"])
    times = [call.at for call in slack.called("chat.postMessage")]
    assert times[-1] - times[0] >= 1.0
    assert not any(call.answer.get("error") == "ratelimited" for call in slack.calls)


async def test_a_post_that_broke_off_before_slack_took_it_comes_again(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", cut=True)
    asked = await slack.direct_message(ASK)
    await said(slack, slack.direct(ALICE).id, asked["ts"])
    await settled(bot, slack)
    assert len(slack.replies(slack.direct(ALICE).id, asked["ts"])) == 1


async def test_a_post_that_broke_off_after_slack_took_it_does_not_come_again(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", cut=True, after=True)
    asked = await slack.direct_message(ASK)
    await said(slack, slack.direct(ALICE).id, asked["ts"])
    await settled(bot, slack)
    assert len(slack.replies(slack.direct(ALICE).id, asked["ts"])) == 1


async def test_where_the_bot_may_not_look_it_says_that_it_may_stand_above(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", cut=True, after=True)
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    await settled(bot, slack)
    first, second = await said(slack, channel.id, asked["ts"], 2)
    assert "interrupted" not in shown(first) and "interrupted" in shown(second)


async def test_a_choice_whose_question_cannot_be_changed_any_more_is_answered(slack: Slack, bot: Bot) -> None:
    asked = await slack.direct_message("train with pytorch on Perlmutter")
    channel = slack.direct(ALICE)
    (question,) = await said(slack, channel.id, asked["ts"])
    slack.fail("chat.update", error="edit_window_closed", times=9)
    await slack.press(channel, question, "maple_choice_0")
    answers = await said(slack, channel.id, asked["ts"], 2)
    assert "ddp" in shown(answers[1])


@pytest.mark.parametrize("word", ["file_uploads_disabled", "file_type_not_allowed"])
async def test_where_slack_takes_no_files_a_script_comes_as_text(slack: Slack, bot: Bot, word: str) -> None:
    slack.fail("files.getUploadURLExternal", error=word)
    asked = await slack.direct_message("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
    await settled(bot, slack)
    answers = slack.replies(slack.direct(ALICE).id, asked["ts"])
    assert "#SBATCH --nodes=4" in shown(answers[-1]) and not any(m.get("files") for m in answers)


async def test_a_conversation_that_cannot_be_stored_is_tried_again(slack: Slack, start_bot: StartBot) -> None:
    """Its error is no answer: somebody else holds the thread, or the database is away for a while."""
    bot = await start_bot(wait_s=0.2)
    channel = slack.channel("support")
    message = slack.say(channel, f"<@U0BOT0001> {ASK}")
    database = open_database(bot.settings)
    with database.alone(thread_name("T0MAPLE01", channel.id, message["ts"]), 1):
        await slack.tell_app(slack.event(channel, message, type="app_mention"))
        stored = bot.metrics.retried.labels("the conversation could not be stored")._value
        await slack.until(stored.get)
    await settled(bot, slack)
    (answer,) = slack.replies(channel.id, message["ts"])
    assert "Problem" not in shown(answer) and "perlmutter" in shown(answer).lower()


async def test_a_turn_that_was_begun_is_finished_though_its_request_has_no_words(
    slack: Slack, start_bot: StartBot, settings: Settings
) -> None:
    """A mention alone, under a log; the worker that had begun its turn was killed."""
    channel = slack.channel("support")
    posted = slack.say(channel, escaped(OOM))
    asked = slack.say(channel, "<@U0BOT0001>", thread=posted["ts"])
    incoming = Incoming("key", "message", "T0MAPLE01", channel.id, posted["ts"], asked["ts"], ALICE)
    killed = Inbox(open_store(settings), "killed")
    killed.put(incoming, "mention")
    killed.begin(killed.claim(1)[0], 0)
    (log := settings.data / "pasted.log").write_text(OOM)
    Turns(open_database(settings)).begin(incoming.thread, "", [Attachment("pasted", str(log), 6)])
    bot = await start_bot()
    await settled(bot, slack)
    (answer,) = slack.replies(channel.id, posted["ts"])
    assert "`gpu-oom`" in shown(answer)


async def test_an_upload_that_broke_off_is_made_up_for(slack: Slack, bot: Bot) -> None:
    slack.fail("files.completeUploadExternal", cut=True, after=True)
    asked = await slack.direct_message("Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
    await settled(bot, slack)
    files = [f["name"] for m in slack.replies(slack.direct(ALICE).id, asked["ts"]) for f in m.get("files", [])]
    assert len(files) == 1


async def test_blocks_that_slack_refuses_become_words(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", error="invalid_blocks")
    channel = slack.channel("support")
    asked = await slack.mention(channel, f"why?\n```\n{escaped(OOM)}\n```")
    (answer,) = await said(slack, channel.id, asked["ts"])
    assert "gpu-oom" in answer["text"] and not answer.get("blocks")


async def test_a_server_error_is_tried_again(slack: Slack, bot: Bot) -> None:
    slack.fail("chat.postMessage", status=500, times=1)
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    assert len(await said(slack, channel.id, asked["ts"])) == 1


async def test_what_fails_again_and_again_is_owned_up_to(
    slack: Slack, start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.slack.worker.AGAIN_AFTER_S", (0.01,))
    bot = await start_bot()
    slack.fail("files.getUploadURLExternal", error="internal_error", times=99)
    channel = slack.channel("support")
    asked = await slack.mention(channel, "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
    await settled(bot, slack)
    assert "could not finish" in shown((await said(slack, channel.id, asked["ts"], 2))[-1])


async def test_what_stops_the_program_again_and_again_is_owned_up_to(
    slack: Slack, start_bot: StartBot, settings: Settings
) -> None:
    """A log on which it runs out of memory: nothing is left to say so but the next start."""
    channel = slack.channel("support")
    asked = slack.say(channel, f"<@U0BOT0001> {ASK}")
    killed = Inbox(open_store(settings), "killed")
    killed.put(Incoming("key", "message", "T0MAPLE01", channel.id, asked["ts"], asked["ts"], ALICE, ASK), "mention")
    for _ in range(MOST_TRIES):
        assert killed.claim(1) and killed.free("killed") == 1
    bot = await start_bot()
    await settled(bot, slack)
    (answer,) = slack.replies(channel.id, asked["ts"])
    assert "could not finish" in shown(answer) and "stopped" in shown(answer)


async def test_a_thread_that_is_gone_is_given_up(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    message: Message = {"ts": "1.000001", "text": "<@U0BOT0001> help", "user": ALICE, "team": "T0MAPLE01"}
    await slack.tell_app(slack.event(channel, message, type="app_mention"))
    await settled(bot, slack)
    assert bot.metrics.failed.labels("thread_not_found")._value.get() == 1


@pytest.mark.broke("cut socket")
async def test_a_socket_that_is_cut_in_the_middle_of_a_turn_loses_neither_it_nor_the_next(
    slack: Slack, bot: Bot
) -> None:
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    channel = slack.channel("support")
    first = await slack.mention(channel, ASK)
    await slack.until(lambda: slack.called("chat.postMessage"))
    slack.delivery.socket.cut()
    second = await slack.mention(channel, ASK)
    hold.set()
    await settled(bot, slack)
    assert slack.delivery.socket.connections >= 2
    assert [len(slack.replies(channel.id, asked["ts"])) for asked in (first, second)] == [1, 1]


@pytest.mark.broke("out of order")
async def test_a_message_that_comes_after_a_later_one_is_answered_once(slack: Slack, bot: Bot) -> None:
    root = await slack.direct_message("train ViT on Perlmutter with DDP, 1 node, 4 GPUs per node")
    channel = slack.direct(ALICE)
    asked = [slack.say(channel, f"make it {n} nodes", thread=root["ts"]) for n in (2, 3)]
    for message in reversed(asked):
        await slack.tell_app(slack.event(channel, message, type="message", channel_type="im"))
        await settled(bot, slack)
    told = [shown(m) for m in slack.replies(channel.id, root["ts"]) if m.get("blocks")]
    changed = [text.partition("Changed: ")[2].partition(".")[0] for text in told if "Changed: " in text]
    assert [words.split()[-1] for words in changed] == ["3", "2"]


@pytest.mark.broke("cut socket")
async def test_a_socket_that_is_cut_is_opened_again_and_nothing_is_lost(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    slack.delivery.socket.cut()
    asked = await asyncio.gather(*(slack.mention(channel, ASK) for _ in range(3)))
    for message in asked:
        await said(slack, channel.id, message["ts"])
    await settled(bot, slack)
    assert slack.delivery.socket.connections >= 2 and not slack.delivery.undelivered
    assert all(len(slack.replies(channel.id, message["ts"])) == 1 for message in asked)


@pytest.mark.broke("cut socket")
async def test_slack_renews_the_socket_while_messages_come(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")

    async def ask_all() -> list[Message]:
        return [await slack.mention(channel, ASK) for _ in range(4)]

    asked, _ = await asyncio.gather(ask_all(), slack.delivery.socket.refresh())
    await settled(bot, slack)
    assert all(len(slack.replies(channel.id, message["ts"])) == 1 for message in asked)
    assert await slack.until(bot.well)


async def test_shutting_down_finishes_what_is_in_the_works(slack: Slack, start_bot: StartBot) -> None:
    bot = await start_bot()
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    channel = slack.channel("support")
    asked = await slack.mention(channel, ASK)
    await slack.until(lambda: slack.called("chat.postMessage"))
    stopping = asyncio.create_task(bot.stop())
    await asyncio.sleep(0.2)
    assert not stopping.done()
    hold.set()
    await stopping
    assert len(slack.replies(channel.id, asked["ts"])) == 1
    with bot.inbox.store.transaction() as talk:
        assert talk.execute("SELECT state FROM slack_inbox").fetchall() == [("done",)]


async def test_what_is_not_done_in_time_is_left_to_the_next_one(slack: Slack, start_bot: StartBot) -> None:
    first = await start_bot(drain_s=0.1)
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    asked = await slack.direct_message(ASK)
    await slack.until(lambda: slack.called("chat.postMessage"))
    await first.stop()
    hold.set()
    second = await start_bot()
    await settled(second, slack)
    assert len(slack.replies(slack.direct(ALICE).id, asked["ts"])) == 1


async def test_a_database_that_was_away_does_not_leave_a_request_behind(slack: Slack, start_bot: StartBot) -> None:
    """Neither the answer nor the failure can be written down; when the database is back, it goes on."""
    bot = await start_bot()
    hold = asyncio.Event()
    slack.fail("chat.postMessage", hold=hold)
    asked = await slack.direct_message(ASK)
    await slack.until(lambda: slack.called("chat.postMessage"))
    blocker = bot.inbox.store._connect("NORMAL")  # type: ignore[attr-defined]
    for connection in (bot.inbox.store._durable, bot.inbox.store._quick):  # type: ignore[attr-defined]
        connection.execute("PRAGMA busy_timeout = 20")
    blocker.execute("BEGIN IMMEDIATE")
    hold.set()
    await slack.until(lambda: bot.worker._left)
    blocker.execute("ROLLBACK")
    blocker.close()
    await settled(bot, slack)
    assert len(slack.replies(slack.direct(ALICE).id, asked["ts"])) == 1
