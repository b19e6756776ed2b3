"""Files that come with a message: streamed to disk, within stated limits, and never with the token to a stranger."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from assistant.slack.app import Bot
from tests.assistant.slack.conftest import OOM, StartBot
from tests.assistant.slack.standin.limits import shown
from tests.assistant.slack.standin.server import Slack
from tests.assistant.slack.standin.workspace import StoredFile

LOG = OOM.encode()
SCRIPT = (
    b"#!/bin/bash\n#SBATCH -A m1234\n#SBATCH -q regular\n#SBATCH -C gpu\n#SBATCH -N 2\n#SBATCH --gpus-per-node=4\n"
    b"#SBATCH -t 01:00:00\nsrun torchrun --nnodes=2 --nproc-per-node=4 train.py\n"
)


async def answer_to(slack: Slack, text: str, *files: StoredFile) -> str:
    channel = slack.channel("support")
    asked = await slack.mention(channel, text, files=files)
    answers = await slack.until(lambda: slack.replies(channel.id, asked["ts"]))
    return shown(answers[0])


@pytest.mark.parametrize("mode", ["hosted", "snippet"])
async def test_an_uploaded_log_is_read(slack: Slack, bot: Bot, mode: str) -> None:
    assert "`gpu-oom`" in await answer_to(slack, "why?", slack.upload("slurm-1.out", LOG, mode=mode))


async def test_a_file_alone_in_a_direct_message(slack: Slack, bot: Bot) -> None:
    asked = await slack.direct_message("", files=(slack.upload("slurm-1.out", LOG),))
    answers = await slack.until(lambda: slack.replies(slack.direct("U0ALICE01").id, asked["ts"]))
    assert "`gpu-oom`" in shown(answers[0])


async def test_several_files_are_one_job(slack: Slack, bot: Bot) -> None:
    quiet = slack.upload("rank0.log", b"[rank0]: step 41 loss 2.3\n")
    text = await answer_to(slack, "why?", quiet, slack.upload("rank1.log", LOG))
    assert "`gpu-oom`" in text and "rank1.log:" in text


async def test_a_script_as_a_file_is_carried_over(slack: Slack, bot: Bot) -> None:
    text = await answer_to(slack, "move this to Frontier", slack.upload("train.sh", SCRIPT))
    assert "frontier" in text.lower() and "`gpu-oom`" not in text


async def test_a_file_in_a_shared_channel_is_asked_for_by_its_id(slack: Slack, bot: Bot) -> None:
    assert "`gpu-oom`" in await answer_to(slack, "why?", slack.upload("a.out", LOG, check_info=True))


async def test_the_size_limit_is_stated_and_what_to_do(slack: Slack, start_bot: StartBot) -> None:
    await start_bot(largest_file_mb=1)
    big = slack.upload("big.out", b"x" * (2 << 20))
    text = await answer_to(slack, "why?", big)
    assert "big.out" in text and "1 MB" in text and "maple-chat why" in text
    assert not slack.errors()


@pytest.mark.broke("packed size")
async def test_a_packed_log_counts_as_large_as_it_is_unpacked(slack: Slack, start_bot: StartBot) -> None:
    """A few kilobytes of gzip can hold gigabytes: refused before anything reads it, and not kept."""
    bot = await start_bot(largest_file_mb=1)
    bomb = slack.upload("bomb.out.gz", gzip.compress(b"x" * (30 << 20)))
    assert "1 MB" in await answer_to(slack, "why?", bomb)
    assert not [path for path in bot.settings.data.rglob("*bomb*") if path.is_file()]
    assert "`gpu-oom`" in await answer_to(slack, "why?", slack.upload("small.out.gz", gzip.compress(LOG)))


async def test_a_file_that_is_larger_than_it_says_is_not_kept(
    slack: Slack, start_bot: StartBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more of it reaches the disk than the limit."""
    written: list[int] = []
    really = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        written.extend([path.stat().st_size] if path.suffix == ".part" else [])
        really(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink)
    bot = await start_bot(largest_file_mb=1)
    liar = slack.upload("liar.out", b"x" * (3 << 20))
    liar.length = 10
    assert "1 MB" in await answer_to(slack, "why?", liar)
    assert len(written) == 1 and written[0] <= 1 << 20
    assert not [path for path in (bot.settings.data / "slack-files").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"is_external": True}, "outside Slack"),
        ({"mimetype": "image/png"}, "no text"),
        ({"url_private_download": "https://evil.example/steal", "url_private": ""}, "outside Slack"),
    ],
)
async def test_what_cannot_be_read_is_said(slack: Slack, bot: Bot, change: dict[str, Any], says: str) -> None:
    channel = slack.channel("support")
    message = slack.say(channel, "<@U0BOT0001> why?", files=(slack.upload("a.out", LOG),))
    message["files"][0].update(change)
    await slack.tell_app(slack.event(channel, message, type="app_mention"))
    answers = await slack.until(lambda: slack.replies(channel.id, message["ts"]))
    assert says in shown(answers[0])


async def test_a_file_that_slack_has_no_more_is_said(slack: Slack, bot: Bot) -> None:
    channel = slack.channel("support")
    message = slack.say(channel, "<@U0BOT0001> why?")
    message["files"] = [{"id": "F1", "mode": "tombstone"}]
    await slack.tell_app(slack.event(channel, message, type="app_mention"))
    answers = await slack.until(lambda: slack.replies(channel.id, message["ts"]))
    assert "no longer in Slack" in shown(answers[0])


async def test_old_files_go_and_newer_ones_of_the_same_thread_stay(slack: Slack, bot: Bot) -> None:
    await answer_to(slack, "why?", slack.upload("old.out", LOG), slack.upload("new.out", LOG))
    old, new = sorted((bot.settings.data / "slack-files").glob("*/*"), key=lambda path: "new" in path.name)
    os.utime(old, (0, 0))
    bot.door.answering.downloads.forget_before(30)
    assert not old.exists() and new.exists()
    os.utime(new, (0, 0))
    bot.door.answering.downloads.forget_before(30)
    assert not new.parent.exists()


async def test_a_missing_scope_is_named(slack: Slack, bot: Bot) -> None:
    slack.scopes.discard("files:read")
    assert "files:read" in await answer_to(slack, "", slack.upload("a.out", LOG))


async def test_a_download_that_breaks_off_is_taken_up_again(slack: Slack, bot: Bot) -> None:
    slack.fail("download", cut=True)
    assert "`gpu-oom`" in await answer_to(slack, "why?", slack.upload("slurm-1.out", LOG))


@pytest.mark.parametrize("status", [429, 503])
async def test_a_file_server_in_trouble_is_asked_again(slack: Slack, bot: Bot, status: int) -> None:
    """It is no missing scope."""
    slack.fail("download", status=status)
    assert "`gpu-oom`" in await answer_to(slack, "why?", slack.upload("slurm-1.out", LOG))


async def test_more_files_than_are_read(slack: Slack, start_bot: StartBot) -> None:
    await start_bot(most_files=1)
    text = await answer_to(slack, "why?", slack.upload("a.out", LOG), slack.upload("b.out", LOG))
    assert "first 1 files of 2" in text
