"""Questions about a job in Slack: the bot asks no scheduler, names the command to run, and cancels nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.slack.app import Bot
from tests.assistant.slack.conftest import said
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.people import escaped
from tests.assistant.slack.standin.server import Slack

SQUEUE = """\
JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)
4408312 gpu ddp alice PD 0:00 2 (JobHeldUser)
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands of a scheduler on the bot's own path; each writes down that it was asked."""
    log = tmp_path / "asked"
    for name in ("squeue", "scontrol", "sacct", "scancel"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho $0 >> {log}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return log


async def test_the_command_is_named_and_nobody_is_asked(asked: Path, slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    first = await slack.mention(channel, "is 12345 still running well?")
    assert "`maple-chat watch 12345`" in shown((await said(slack, channel.id, first["ts"]))[0])
    answers = 1
    for words, wanted in (("cancel that line", ""), ("cancel it", "`scancel 12345`; what it has written stays")):
        await slack.mention(channel, words, thread=first["ts"])
        answers += 1
        told = shown((await said(slack, channel.id, first["ts"], answers))[-1])
        assert ("I cancel nothing myself" in told) == bool(wanted) and wanted in told
    assert not asked.exists()


async def test_what_squeue_printed_is_explained(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    first = await slack.mention(channel, f"why is my job pending?\n```\n{escaped(SQUEUE)}```")
    told = shown((await said(slack, channel.id, first["ts"]))[0])
    assert "does not start until it is released" in told and "scontrol release 4408312" in told
    again = await slack.mention(channel, "why is my job pending?")
    assert "squeue" in shown((await said(slack, channel.id, again["ts"]))[0])
