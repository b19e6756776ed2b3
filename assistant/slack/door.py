"""Who may come in, and what is answered on the spot: the allow-list, the counts, feedback, a question by command."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from assistant.slack.answering import NOT_HERE, Responder
from assistant.slack.digest import kept_digest, post_digest
from assistant.slack.feedback import NOTHING_SAID, Correction, Feedback, case_of, corrected
from assistant.slack.feedback_view import modal
from assistant.slack.inbox import Inbox
from assistant.slack.metrics import Metrics
from assistant.slack.settings import SlackSettings
from assistant.slack.text import escape, shortened
from assistant.slack.types import Incoming
from assistant.storage.diagnoses import Diagnoses
from knowledge.signatures.loader import library

NOT_SERVED = "I am not set up to answer here. Ask your support team where I am."
ONLY_ADMINS = "Only this bot's admins see its counts and reports (MAPLE_CHAT_SLACK_ADMINS)."
NO_REPORT = "There is no report yet; `maple-chat report --since 7d` on this computer makes one."
NO_ANSWER = "I find no answer of mine there. Copy the link of a message of its thread: `/maple correct LINK`."
# A link to a message: channel, time stamp, and the thread that it is in.
LINK = re.compile(r"/archives/([CDG][A-Z0-9]+)/p(\d{10})(\d{6})(?:\S*?thread_ts=([\d.]+))?")
LONGEST_SHOWN = 2_500
logger = logging.getLogger("maple-slack")


@dataclass(frozen=True, slots=True)
class Door:
    """What a listener needs. team: the workspace in which the bot is installed."""

    client: AsyncWebClient
    inbox: Inbox
    feedback: Feedback
    diagnoses: Diagnoses
    answering: Responder
    settings: SlackSettings
    metrics: Metrics
    team: str
    wake: Callable[[], None]
    data: Path
    sending: list[asyncio.Task[Any]] = field(default_factory=list)
    """Kept until they are done: a task that nobody holds may be dropped."""

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

    async def keep(self, key: str, user: str, verdict: str, said: Correction = NOTHING_SAID) -> None:
        """Store what a person said of an answer."""
        await asyncio.to_thread(self._keep, key, user, verdict, said)
        self.metrics.feedback.labels(verdict).inc()

    def _keep(self, key: str, user: str, verdict: str, said: Correction) -> None:
        job = self.inbox.find(key)
        turn = self.answering.turn(job) if job else None
        private = job.incoming.private if job else True
        case = corrected(case_of(verdict, turn, private=private), said, private=private)
        self.feedback.put(key, user, case)
        if job and turn:
            cause = case.expected if case.expected in library().causes else ""
            self.diagnoses.rate(job.incoming.thread, turn.number, verdict, case.fix, cause)

    async def dismiss(self, name: str, channel: str, user: str) -> None:
        """Close an incident as a false message; only in the team's channel, where its button stands."""
        if channel == self.settings.incident_channel and await asyncio.to_thread(
            self.answering.team_channel.dismiss, name, user
        ):
            self.wake()

    async def correct(self, body: dict[str, Any], text: str) -> str:
        """`/maple correct [LINK]`: ask what it really was; without a link, of the person's newest answer here."""
        link = LINK.search(text)
        channel, ts = (link[1], f"{link[2]}.{link[3]}") if link else (body["channel_id"], "")
        key = await asyncio.to_thread(self.inbox.answered, channel, link[4] or ts if link else "", body["user_id"])
        if not key:
            return NO_ANSWER
        await self.kindly(self.client.views_open(trigger_id=body["trigger_id"], view=modal(key)))
        return ""

    async def stats(self, user: str) -> str:
        """Counts for admins; never a text."""
        if user not in self.settings.admins:
            return ONLY_ADMINS
        return await asyncio.to_thread(self._stats)

    async def report(self, user: str, channel: str) -> str:
        """The last report's digest into this channel, for admins. It is posted after Slack has been answered."""
        if user not in self.settings.admins:
            return ONLY_ADMINS
        digest = await asyncio.to_thread(kept_digest, self.data)
        if digest is None:
            return NO_REPORT
        self.sending.append(asyncio.create_task(self.kindly(post_digest(self.client, channel, digest))))
        self.sending[:] = [task for task in self.sending if not task.done()]
        return ""

    def _stats(self) -> str:
        since = datetime.now(UTC) - timedelta(days=self.settings.keep_days)
        requests, judged = self.inbox.counts(), self.feedback.counts(f"{since:%Y-%m-%d}")
        rows = [f"{way}: {count}" for way, count in (requests | judged).items()]
        return f"Last {self.settings.keep_days} days\n" + "\n".join([*rows, f"waiting: {self.inbox.waiting()}"])
