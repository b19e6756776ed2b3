"""Each way in, driven through Slack's SDK and Bolt against the stand-in."""

from __future__ import annotations

from datetime import UTC, datetime

from assistant.slack.app import Bot
from tests.assistant.slack.conftest import OOM, StartBot, said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ADMIN, ALICE, BOB, escaped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.web_api import file_object
from tests.assistant.slack.standin.workspace import BOT_ID, Message

HISTORY = {"channels:history", "groups:history"}


async def first_answer(slack: Slack, channel: str, thread: str) -> Message:
    return (await said(slack, channel, thread))[0]


async def test_a_mention_with_a_pasted_log_is_answered_in_its_thread(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, f"why did it fail?\n```\n{escaped(OOM)}\n```")
    text = shown(await first_answer(slack, channel.id, asked["ts"]))
    assert "`gpu-oom`" in text
    assert "CUDA out of memory" in text and "What to change" in text
    assert not slack.errors()


async def test_a_log_as_the_text_of_a_mention(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    linked = OOM.replace("nid001234", "<http://nid001234.example|nid001234.example>")
    asked = await slack.mention(channel, escaped(OOM) if linked == OOM else linked)
    assert "`gpu-oom`" in shown(await first_answer(slack, channel.id, asked["ts"]))


async def test_a_direct_message_opens_a_thread_of_its_own(slack: Slack, bot: Bot) -> None:
    asked = await slack.direct_message(escaped(OOM))
    answer = await first_answer(slack, slack.direct(ALICE).id, asked["ts"])
    assert "`gpu-oom`" in shown(answer)
    assert slack.statuses, "a private thread shows at once that somebody reads"


async def test_the_assistant_view_offers_prompts_and_goes_on_in_its_thread(slack: Slack, bot: Bot) -> None:
    root = await slack.open_assistant()
    await slack.until(lambda: slack.prompts)
    assert 1 <= len(slack.prompts[0]["prompts"]) <= 4
    assert slack.prompts[0]["thread_ts"] == root["ts"]
    await slack.direct_message("help me train on Perlmutter", thread=root["ts"])
    await slack.until(lambda: len(slack.replies(slack.direct(ALICE).id, root["ts"])) == 1)
    await slack.direct_message("pytorch", thread=root["ts"])
    answers = await said(slack, slack.direct(ALICE).id, root["ts"], 2)
    assert "perlmutter · pytorch" in shown(answers[-1])


async def test_the_newer_agent_view_gets_its_prompts_without_a_thread(slack: Slack, bot: Bot) -> None:
    slack.view_kind = "agent_view"
    await slack.open_agent()
    assert await slack.until(lambda: slack.prompts)


async def test_the_shortcut_answers_under_the_message(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    posted = slack.say(channel, escaped(OOM))
    await slack.shortcut(channel, posted, user=BOB)
    assert "`gpu-oom`" in shown(await first_answer(slack, channel.id, posted["ts"]))


async def test_what_another_app_posted_and_what_a_person_forwards_is_read(slack: Slack, bot: Bot) -> None:
    """The words are in the message's attachments; the preview of a link is none of them."""
    channel = slack.channel("support")
    preview = {"from_url": "https://example.org/nccl", "text": "NCCL timeout explained"}
    posted = slack.add(channel, bot_id="B0CI", text="Job 4711 failed", attachments=[preview, {"text": escaped(OOM)}])
    await slack.shortcut(channel, posted, user=BOB)
    assert "`gpu-oom`" in shown(await first_answer(slack, channel.id, posted["ts"]))

    forwarded = slack.say(slack.direct(ALICE), "why did it fail?")
    share = {"from_url": "https://standin.slack.com/archives/C1/p1", "is_share": True}
    forwarded["attachments"] = [
        {**share, "files": [file_object(slack.upload("slurm-1.out", OOM.encode()), slack.base)]}
    ]
    await slack.tell_app(slack.event(slack.direct(ALICE), forwarded, type="message", channel_type="im"))
    assert "`gpu-oom`" in shown(await first_answer(slack, slack.direct(ALICE).id, forwarded["ts"]))


async def test_the_shortcut_where_the_bot_is_not_in_the_channel_says_so_to_the_person(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("elsewhere", bot=False)
    posted = slack.say(channel, escaped(OOM))
    await slack.shortcut(channel, posted)
    words = await slack.until(lambda: slack.responses)
    assert "/invite" in words[0]["text"] and words[0]["response_type"] == "ephemeral"


async def test_the_command_asks_in_the_channel_and_is_answered_in_a_thread(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support", members=(ALICE,))
    await slack.command(channel, "train ViT with FSDP on Perlmutter & <!channel>")
    question = await slack.until(lambda: next((m for m in channel.messages if m.get("bot_id") == BOT_ID), None))
    assert question["_notifies"] == [f"@{ALICE}"], "the asker is named, nobody else is called"
    answer = await first_answer(slack, channel.id, question["ts"])
    assert "nodes" in shown(answer).lower()


async def test_help_and_a_channel_without_the_bot(slack: Slack, bot: Bot) -> None:
    assert "never submit" in str(await slack.command(slack.channel("support"), "help"))
    assert "/invite" in str(await slack.command(slack.channel("other", bot=False), "why?"))


async def test_only_admins_see_counts_and_nobody_sees_texts(slack: Slack, start_bot: StartBot) -> None:
    bot = await start_bot(admins=(ADMIN,))
    channel = slack.channel("support")
    asked = await slack.mention(channel, "the secret project Zebra: train ViT on Perlmutter")
    await first_answer(slack, channel.id, asked["ts"])
    assert "only" in str(await slack.command(channel, "stats", user=ALICE)).lower()
    counts = str(await slack.command(channel, "stats", user=ADMIN))
    assert "mention: 1" in counts and "Zebra" not in counts
    with bot.inbox.store.transaction() as talk:
        rows = [("old", "2020-01-01", "helpful"), ("new", f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "wrong")]
        for key, at, verdict in rows:
            talk.execute("INSERT INTO slack_feedback VALUES (?, 'who', ?, ?, '{}')", (key, at, verdict))
    counts = str(await slack.command(channel, "stats", user=ADMIN))
    assert "Last 30 days" in counts and "wrong: 1" in counts and "helpful" not in counts


async def test_a_mention_alone_says_what_to_send(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, "")
    assert "paste the log" in shown(await first_answer(slack, channel.id, asked["ts"]))


async def test_a_mention_under_a_post_means_that_post(slack: Slack, bot: Bot) -> None:
    slack.scopes |= HISTORY
    channel = slack.channel("support")
    posted = slack.say(channel, escaped(OOM), user=BOB)
    await slack.mention(channel, "why?", thread=posted["ts"])
    assert "`gpu-oom`" in shown(await first_answer(slack, channel.id, posted["ts"]))


async def test_one_line_of_a_post_counts_as_well(slack: Slack, bot: Bot) -> None:
    slack.scopes |= HISTORY
    channel = slack.channel("support")
    posted = slack.say(channel, "my job died with torch.OutOfMemoryError: CUDA out of memory", user=BOB)
    await slack.mention(channel, "why?", thread=posted["ts"])
    assert "`gpu-oom`" in shown(await first_answer(slack, channel.id, posted["ts"]))


async def test_without_the_history_scope_a_mention_under_a_post_is_still_answered(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    posted = slack.say(channel, escaped(OOM), user=BOB)
    await slack.mention(channel, "", thread=posted["ts"])
    assert "menu" in shown(await first_answer(slack, channel.id, posted["ts"]))


async def test_a_follow_up_without_mention_counts_from_the_asker_only(slack: Slack, bot: Bot) -> None:
    slack.scopes |= HISTORY
    channel = slack.channel("support")
    asked = await slack.mention(channel, "train with pytorch on Perlmutter")
    await slack.until(lambda: len(slack.replies(channel.id, asked["ts"])) == 1)
    await slack.channel_message(channel, "I had that last week", user=BOB, thread=asked["ts"])
    await slack.channel_message(channel, "<@U0CAROL01> look at this", thread=asked["ts"])
    await slack.channel_message(channel, "fsdp", thread=asked["ts"])
    answers = await said(slack, channel.id, asked["ts"], 2)
    assert "fsdp" in shown(answers[1])
    assert bot.inbox.counts() == {"threads": 1, "mention": 1, "follow-up": 1}


async def test_a_script_is_handed_over_as_a_file_and_never_submitted(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node")
    answers = await said(slack, channel.id, asked["ts"], 2)
    assert "Submit it yourself: `sbatch" in shown(answers[0])
    (file,) = answers[1]["files"]
    content = slack.files[file["id"]].content or b""
    assert file["name"].endswith(".sh") and b"#SBATCH --nodes=4" in content
    await slack.mention(channel, "make it 8 nodes", thread=asked["ts"])
    _, _, _, uploaded = await said(slack, channel.id, asked["ts"], 4)
    names = [file["name"] for file in uploaded["files"]]
    assert len(names) == 2 and names[1].endswith(".diff"), "all files of an answer come in one message"


async def test_what_nobody_wrote_to_the_bot_is_left_alone(slack: Slack, bot: Bot) -> None:
    channel = slack.direct(ALICE)
    changed = slack.say(channel, "hello")
    await slack.tell_app(slack.event(channel, changed, type="message", channel_type="im", subtype="message_changed"))
    await slack.tell_app(slack.event(channel, changed, type="message", channel_type="im", bot_id="B0OTHER01"))
    await slack.direct_message("help me train on Perlmutter")
    await slack.until(lambda: slack.called("chat.postMessage"))
    assert bot.inbox.counts() == {"threads": 1, "direct": 1}
