"""From a request to the parts of its answer. One function for each kind of request, one table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from assistant.attachments import is_long
from assistant.events import Diagnosed, Done, Error, Event, Passing, Text
from assistant.running import STOPPED
from assistant.session import Session
from assistant.settings import Settings
from assistant.slack import handover
from assistant.slack.blocks import answer_parts, evidence_parts, posts, section
from assistant.slack.downloads import Downloads
from assistant.slack.inbox import Inbox, TakenRequest
from assistant.slack.incidents import TeamChannel
from assistant.slack.live import Live
from assistant.slack.sending import LaterError
from assistant.slack.settings import SlackSettings
from assistant.slack.text import files_of, plain, text_of, without_blocks
from assistant.slack.types import Incoming, SlackPart
from assistant.slack.watches import Watches, wish_to_watch
from assistant.storage.diagnoses import Asker, Sees
from assistant.turns import Turn
from knowledge.types import Diagnosis

NOTHING_SAID = (
    "Ask me why a job failed, or for a launch script: paste the log here, upload it, or say what to run and where. "
    "For a message that is there already, use its menu: *Why did this job fail?*"
)
NOT_HERE = {
    "not_in_channel": "I am not in that channel. Invite me there (`/invite @maple`), then ask again.",
    "channel_not_found": "I am not in that channel. Invite me there (`/invite @maple`), then ask again.",
}
ABROAD = "A summary of this conversation goes to your support team's channel, where others read it."
NOT_PASSED_ON = (
    "Nobody was told: Slack does not let me write to your support team's channel ({why}). "
    "Tell them so, and show them this conversation."
)
TOO_LONG = (
    "That took longer than {seconds:.0f} s, so I stopped it. Send the part around the failure and the end, "
    "or run `maple-chat why FILE` where the log lies."
)
# A turn that goes on for so many times its limit holds its thread; the person is answered without it.
STUCK = 1.5
CANNOT = "Slack does not let me answer there ({why}). Ask me in a direct message."
# What the setting says -> whose past tickets are shown.
SEES: dict[str, Sees] = {"off": "nobody", "channel": "place", "workspace": "all"}
logger = logging.getLogger("maple-slack")


class StuckError(Exception):
    """A turn that does not end, and what to say of it."""


@dataclass(eq=False)
class Responder:
    """Answers requests by one Session for each thread. bot_user: the bot's own id in Slack.

    address: of the workspace, for links to its threads.
    """

    client: AsyncWebClient
    settings: Settings
    slack: SlackSettings
    inbox: Inbox
    bot_user: str
    team_channel: TeamChannel
    address: str
    # Turns that went on when they were told to stop.
    stuck: list[Session] = field(default_factory=list)
    # Whether Slack lets the bot read a thread's first message; learnt by trying.
    _reads_threads: bool = True

    def __post_init__(self) -> None:
        self.watches = Watches(self.client, self.slack.watch)
        self.downloads = Downloads(self.client, self.slack, self.settings.data / "slack-files")

    async def answer(self, job: TakenRequest) -> TakenRequest:
        """Work a request out and store the parts of its answer."""
        match job.incoming.kind:
            case "message" | "choice":
                return await self._turn(job)
            case "evidence":
                return await self._store(job, await self._evidence(job))
            case "person":
                return await self._store(job, await self._person(job))
            case "ticket":
                return await self._store(job, await self._ticket(job))
            case "incident":
                return await self._store(job, await asyncio.to_thread(self.team_channel.parts, job.incoming))

    async def _store(self, job: TakenRequest, parts: Sequence[SlackPart], turn: int | None = None) -> TakenRequest:
        return await asyncio.to_thread(self.inbox.answer, job, parts, turn)

    async def _turn(self, job: TakenRequest) -> TakenRequest:
        """One turn of the conversation; one that a killed worker began is gone on with, never begun twice."""
        session, turns = await asyncio.to_thread(self._opened, job.incoming)
        last = turns[-1].number if turns else 0
        before = last if job.turn_before is None else job.turn_before
        begun = turns[-1] if last > before else None
        incoming, text, pasted = await self._heard(job.incoming, begins=before == 0)
        received = await self.downloads.fetch(incoming, pasted)
        if begun is None and not text and not received.attachments:
            return await self._store(job, self._nothing(received.notes))
        wanted = None
        if begun is None and not received.attachments:
            wanted = wish_to_watch(text, [turn.text for turn in turns])
        if wanted is not None:
            says = await self.watches.begin(wanted, incoming.channel, incoming.thread_ts)
            return await self._store(job, posts([section(says)], says))
        if job.turn_before is None:
            job = await asyncio.to_thread(self.inbox.begin, job, before)
        if begun is not None and begun.answer is not None:
            events: list[Event] = list(begun.answer)
        else:
            running = session.send(text, received.attachments) if begun is None else session.resume()
            job, events, stopped = await self._run(job, session, running)
            if stopped:
                received = replace(received, notes=(*received.notes, TOO_LONG.format(seconds=self.slack.turn_s)))
        done = [event.turn for event in events if isinstance(event, Done) and event.turn > before]
        if not done:
            # The turn is stored by another worker, or by nobody, as when the database is away.
            logger.warning("request %s: %s", job.key, [event.text for event in events if isinstance(event, Error)])
            raise LaterError("the conversation could not be stored")
        confirm = ABROAD if job.incoming.private and self.slack.support_channel else ""
        told = [self._without_folders(event) for event in events]
        parts = [*self._chosen(job.incoming), *answer_parts(told, job.key, received.notes, confirm)]
        return await self._store(job, parts, done[-1])

    async def _run(
        self, job: TakenRequest, session: Session, running: AsyncIterator[Event]
    ) -> tuple[TakenRequest, list[Event], bool]:
        """Hear a turn to its end, and show what passes by. Gives also whether it was stopped for taking too long.

        Raises StuckError where it does not heed that either.
        """

        async def shows(ts: str) -> None:
            await asyncio.to_thread(self.inbox.shows, job.key, ts)

        events: list[Event] = []
        loop = asyncio.get_running_loop()
        limit = loop.call_later(self.slack.turn_s, session.stop)
        began = loop.time()
        try:
            async with (
                asyncio.timeout(self.slack.turn_s * STUCK),
                Live(self.client, job.incoming, shows, job.live_ts) as live,
            ):
                async for event in running:
                    if isinstance(event, Passing):
                        await live.show(event)
                    else:
                        events.append(event)
        except TimeoutError as error:
            if loop.time() - began < self.slack.turn_s:
                raise
            self.stuck = [one for one in (*self.stuck, session) if one.running]
            raise StuckError(TOO_LONG.format(seconds=self.slack.turn_s)) from error
        finally:
            limit.cancel()
        stopped = any(isinstance(event, Text) and event.text == STOPPED for event in events)
        return replace(job, live_ts=live.ts), events, stopped

    def is_stuck(self) -> bool:
        """Whether every worker thread is held by a turn that does not end."""
        return len([one for one in self.stuck if one.running]) >= self.settings.workers

    async def _heard(self, incoming: Incoming, *, begins: bool) -> tuple[Incoming, str, tuple[str, ...]]:
        """The request with its files, its words, and what was pasted with them.

        What begins a conversation under somebody's post means that post: its text and files come along.
        """
        if incoming.kind == "choice":
            return incoming, incoming.text, ()
        words, pasted = without_blocks(plain(incoming.text, self.bot_user))
        # A message's menu brings an address to reply to, and means that message alone.
        alone = incoming.thread_ts == incoming.ts or incoming.reply
        if begins and not alone and not pasted and not incoming.files:
            root = await self._root(incoming)
            posted, pasted = without_blocks(plain(text_of(root), self.bot_user))
            incoming = replace(incoming, files=files_of(root))
            if "\n" in posted:
                pasted = (*pasted, posted)
            else:
                words = f"{posted}\n{words}".strip()
        return (incoming, "", (*pasted, words)) if is_long(words) else (incoming, words, pasted)

    async def _root(self, incoming: Incoming) -> dict[str, Any]:
        """The first message of a thread, where Slack lets the bot read it and somebody else wrote it; else empty."""
        if not self._reads_threads:
            return {}
        try:
            answer = await self.client.conversations_replies(channel=incoming.channel, ts=incoming.thread_ts, limit=1)
        except SlackApiError as error:
            self._reads_threads = error.response.get("error") != "missing_scope"
            return {}
        root = dict((answer.get("messages") or [{}])[0])
        return {} if root.get("user") == self.bot_user else root

    def _without_folders(self, event: Event) -> Event:
        """An error names files of this computer, where those who read it in Slack cannot look."""
        if not isinstance(event, Error):
            return event
        names = {str(self.settings.log): "the bot's log", str(self.settings.data): "the bot's data folder"}
        text = event.text
        for path, name in names.items():
            text = text.replace(path, name)
        return Error(text)

    def _nothing(self, notes: Sequence[str]) -> list[SlackPart]:
        text = "\n".join(notes) if notes else NOTHING_SAID
        return posts([section(text)], text)

    def _chosen(self, incoming: Incoming) -> list[SlackPart]:
        """The message whose button was pressed, with the choice in the place of the buttons."""
        blocks = incoming.more.get("blocks")
        if incoming.kind != "choice" or not blocks:
            return []
        return [SlackPart("update", text="Chosen", blocks=tuple(blocks), ts=incoming.more["message_ts"])]

    def _opened(self, incoming: Incoming) -> tuple[Session, tuple[Turn, ...]]:
        session = Session(self.settings, incoming.thread, self._asker(incoming))
        return session, session.history()

    def _asker(self, incoming: Incoming) -> Asker:
        """Whose ticket it is. Nobody else is told of a direct message, nor given a link to it."""
        place = f"{incoming.team}:{incoming.channel}"
        link = f"{self.address}archives/{incoming.channel}/p{incoming.thread_ts.replace('.', '')}"
        who = f"{incoming.team}:{incoming.user}"
        return Asker(who, place, "" if incoming.private else link, incoming.private, SEES[self.slack.past])

    def _history(self, incoming: Incoming) -> tuple[Turn, ...]:
        return self._opened(incoming)[1]

    def diagnosis(self, key: str) -> Diagnosis | None:
        """The diagnosis of an answer, by its key."""
        job = self.inbox.find(key)
        turn = self.turn(job) if job else None
        found = (event.diagnosis for event in (turn.answer or () if turn else ()) if isinstance(event, Diagnosed))
        return next(found, None)

    def turn(self, job: TakenRequest) -> Turn | None:
        """The turn that answered a request."""
        return next((turn for turn in self._history(job.incoming) if turn.number == job.turn), None)

    async def _evidence(self, job: TakenRequest) -> list[SlackPart]:
        found = await asyncio.to_thread(self.diagnosis, job.incoming.about)
        return evidence_parts(found) if found else posts([section("That diagnosis is no longer kept.")], "Gone")

    async def _person(self, job: TakenRequest) -> list[SlackPart]:
        turns = await asyncio.to_thread(self._history, job.incoming)
        return handover.ask_parts(job.incoming, turns, self.slack)

    async def _ticket(self, job: TakenRequest) -> list[SlackPart]:
        turns = await asyncio.to_thread(self._history, job.incoming)
        return await asyncio.to_thread(handover.ticket_parts, job.incoming, turns)

    async def say_elsewhere(self, incoming: Incoming, why: str) -> None:
        """Where the bot may not write: a word that only the person sees."""
        if not incoming.reply:
            return
        try:
            words = NOT_HERE.get(why, CANNOT.format(why=why))
            if incoming.kind == "person" and incoming.private:
                words = NOT_PASSED_ON.format(why=why)
            await AsyncWebhookClient(incoming.reply).send(text=words, response_type="ephemeral")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            logger.info("cannot reach the person: %s", error)
