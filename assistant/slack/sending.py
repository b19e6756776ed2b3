"""Parts of an answer on their way to Slack: each once, in order, whatever breaks.

Before a part leaves it is marked as `sending`. Found so after a break, nobody knows whether it arrived: the thread is
looked through for it, where the app may read it; where it may not, the part is sent again and says so.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.slack.blocks import as_text, context, in_words
from assistant.slack.inbox import Inbox, Stored, TakenRequest
from assistant.slack.metrics import Metrics
from assistant.slack.types import Incoming, SlackPart
from knowledge.word_lists import word_set

LABEL = "maple_chat_answer"
MOST_WORDS = 3_500
TWICE = "I was interrupted while I sent this. If it stands above already, it is the same."
# Slack's word -> whether trying later may help. What is in neither table is taken for passing trouble.
NEVER = word_set(
    "cannot_reply_to_message cant_update_message channel_not_found is_archived message_not_found "
    "messages_tab_disabled missing_scope not_in_channel restricted_action restricted_action_read_only_channel "
    "restricted_action_thread_only_channel thread_not_found user_not_found"
)
NO_FILES = frozenset(
    {
        "file_type_not_allowed",
        "file_upload_size_restricted",
        "file_uploads_disabled",
        "file_uploads_except_images_disabled",
        "missing_scope",
    }
)
NOT_THESE_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"})
NETWORK = (aiohttp.ClientError, TimeoutError, OSError, SlackRequestError)
logger = logging.getLogger("maple-slack")


class LaterError(Exception):
    """It did not work now and may work later."""


class UndeliverableError(Exception):
    """It will never work; str(error) is Slack's word for why."""


class Sender:
    """Sends what is stored for a request."""

    def __init__(self, client: AsyncWebClient, inbox: Inbox, metrics: Metrics) -> None:
        self.client = client
        self.inbox = inbox
        self.metrics = metrics
        self.pacer = Pacer()

    async def deliver(self, job: TakenRequest) -> str:
        """Send the parts that are not sent; gives the time stamp of the last one.

        Raises LaterError, UndeliverableError, LostError.

        The last one is not marked as sent: the caller closes the whole request with its next write.
        """
        live, ts = job.live_ts, ""
        parts = await asyncio.to_thread(self.inbox.parts, job.key)
        for stored in parts:
            if stored.state != "sent":
                await asyncio.to_thread(self.inbox.sending, job.key, stored.number)
                ts = await self._once(job, stored, live if stored.part.do == "post" else "")
                if stored is not parts[-1]:
                    await asyncio.to_thread(self.inbox.sent, job.key, stored.number, ts)
            if stored.part.do == "post":
                live = ""
        return ts

    async def _once(self, job: TakenRequest, stored: Stored, live: str) -> str:
        """Send a part, in the place of the message at `live` if there is one. Gives its time stamp or file id."""
        part = stored.part
        try:
            place = part.ts or live
            if place and (await self._replaced(part, job.incoming.channel, place) or part.do == "update"):
                return place
            there = await self._find(job, stored) if stored.state == "sending" else ""
            if there:
                return there
            again = there is None
            return await (self._upload if part.do == "files" else self._post)(job, stored.number, part, again)
        except SlackApiError as error:
            word = str(error.response.get("error", ""))
            if word in NEVER:
                raise UndeliverableError(word) from error
            raise LaterError(word) from error
        except NETWORK as error:
            raise LaterError(type(error).__name__) from error

    async def say(self, incoming: Incoming, part: SlackPart) -> None:
        """One message in the thread, outside the order of parts. Raises what the client raises."""
        await self.pacer.wait(incoming.channel)
        try:
            await self.client.chat_postMessage(
                channel=incoming.channel, thread_ts=incoming.thread_ts, text=part.text, blocks=part.blocks
            )
        except SlackApiError as error:
            raise UndeliverableError(str(error.response.get("error"))) from error

    async def _post(self, job: TakenRequest, number: int, part: SlackPart, again: bool) -> str:
        """again: it may stand there already, and says so."""
        blocks = (*part.blocks, context(TWICE)) if again else part.blocks
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
            answer = await self.client.chat_postMessage(**message, blocks=blocks)
        except SlackApiError as error:
            if error.response.get("error") not in NOT_THESE_BLOCKS:
                raise
            logger.error("Slack refused the blocks of an answer: %s", error.response.get("response_metadata"))
            answer = await self.client.chat_postMessage(**message | {"text": in_words(blocks, MOST_WORDS)})
        return str(answer["ts"])

    async def _replaced(self, part: SlackPart, channel: str, ts: str) -> bool:
        """Put words in the place of a message; a stream that was left open is closed first.

        False: Slack does not let it be changed, as it may have been deleted, or be too old for this workspace.
        """
        shown: dict[str, Any] = {"channel": channel, "ts": ts, "text": part.text, "blocks": part.blocks}
        try:
            try:
                await self.client.chat_update(**shown)
            except SlackApiError as error:
                if error.response.get("error") != "streaming_state_conflict":
                    raise
                await self.client.chat_stopStream(channel=channel, ts=ts)
                await self.client.chat_update(**shown)
        except SlackApiError as error:
            logger.warning("a message cannot be replaced: %s", error.response.get("error"))
            return False
        return True

    async def _upload(self, job: TakenRequest, number: int, part: SlackPart, again: bool) -> str:
        """All files in one message; their text, where the workspace takes no such files."""
        await self.pacer.wait(job.incoming.channel)
        uploads = [{"filename": f.name, "title": f.title, "content": f.content or "\n"} for f in part.files]
        try:
            answer = await self.client.files_upload_v2(
                file_uploads=uploads,
                channel=job.incoming.channel,
                thread_ts=job.incoming.thread_ts,
                initial_comment=TWICE if again else None,
            )
        except SlackApiError as error:
            if error.response.get("error") not in NO_FILES:
                raise
            logger.warning("Slack takes no files here: %s", error.response.get("error"))
            return [await self._post(job, number, text, again) for text in as_text(part.files)][-1]
        return str(answer["files"][0]["id"])

    async def _find(self, job: TakenRequest, stored: Stored) -> str | None:
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
        wanted = {file.name for file in stored.part.files}
        for message in answer.get("messages") or []:
            if (message.get("metadata") or {}).get("event_payload") == mine:
                return str(message["ts"])
            names = {file.get("name") for file in message.get("files") or []}
            if message.get("bot_id") and wanted and wanted <= names:
                return str(message["ts"])
        return ""


# No faster than Slack takes it: about one message a second and channel, with a burst.
#
# https://docs.slack.dev/apis/web-api/rate-limits . What is refused all the same waits as long as Slack says (the SDK's
# AsyncRateLimitErrorRetryHandler).


BURST, EVERY_S = 4, 1.0
MOST_CHANNELS = 10_000


class Pacer:
    """A bucket for each channel: BURST messages at once, then one every EVERY_S seconds."""

    def __init__(self) -> None:
        # Channel -> the time at which its bucket will be full again.
        self._full_at: OrderedDict[str, float] = OrderedDict()

    async def wait(self, channel: str) -> None:
        """Wait until a message may go to the channel. Callers are served in the order in which they come."""
        now = time.monotonic()
        full_at = max(self._full_at.get(channel, now), now) + EVERY_S
        self._full_at[channel] = full_at
        self._full_at.move_to_end(channel)
        while len(self._full_at) > MOST_CHANNELS:
            self._full_at.popitem(last=False)
        pause = full_at - now - BURST * EVERY_S
        if pause > 0:
            await asyncio.sleep(pause)
