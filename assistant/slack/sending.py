"""Parts of an answer on their way to Slack: each once, in order, whatever breaks.

Before a part leaves it is marked as `sending`. Found so after a break, nobody knows whether it arrived: the thread is
looked through for it, where the app may read it; where it may not, the part is sent again and says so.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.slack.blocks import context, in_words
from assistant.slack.inbox import Inbox, Job, Stored
from assistant.slack.metrics import Metrics
from assistant.slack.pacing import Pacer
from assistant.slack.types import Incoming, Part

LABEL = "maple_chat_answer"
MOST_WORDS = 3_500
TWICE = "I was interrupted while I sent this. If it stands above already, it is the same."
# Slack's word -> whether trying later may help. What is in neither table is taken for passing trouble.
NEVER = frozenset(
    {
        "cannot_reply_to_message",
        "cant_update_message",
        "channel_not_found",
        "is_archived",
        "message_not_found",
        "messages_tab_disabled",
        "missing_scope",
        "not_in_channel",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
        "thread_not_found",
        "user_not_found",
    }
)
NOT_THESE_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
NETWORK = (aiohttp.ClientError, TimeoutError, OSError, SlackRequestError)
logger = logging.getLogger("maple-slack")


class LaterError(Exception):
    """It did not work now and may work later."""


class UndeliverableError(Exception):
    """It will never work; str(error) is Slack's word for why."""


class LostError(Exception):
    """Another worker has taken the request over."""


class Sender:
    """Sends what is stored for a request."""

    def __init__(self, client: AsyncWebClient, inbox: Inbox, metrics: Metrics) -> None:
        self.client = client
        self.inbox = inbox
        self.metrics = metrics
        self.pacer = Pacer()

    async def deliver(self, job: Job) -> None:
        """Send the parts that are not sent. Raises LaterError, UndeliverableError, LostError.

        The last one is not marked as sent: the caller closes the whole request with its next write.
        """
        first = True
        parts = await asyncio.to_thread(self.inbox.parts, job.key)
        for stored in parts:
            if stored.state != "sent":
                if not await asyncio.to_thread(self.inbox.sending, job.key, stored.number):
                    raise LostError
                live = job.live_ts if first and stored.part.do == "post" else ""
                ts = await self._once(job, stored, live)
                if stored is not parts[-1]:
                    await asyncio.to_thread(self.inbox.sent, job.key, stored.number, ts)
            first = first and stored.part.do != "post"

    async def _once(self, job: Job, stored: Stored, live: str) -> str:
        part = stored.part
        try:
            if stored.state == "sending" and not live and part.do != "update":
                there = await self._find(job, stored)
                if there:
                    return there
                if there is None:
                    part = replace(part, blocks=(*part.blocks, context(TWICE)))
            return await self._send(job, stored.number, part, live)
        except SlackApiError as error:
            word = str(error.response.get("error", ""))
            if word in NEVER:
                raise UndeliverableError(word) from error
            raise LaterError(word) from error
        except NETWORK as error:
            raise LaterError(type(error).__name__) from error

    async def say(self, incoming: Incoming, part: Part) -> None:
        """One message in the thread, outside the order of parts. Raises what the client raises."""
        await self.pacer.wait(incoming.channel)
        try:
            await self.client.chat_postMessage(
                channel=incoming.channel, thread_ts=incoming.thread_ts, text=part.text, blocks=part.blocks
            )
        except SlackApiError as error:
            raise UndeliverableError(str(error.response.get("error"))) from error

    async def _send(self, job: Job, number: int, part: Part, live: str) -> str:
        if part.do == "file":
            return await self._upload(job, part)
        if part.do == "update" or live:
            return await self._update(part, job.incoming.channel, part.ts or live)
        return await self._post(job, number, part)

    async def _post(self, job: Job, number: int, part: Part) -> str:
        channel = part.channel or job.incoming.channel
        await self.pacer.wait(channel)
        message: dict[str, Any] = {
            "channel": channel,
            "thread_ts": None if part.channel else job.incoming.thread_ts,
            "text": part.text,
            "metadata": {"event_type": LABEL, "event_payload": {"answer": job.key, "part": number}},
            "unfurl_links": False,
            "unfurl_media": False,
        }
        try:
            answer = await self.client.chat_postMessage(**message, blocks=part.blocks)
        except SlackApiError as error:
            if error.response.get("error") not in NOT_THESE_BLOCKS:
                raise
            logger.error("Slack refused the blocks of an answer: %s", error.response.get("response_metadata"))
            answer = await self.client.chat_postMessage(**message | {"text": in_words(part.blocks, MOST_WORDS)})
        return str(answer["ts"])

    async def _update(self, part: Part, channel: str, ts: str) -> str:
        """Put words in the place of a message; a stream that was left open is closed first."""
        shown: dict[str, Any] = {"channel": channel, "ts": ts, "text": part.text, "blocks": part.blocks}
        try:
            await self.client.chat_update(**shown)
        except SlackApiError as error:
            if error.response.get("error") != "streaming_state_conflict":
                raise
            await self.client.chat_stopStream(channel=channel, ts=ts)
            await self.client.chat_update(**shown)
        return ts

    async def _upload(self, job: Job, part: Part) -> str:
        await self.pacer.wait(job.incoming.channel)
        answer = await self.client.files_upload_v2(
            filename=part.name,
            title=part.text or part.name,
            content=part.content or "\n",
            channel=job.incoming.channel,
            thread_ts=job.incoming.thread_ts,
        )
        return str(answer["files"][0]["id"])

    async def _find(self, job: Job, stored: Stored) -> str | None:
        """The part in the thread: its time stamp, "" where it is not there, None where one may not look."""
        if stored.part.channel:
            return None
        try:
            answer = await self.client.conversations_replies(
                channel=job.incoming.channel,
                ts=job.incoming.thread_ts,
                oldest=job.incoming.ts,
                include_all_metadata=True,
                limit=200,
            )
        except SlackApiError as error:
            logger.info("cannot look for an answer in the thread: %s", error.response.get("error"))
            return None
        mine = {"answer": job.key, "part": stored.number}
        for message in answer.get("messages") or []:
            if (message.get("metadata") or {}).get("event_payload") == mine:
                return str(message["ts"])
            names = {file.get("name") for file in message.get("files") or []}
            if message.get("bot_id") and stored.part.do == "file" and stored.part.name in names:
                return str(message["ts"])
        return ""
