"""Each button, and what becomes of feedback."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.slack.app import Bot
from assistant.slack.feedback import LabelledCase, as_line, case_of
from tests.assistant.slack.conftest import OOM, StartBot
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import ALICE, BOB, escaped
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import Channel, Message

GROUP = "S0SUPPORT"


async def diagnosed(slack: Slack, channel: Channel) -> Message:
    """An answered question about a log."""
    log = f"password=hunter2hunter2 HOME=/home/alice\n{OOM}"
    asked = await slack.mention(channel, f"why did it fail?\n```\n{escaped(log)}\n```")
    answers = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    return answers[0]


async def replied(slack: Slack, channel: Channel, after: Message, count: int = 1) -> list[Message]:
    def newer() -> list[Message]:
        said = slack.replies(channel.id, after["thread_ts"])
        return said[said.index(after) + 1 :]

    await slack.until(lambda: len(newer()) >= count)
    return newer()


def exported(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    capsys.readouterr()
    main(["feedback", "export", *options])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


async def test_helpful_becomes_a_labelled_case_with_nothing_private_in_it(
    slack: Slack, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_feedback", value="helpful")
    (case,) = exported(capsys)
    assert case["verdict"] == "helpful" and case["cause"] == case["answered"] == "gpu-oom"
    assert "CUDA out of memory" in str(case["log"])
    assert "hunter2" not in str(case) and "/home/alice" not in str(case)
    assert exported(capsys, "--verdict", "wrong") == []


async def test_not_helpful_asks_what_it_was_and_the_last_word_counts(
    slack: Slack, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_feedback", value="helpful")
    await slack.press(channel, answer, "maple_feedback", value="wrong")
    (view,) = await slack.until(lambda: slack.views)
    values = {
        "expected": {"expected": {"selected_option": {"value": "nccl-timeout"}}},
        "comment": {"comment": {"value": "it hung, mail bob@example.org"}},
    }
    await slack.submit(view, values)
    (case,) = exported(capsys)
    assert (case["verdict"], case["expected"], case["cause"]) == ("wrong", "nccl-timeout", "nccl-timeout")
    assert case["answered"] == "gpu-oom"
    assert str(case["comment"]).startswith("it hung") and "bob@example.org" not in str(case)


async def test_what_is_exported_is_what_eval_reads(
    slack: Slack, bot: Bot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_feedback", value="helpful")
    cases = tmp_path / "cases.jsonl"
    assert main(["feedback", "export", "-o", str(cases)]) == 0
    assert main(["eval", str(cases), "--json"]) == 0
    run = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(one["type"], one["right"], one["group"]) for one in run["cases"]] == [("log", True, "gpu-oom")]


def test_a_case_that_nobody_labelled_is_left_for_a_person() -> None:
    wrong = json.loads(
        as_line(LabelledCase("wrong", "2026-11-01T10:00:00Z", cause="gpu-oom", log="x", expected="other"))
    )
    assert (wrong["cause"], wrong["answered"], wrong["type"]) == (None, "gpu-oom", "log")
    asked = json.loads(as_line(LabelledCase("helpful", "2026-11-01T10:00:00Z", question="what is a node?")))
    assert (asked["type"], asked["ask"], asked["cause"]) == ("question", "what is a node?", None)


async def test_the_window_opens_before_the_log_is_gone_through(
    slack: Slack, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack gives it three seconds; masking a long log may take longer."""
    there: list[int] = []

    def slow(*words: Any, **named: Any) -> LabelledCase:
        there.append(len(slack.views))
        return case_of(*words, **named)

    monkeypatch.setattr("assistant.slack.door.case_of", slow)
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_feedback", value="wrong")
    assert there == [1]


