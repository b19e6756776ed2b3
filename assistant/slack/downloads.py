"""What was pasted or uploaded, as files on disk: streamed, limited, and where a restarted worker finds them again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.attachments import attach
from assistant.slack.settings import DAY_S, SlackSettings
from assistant.slack.types import Incoming
from knowledge.opening import measure_unpacked
from knowledge.types import Attachment

MIB = 1 << 20
CHUNK = 1 << 18
# No whole-file limit: a long log over a slow line is fine as long as bytes come.
PATIENCE = aiohttp.ClientTimeout(total=None, connect=10, sock_read=30)
NOT_NAME = re.compile(r"[^A-Za-z0-9._-]+")
NOT_TEXT = ("image/", "video/", "audio/", "application/pdf", "application/zip")
SIGN_IN = (
    "Slack does not let me read *{name}*: the app lacks `files:read` or is not in the channel "
    "(`maple-chat slack --check` tells)."
)
logger = logging.getLogger("maple-slack")


class NotReadError(Exception):
    """A file cannot be read; str(error) says why, in Markdown, and what to do."""


@dataclass(frozen=True, slots=True)
class Received:
    """What came with a request: texts that can be read, and a line for each that cannot."""

    attachments: tuple[Attachment, ...]
    notes: tuple[str, ...]


class Downloads:
    """Fetches files into a folder of each thread. Names are made from Slack's ids: the same file has one place."""

    def __init__(self, client: AsyncWebClient, settings: SlackSettings, folder: Path) -> None:
        self.client = client
        self.settings = settings
        self.folder = folder

    async def fetch(self, incoming: Incoming, pasted: Sequence[str] = ()) -> Received:
        """Keep the pasted texts and fetch the files. Raises aiohttp.ClientError where the network fails: try again."""
        folder = self.folder / incoming.thread
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = [self._keep(folder / f"{incoming.ts}-{n}.log", text) for n, text in enumerate(pasted)]
        notes: list[str] = []
        for shown in incoming.files[: self.settings.most_files]:
            try:
                kept.append(await self._file(shown, folder))
            except NotReadError as error:
                notes.append(str(error))
        if len(incoming.files) > self.settings.most_files:
            notes.append(f"I read the first {self.settings.most_files} files of {len(incoming.files)}.")
        return Received(tuple(kept), tuple(notes))

    def forget_before(self, days: float) -> None:
        """Delete the files that were kept longer, and the folders that are empty then."""
        oldest = time.time() - days * DAY_S
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
        for folder in self.folder.glob("*"):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _keep(self, path: Path, text: str) -> Attachment:
        path.write_text(text, encoding="utf-8", errors="replace")
        return Attachment("pasted", str(path), text.count("\n") + 1)

    async def _file(self, shown: dict[str, Any], folder: Path) -> Attachment:
        file = await self._whole(shown)
        name = str(file.get("name") or file.get("title") or file["id"])
        limit = self.settings.largest_file_mb * MIB
        if file.get("is_external") or file.get("mode") == "external":
            raise NotReadError(f"*{name}* lies outside Slack, so I cannot read it: upload the file itself.")
        if str(file.get("mimetype", "")).startswith(NOT_TEXT):
            raise NotReadError(f"*{name}* is no text: paste the lines, or upload the log as a file.")
        if int(file.get("size") or 0) > limit:
            raise NotReadError(self._too_large(name, f" ({int(file['size']) / MIB:,.0f} MB)"))
        path = folder / f"{file['id']}-{NOT_NAME.sub('_', name)[-80:]}"
        if not path.exists():
            address = str(file.get("url_private_download") or file.get("url_private") or "")
            if not address:
                raise NotReadError(f"*{name}* is no longer in Slack: upload it again.")
            await self._stream(address, path, name, limit)
            if await asyncio.to_thread(measure_unpacked, path, limit) > limit:
                path.unlink()
                raise NotReadError(self._too_large(name, " unpacked"))
        found = await asyncio.to_thread(attach, path)
        return Attachment(name, found.path, found.lines)

    async def _whole(self, shown: dict[str, Any]) -> dict[str, Any]:
        """The file's description; in shared channels Slack gives it only on request."""
        if shown.get("file_access") != "check_file_info":
            return shown
        try:
            return dict((await self.client.files_info(file=shown["id"]))["file"])
        except SlackApiError as error:
            raise NotReadError(SIGN_IN.format(name=shown["id"])) from error

    async def _stream(self, address: str, path: Path, name: str, limit: int) -> None:
        """Into a file beside it, then in its place at once: half a log is never read."""
        if not self._is_slack(address):
            raise NotReadError(f"*{name}* lies outside Slack, so I cannot read it: upload the file itself.")
        headers = {"Authorization": f"Bearer {self.client.token}"}
        part = path.with_suffix(f"{path.suffix}.part")
        async with (
            aiohttp.ClientSession(timeout=PATIENCE, trust_env=True) as session,
            session.get(address, headers=headers, allow_redirects=False) as answer,
        ):
            if answer.status == 429 or answer.status >= 500:
                raise aiohttp.ClientError(f"Slack answered {answer.status}")
            if answer.status != 200 or (answer.content_type == "text/html" and not name.endswith((".html", ".htm"))):
                logger.warning(
                    "file %s: Slack answered %s, %s", path.name.partition("-")[0], answer.status, answer.content_type
                )
                raise NotReadError(SIGN_IN.format(name=name))
            taken = 0
            with part.open("wb") as kept:
                async for block in answer.content.iter_chunked(CHUNK):
                    taken += len(block)
                    if taken > limit:
                        break
                    kept.write(block)
        if taken > limit:
            part.unlink()
            raise NotReadError(self._too_large(name))
        part.replace(path)

    def _is_slack(self, address: str) -> bool:
        """The token goes to Slack's own hosts only."""
        parts, api = urlsplit(address), urlsplit(self.settings.api)
        host = parts.hostname or ""
        ours = host == api.hostname and parts.scheme == api.scheme
        return ours or (parts.scheme == "https" and (host == "slack.com" or host.endswith(".slack.com")))

    def _too_large(self, name: str, size: str = "") -> str:
        return (
            f"*{name}*{size} is larger than what I read here ({self.settings.largest_file_mb} MB). "
            "Upload its last part, or run `maple-chat why FILE` where it lies: that takes any size."
        )
