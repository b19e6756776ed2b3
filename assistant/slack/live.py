"""What a person sees while a turn runs: a status at first, and the words of a model as they come.

Words are streamed (chat.startStream) where Slack allows it, and shown in a message that is updated where it does not.
The message is written down, and the finished answer takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_chat_stream import AsyncChatStream
from slack_sdk.web.async_client import AsyncWebClient

from assistant.events import Passing, Progress, Streaming
from assistant.slack.blocks import section
from assistant.slack.text import sections, shortened
from assistant.slack.types import Incoming

STATUS_AFTER_S, STATUS_EVERY_S, UPDATE_EVERY_S, MOST_WAIT_S = 0.7, 2.0, 1.5, 3.0
# chat.startStream takes 12,000 characters in all; what is longer is seen when the answer is whole.
MOST_STREAMED, SHOWN = 11_000, 2_900
TROUBLE = (SlackClientError, OSError, TimeoutError)
logger = logging.getLogger("maple-slack")


@dataclass(eq=False)
class Live:
    """The passing picture of one turn. Whatever goes wrong with it, the answer comes all the same."""

    client: AsyncWebClient
    incoming: Incoming
    shows: Callable[[str], Awaitable[None]]
    ts: str = ""
    words: str = ""
    _stream: AsyncChatStream | None = None
    _broken: bool = False
    _last: float = 0.0
    _status: asyncio.Task[None] | None = None
    _calling: bool = False

    def __post_init__(self) -> None:
        self._plain = bool(self.ts)

    async def __aenter__(self) -> Live:
        wait = 0.0 if self.incoming.private else STATUS_AFTER_S
        self._status = asyncio.create_task(self._think(wait))
        return self

    async def __aexit__(self, *failure: object) -> None:
        if self._status is not None:
            if not self._calling:
                self._status.cancel()
            # A status that is on its way is waited for: behind the answer it would stand until Slack drops it.
            await asyncio.wait((self._status,), timeout=MOST_WAIT_S)
            self._status.cancel()
        if self._stream is not None and self._stream.ts:
            await self._try(self._stream.stop())

    async def show(self, event: Passing) -> None:
        match event:
            case Progress():
                await self._progress(event)
            case Streaming(text):
                self.words += text
                await self._write(text)

    async def _think(self, wait: float) -> None:
        """The first status, where the turn takes longer than a moment. Slack takes it away with the first message."""
        await asyncio.sleep(wait)
        self._calling = True
        await self._set_status("is reading …")

    async def _progress(self, event: Progress) -> None:
        if time.monotonic() - self._last < STATUS_EVERY_S:
            return
        self._last = time.monotonic()
        share = f", {event.done * 100 // event.total} %" if event.total else ""
        await self._set_status(shortened(f"is working: {event.what}{share}", 100))

    async def _set_status(self, status: str) -> None:
        channel, thread = self.incoming.channel, self.incoming.thread_ts
        await self._try(self.client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status=status))

    async def _write(self, text: str) -> None:
        if self._broken or len(self.words) > MOST_STREAMED:
            return
        if self._plain:
            await self._update()
        elif not await self._streamed(text):
            self._plain = True
            await self._update()

    async def _streamed(self, text: str) -> bool:
        """Add words to the stream, begun at its first words; False: Slack has no streams here."""
        if self._stream is None:
            self._stream = await self.client.chat_stream(
                channel=self.incoming.channel,
                thread_ts=self.incoming.thread_ts,
                recipient_team_id=self.incoming.team,
                recipient_user_id=self.incoming.user,
            )
        try:
            await self._stream.append(markdown_text=dead(text))
        except TROUBLE as error:
            logger.info("no stream here (%s); updates instead", error)
            self._stream = None
            return False
        await self._note(self._stream.ts or "")
        return True

    async def _update(self) -> None:
        """The words so far in a plain message: all that fit, the newest last."""
        if self.ts and time.monotonic() - self._last < UPDATE_EVERY_S:
            return
        self._last = time.monotonic()
        text = sections(f"{self.words} …", SHOWN)[-1]
        shown: dict[str, Any] = {"channel": self.incoming.channel, "text": "…", "blocks": [section(text)]}
        if self.ts:
            await self._try(self.client.chat_update(**shown, ts=self.ts))
            return
        answer = await self._try(self.client.chat_postMessage(**shown, thread_ts=self.incoming.thread_ts))
        self._broken = answer is None
        if answer is not None:
            await self._note(str(answer["ts"]))

    async def _note(self, ts: str) -> None:
        if ts and ts != self.ts:
            self.ts = ts
            await self.shows(ts)

    async def _try(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except TROUBLE as error:
            logger.info("what goes on cannot be shown: %s", error)
            return None


def dead(text: str) -> str:
    """Words for a stream, in which nothing is a mention: a space of no width parts `<` from what follows."""
    return text.replace("<", "<\u200b")