async def test_feedback_from_a_direct_message_keeps_no_words(
    slack: Slack, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = await slack.direct_message(escaped(OOM))
    channel = slack.direct(ALICE)
    (answer,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, answer, "maple_feedback", value="helpful")
    (case,) = exported(capsys)
    assert case["cause"] == "gpu-oom" and not case["log"] and not case["question"]


async def test_more_evidence_is_shown_once_however_often_it_is_pressed(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_evidence", user=ALICE)
    await slack.press(channel, answer, "maple_evidence", user=BOB)
    (more,) = await replied(slack, channel, answer)
    assert "evidence" in shown(more)
    assert bot.metrics.repeated._value.get() == 1


async def test_a_choice_is_said_for_the_person_and_its_buttons_go(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, "train with pytorch on Perlmutter")
    (question,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, question, "maple_choice_0")
    (answer,) = await replied(slack, channel, question)
    assert "ddp" in shown(answer)
    assert f"<@{ALICE}> chose *ddp*" in shown(question)
    with pytest.raises(LookupError):
        await slack.press(channel, question, "maple_choice_1")


async def test_many_choices_come_as_a_list(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, "help me run my training")
    (question,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, question, "maple_choice", value="frontier")
    (answer,) = await replied(slack, channel, question)
    assert "frontier" in shown(answer)


async def test_a_way_round_a_refusal_is_chosen_by_its_button(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    asked = await slack.mention(channel, "Train with PyTorch FSDP on Perlmutter, 4 nodes, 4 GPUs per node, 300 hours")
    answers = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, answers[-1], "maple_choice_0")
    assert await replied(slack, channel, answers[-1])


async def test_a_person_is_called_with_all_that_was_tried(slack: Slack, start_bot: StartBot) -> None:
    await start_bot(support_group=GROUP)
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_person")
    (call,) = await replied(slack, channel, answer)
    assert call["_notifies"] == [f"!subteam^{GROUP}", f"@{ALICE}"]
    text = shown(call)
    assert "why did it fail?" in text and "gpu-oom" in text and "CUDA out of memory" in text and "Proposed" in text
    assert "hunter2" not in text and "not set up" not in text


async def test_where_nobody_is_set_to_be_called_that_is_said(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_person")
    (call,) = await replied(slack, channel, answer)
    assert call["_notifies"] == [f"@{ALICE}"] and "not set up to call anybody" in shown(call)


@pytest.mark.parametrize("form", ["md", "json"])
async def test_the_ticket_is_a_file_with_names_masked(slack: Slack, bot: Bot, form: str) -> None:
    channel = slack.channel("support")
    answer = await diagnosed(slack, channel)
    await slack.press(channel, answer, "maple_person")
    (call,) = await replied(slack, channel, answer)
    await slack.press(channel, call, f"maple_ticket_{form}")
    (ticket,) = await replied(slack, channel, call)
    content = (slack.files[ticket["files"][0]["id"]].content or b"").decode()
    assert "gpu-oom" in content and "CUDA out of memory" in content
    assert not re.search("alice|hunter2", content)
    if form == "json":
        assert json.loads(content)["steps"][0]["evidence"]


async def test_a_direct_message_goes_to_the_support_channel_only_after_a_yes(slack: Slack, start_bot: StartBot) -> None:
    support = slack.channel("helpdesk")
    await start_bot(support_group=GROUP, support_channel=support.id)
    asked = await slack.direct_message(f"why?\n```\n{escaped(OOM)}\n```")
    channel = slack.direct(ALICE)
    (answer,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    person = next(e for b in answer["blocks"] if b["type"] == "actions" for e in b["elements"] if "confirm" in e)
    assert "others read it" in person["confirm"]["text"]["text"]
    assert not support.messages
    await slack.press(channel, answer, "maple_person")
    await replied(slack, channel, answer)
    (call,) = support.messages
    assert f"!subteam^{GROUP}" in call["_notifies"] and "/home/alice" not in shown(call)


async def test_a_support_channel_without_the_bot_is_owned_up_to(slack: Slack, start_bot: StartBot) -> None:
    await start_bot(support_group=GROUP, support_channel=slack.channel("helpdesk", bot=False).id)
    asked = await slack.direct_message(escaped(OOM))
    channel = slack.direct(ALICE)
    (answer,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, answer, "maple_person")
    (words,) = await slack.until(lambda: slack.responses)
    assert "Nobody was told" in words["text"] and len(slack.replies(channel.id, asked["ts"])) == 1


async def test_a_direct_message_stays_where_it_is_without_a_support_channel(slack: Slack, start_bot: StartBot) -> None:
    await start_bot(support_group=GROUP)
    asked = await slack.direct_message(escaped(OOM))
    channel = slack.direct(ALICE)
    (answer,) = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    await slack.press(channel, answer, "maple_person")
    (alone,) = await replied(slack, channel, answer)
    assert "only you see it" in shown(alone) and not alone["_notifies"]
