"""The digest of a report: by `/maple report` for admins, by `report --slack` for a timer; as pictures or as letters."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.settings import Settings
from assistant.slack.app import Bot
from assistant.slack.digest import Digest, make_digest, post_digest
from graph.reporting.report import make_report
from knowledge.job_record import JobRecord
from tests.assistant.slack.conftest import StartBot
from tests.assistant.slack.standin.people import ALICE
from tests.assistant.slack.standin.server import Slack

ADMIN = "U0ADMIN01"
PNG = b"\x89PNG\r\n\x1a\n"


def records() -> list[JobRecord]:
    """Two weeks: some out of memory, one user's code, most well; a line that would ping a channel."""
    made = []
    for n in range(200):
        cause = "gpu-oom" if n % 9 == 0 else "user-code" if n % 20 == 0 else "no-failure"
        at = 1_795_000_000.0 + n * 6000
        made.append(
            JobRecord(str(n), cause, line="<!channel> & co", user=f"u{n % 7}", gpus=8, started=at, ended=at + 3600)
        )
    return made


def write_logs(folder: Path) -> Path:
    logs = folder / "logs"
    logs.mkdir()
    (logs / "slurm-7001.out").write_text("ModuleNotFoundError: No module named 'flash'\n")
    (logs / "slurm-7002.out").write_text("Training complete.\n")
    return logs


def test_the_first_screen_as_blocks_with_two_pictures() -> None:
    digest = make_digest(make_report(records()))
    kinds = [block["type"] for block in digest.blocks]
    assert kinds == ["header", "context", "section", "section"]
    assert "*200* jobs" in str(digest.blocks) and "gpu-oom" in str(digest.blocks)
    assert all(len(block.get("text", {}).get("text", "")) <= 3000 for block in digest.blocks)
    assert [data[:8] for _, data in digest.pictures] == [PNG, PNG]
    assert "gpu-oom" in digest.bars and "█" in digest.bars


async def test_an_admin_asks_for_the_last_report(
    slack: Slack, start_bot: StartBot, settings: Settings, tmp_path: Path
) -> None:
    await start_bot(admins=(ADMIN,))
    channel = slack.channel("support")
    assert "There is no report yet" in str(await slack.command(channel, "report", user=ADMIN))
    logs = write_logs(tmp_path)
    assert await asyncio.to_thread(main, ["report", str(logs), "-o", str(tmp_path / "p.html")]) == 0
    assert "Only this bot's admins" in str(await slack.command(channel, "report", user=ALICE))
    assert channel.messages == []
    await slack.command(channel, "report", user=ADMIN)
    await slack.until(lambda: len(channel.messages) >= 2)
    blocks, pictures = channel.messages
    assert "*2* jobs" in str(blocks["blocks"]) and "env-python-package" in str(blocks["blocks"])
    assert [file["mimetype"].split("/")[-1] == "png" or file["name"].endswith(".png") for file in pictures["files"]]


async def test_a_timer_posts_it(slack: Slack, settings: Settings, tokens: None, tmp_path: Path, capsys: Any) -> None:
    channel = slack.channel("support")
    command = ["report", str(write_logs(tmp_path)), "-o", str(tmp_path / "p.html"), "--slack"]
    assert await asyncio.to_thread(main, [*command, channel.id]) == 0
    assert len(channel.messages) == 2 and "env-python-package" in str(channel.messages[0])
    assert await asyncio.to_thread(main, [*command, "C0NOTHERE"]) == 2
    assert "the report is written, its digest is not posted: Slack refused" in capsys.readouterr().err


async def test_bars_of_letters_where_no_picture_can_be_shown(
    slack: Slack, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_pillow(_: object) -> bytes:
        raise ImportError("No module named 'PIL'")

    monkeypatch.setattr("assistant.slack.digest.as_png", no_pillow)
    digest: Digest = make_digest(make_report(records()))
    assert digest.pictures == ()
    channel = slack.channel("support")
    await post_digest(bot.client, channel.id, digest)
    assert "█" in channel.messages[1]["text"]
