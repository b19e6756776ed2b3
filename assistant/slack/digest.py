"""The report's first screen in Slack: its numbers and what stands out as blocks, and two of its figures as pictures.

`maple-chat report` keeps the digest of its last run in the data folder; `/maple report` shows that one, and
`maple-chat report --slack CHANNEL` posts it when it is made, for a site's timer.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.printing.figures import Drawing, as_png, number, shown
from assistant.printing.report_page import drawings, numbers, span_of
from assistant.slack.blocks import context, section
from assistant.slack.sending import NO_FILES
from assistant.slack.text import escape, shortened
from graph.debugging.log import printable
from graph.reporting.report import FailureReport

NAME = "report-digest.json"
TITLE = "Failed jobs"
# Of the drawings of a page, those that tell a week at a glance.
PICTURES = ("Failed jobs by day and cause", "GPU hours lost, by cause")
LONGEST = 400
BARS, WIDE = 8, 20
logger = logging.getLogger("maple-slack")


@dataclass(frozen=True, slots=True)
class Digest:
    """What is posted. pictures: name and PNG; bars: the same figures in letters, where no picture can be shown."""

    text: str
    blocks: tuple[dict[str, Any], ...]
    pictures: tuple[tuple[str, bytes], ...]
    bars: str


def make_digest(report: FailureReport) -> Digest:
    """The digest of a report. Without Pillow (extra `report`) it has no pictures."""
    wanted = [one for one in drawings(report) if one.title in PICTURES]
    told = [f"*{value}* {escape(what)}" for value, what in numbers(report)]
    found = "\n".join(f"• {escape(shortened(printable(says), LONGEST))}" for says, _ in report.findings)
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": TITLE}},
        context(span_of(report)),
        section("  ·  ".join(told)),
    ]
    if found:
        blocks.append(section(found))
    try:
        pictures = tuple((one.title, as_png(one)) for one in wanted)
    except ImportError:
        pictures = ()
    share = ", ".join(f"{value} {what}" for value, what in numbers(report)[:3])
    bars = "\n\n".join(in_letters(one) for one in wanted if one.title != PICTURES[0] or len(wanted) == 1)
    return Digest(f"{TITLE}: {share}", tuple(blocks), pictures, bars)


def in_letters(drawing: Drawing) -> str:
    """The longest bars of a drawing, a line each."""
    boxes = [box for box in drawing.boxes if box.rows][:BARS]
    most = max((number(box.value) for box in boxes), default=0) or 1
    lines = [
        f"{box.says.rpartition(':')[0]:<26} {'█' * max(1, round(WIDE * number(box.value) / most)):<{WIDE}} "
        f"{shown(box.value)}"
        for box in boxes
    ]
    return "\n".join([drawing.title, *lines])


def keep_digest(digest: Digest, folder: Path) -> None:
    """Kept for `/maple report`; the next report takes its place. Raises OSError."""
    pictures = [[name, base64.b64encode(data).decode("ascii")] for name, data in digest.pictures]
    value = {"text": digest.text, "blocks": digest.blocks, "pictures": pictures, "bars": digest.bars}
    partial = folder / f"{NAME}.new"
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(value))
    partial.replace(folder / NAME)


def kept_digest(folder: Path) -> Digest | None:
    """The last report's; None where there is none that can be read."""
    try:
        value = json.loads((folder / NAME).read_text())
        pictures = tuple((name, base64.b64decode(data)) for name, data in value["pictures"])
        return Digest(value["text"], tuple(value["blocks"]), pictures, value["bars"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


async def post_digest(client: AsyncWebClient, channel: str, digest: Digest) -> None:
    """The blocks in one message, the pictures in one after it; bars of letters where Slack takes no files here.

    Raises SlackApiError, SlackClientError and what the network raises.
    """
    answer = await client.chat_postMessage(channel=channel, text=digest.text, blocks=digest.blocks)
    uploads = [
        {"filename": f"{re.sub(r'[^a-z]+', '-', name.lower())}.png", "title": name, "content": data}
        for name, data in digest.pictures
    ]
    try:
        if uploads:
            await client.files_upload_v2(file_uploads=uploads, channel=str(answer["channel"]))
            return
    except SlackApiError as error:
        if error.response.get("error") not in NO_FILES:
            raise
        logger.warning("Slack takes no pictures here: %s", error.response.get("error"))
    await client.chat_postMessage(channel=channel, text=f"```{escape(digest.bars)}```")


def post_from_here(api: str, token: str, channel: str, digest: Digest) -> str:
    """Post it from the command line; why it could not be posted, or an empty text."""
    client = AsyncWebClient(token=token, base_url=api, timeout=60)
    try:
        asyncio.run(post_digest(client, channel, digest))
    except SlackApiError as error:
        return f"Slack refused: {error.response.get('error')}"
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        return f"{api} does not answer ({type(error).__name__})"
    return ""
