"""Who may come in, and what is answered on the spot: the allow-list, the counts, feedback, a question by command."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.slack.answering import NOT_HERE, Answering
from assistant.slack.feedback import Feedback, case_of
from assistant.slack.inbox import Inbox
from assistant.slack.metrics import Metrics
from assistant.slack.settings import SlackSettings
from assistant.slack.text import escape, shortened
from assistant.slack.types import Incoming
from knowledge.masking import mask

NOT_SERVED = "I am not set up to answer here. Ask your support team where I am."
ONLY_ADMINS = "Only this bot's admins see its counts (MAPLE_CHAT_SLACK_ADMINS)."
LONGEST_SHOWN = 2_500
logger = logging.getLogger("maple-slack")


@dataclass(frozen=True, slots=True)
class Door:
    """What a listener needs. team: the workspace in which the bot is installed."""

    client: AsyncWebClient
    inbox: Inbox
    feedback: Feedback
    answering: Answering
    settings: SlackSettings
    metrics: Metrics
    team: str
    wake: Callable[[], None]

    async def take(self, incoming: Incoming, way: str, body: dict[str, Any]) -> None:
        """Write a request down, once. Raises where that fails: Slack then sends it again."""
        if not self.allowed(incoming, body):
            self.metrics.refused.inc()
            await self._turn_away(incoming)
        elif await asyncio.to_thread(self.inbox.put, incoming, way):
            self.metrics.received.labels(way).inc()
            self.wake()
        else:
            self.metrics.repeated.inc()

    def allowed(self, incoming: Incoming, body: dict[str, Any]) -> bool:
        """By the person's workspace (in shared channels it may be another one) and by the channel."""
        event = body.get("event") or {}
        person = body["user"] if isinstance(body.get("user"), dict) else {}
        told = (event.get("user_team"), event.get("team"), person.get("team_id"), body.get("team_id"))
        team = next(filter(None, told), self.team)
        if team not in (self.settings.teams or (self.team,)):
            return False
        if incoming.private:
            return self.settings.direct
        return not self.settings.channels or incoming.channel in self.settings.channels

    async def _turn_away(self, incoming: Incoming) -> None:
        if incoming.kind == "message" and incoming.user:
            await self.kindly(
                self.client.chat_postEphemeral(channel=incoming.channel, user=incoming.user, text=NOT_SERVED)
            )

    async def kindly(self, call: Awaitable[Any]) -> Any:
        """A call that is a courtesy: where it fails nothing is lost."""
        try:
            return await call
        except (SlackApiError, aiohttp.ClientError, TimeoutError, OSError) as error:
            logger.info("a courtesy failed: %s", error)
            return None

    async def ask_in_channel(self, body: dict[str, Any], text: str) -> str:
        """`/maple QUESTION`: the question stands in the channel in the person's name, the answer in its thread."""
        team, channel, user = self.team, body["channel_id"], body["user_id"]
        incoming = Incoming("", "message", team, channel, "", "", user, escape(text), private=channel.startswith("D"))
        if not self.allowed(incoming, body):
            self.metrics.refused.inc()
            return NOT_SERVED
        shown = f"<@{user}> asks:\n>{escape(shortened(text, LONGEST_SHOWN))}"
        try:
            answer = await self.client.chat_postMessage(channel=channel, text=shown)
        except SlackApiError as error:
            return NOT_HERE.get(str(error.response.get("error")), f"Slack refused: {error.response.get('error')}.")
        ts = str(answer["ts"])
        await self.take(replace(incoming, key=f"{team}:{channel}:{ts}", ts=ts, thread_ts=ts), "command", body)
        return ""

    async def keep(self, key: str, user: str, verdict: str, *, expected: str = "", comment: str = "") -> None:
        """Store what a person said of an answer."""
        await asyncio.to_thread(self._keep, key, user, verdict, expected, mask(comment).text)
        self.metrics.feedback.labels(verdict).inc()

    def _keep(self, key: str, user: str, verdict: str, expected: str, comment: str) -> None:
        job = self.inbox.find(key)
        turn = self.answering.turn(job) if job else None
        private = job.incoming.private if job else True
        case = case_of(verdict, turn, private=private)
        self.feedback.put(key, user, replace(case, expected=expected, comment="" if private else comment))

    async def stats(self, user: str) -> str:
        """Counts for admins; never a text."""
        if user not in self.settings.admins:
            return ONLY_ADMINS
        return await asyncio.to_thread(self._stats)

    def _stats(self) -> str:
        since = datetime.now(UTC) - timedelta(days=self.settings.keep_days)
        requests, judged = self.inbox.counts(), self.feedback.counts(f"{since:%Y-%m-%d}")
        rows = [f"{way}: {count}" for way, count in (requests | judged).items()]
        return f"Last {self.settings.keep_days} days\n" + "\n".join([*rows, f"waiting: {self.inbox.waiting()}"])
