"""What Slack tells the bot, written down as requests. Nothing is worked on here: Slack hears `received` within moments.

Bolt runs a listener before it answers (process_before_response), so that what could not be written down is not
acknowledged, and Slack sends it again.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assistant.slack.blocks import CHOICE, EVIDENCE, FEEDBACK, NO_INCIDENT, PERSON, TICKETS, mrkdwn_text
from assistant.slack.door import Door
from assistant.slack.feedback_view import VIEW, comment_of, modal
from assistant.slack.text import files_of, text_of
from assistant.slack.types import Incoming

if TYPE_CHECKING:
    from slack_bolt.async_app import AsyncApp

Body = dict[str, Any]
SHORTCUT, COMMANDS = "why_did_this_fail", ("/maple", "/maple-chat")
PROMPTS = (
    ("Why did my job fail?", "Why did my job fail? Here is the log:"),
    ("Write a launch script", "Train ViT with FSDP on Perlmutter, 4 nodes"),
    ("Move a script to another machine", "Carry this script over to Frontier:"),
    ("What are the limits?", "What is the longest walltime on Perlmutter?"),
)
# Subtypes of messages that a person wrote.
WRITTEN = (None, "file_share", "thread_broadcast")
HELP = (
    "`/maple QUESTION` asks in this channel; `/maple correct [LINK]` says what an answer should have been; `/maple "
    "stats` counts and `/maple report` shows the last report of failed jobs (admins). Or mention me, write me "
    "directly, or use a message's menu: *Why did this job fail?* I never submit a job and never run anything on a "
    "cluster."
)


@dataclass(frozen=True, slots=True)
class Listeners:
    """The ways in. Each makes an Incoming or answers at once."""

    door: Door

    def register(self, app: AsyncApp) -> None:
        """The table of what is heard."""
        app.event("app_mention")(self.mention)
        app.event("message")(self.message)
        app.event("assistant_thread_started")(self.assistant_opened)
        app.event("assistant_thread_context_changed")(self.nothing)
        app.event("app_home_opened")(self.agent_opened)
        app.shortcut(SHORTCUT)(self.shortcut)
        for name in COMMANDS:
            app.command(name)(self.command)
        app.action(re.compile(f"^{CHOICE}"))(self.choice)
        app.action(EVIDENCE)(self.evidence)
        app.action(PERSON)(self.person)
        app.action(re.compile(f"^({'|'.join(TICKETS)})$"))(self.ticket)
        app.action(FEEDBACK)(self.feedback)
        app.action(NO_INCIDENT)(self.no_incident)
        app.view(VIEW)(self.explained)

    async def nothing(self, body: Body) -> None:
        """Heard, and no matter."""

    async def mention(self, body: Body) -> None:
        await self.door.take(self.written(body, private=False), "mention", body)

    async def message(self, body: Body) -> None:
        """A direct message; in a channel, what the one who asked says next in the bot's thread."""
        event = body["event"]
        if event.get("subtype") not in WRITTEN or event.get("bot_id") or not event.get("user"):
            return
        incoming = self.written(body, private=event.get("channel_type") == "im")
        if incoming.private:
            assistant = "assistant" if event.get("thread_ts") else "direct"
            await self.door.take(incoming, assistant, body)
        elif event.get("thread_ts") and "<@" not in incoming.text:
            asker = await asyncio.to_thread(self.door.inbox.asker, incoming.thread)
            if asker == incoming.user:
                await self.door.take(incoming, "follow-up", body)

    async def assistant_opened(self, body: Body) -> None:
        """The assistant's pane: what may be asked."""
        thread = body["event"]["assistant_thread"]
        await self._prompts(thread["channel_id"], thread["thread_ts"])

    async def agent_opened(self, body: Body) -> None:
        """The newer view. A thread_ts would make Slack drop the prompts without a word."""
        if body["event"].get("tab") == "messages":
            await self._prompts(body["event"]["channel"], None)

    async def _prompts(self, channel: str, thread: str | None) -> None:
        prompts = [{"title": title, "message": message} for title, message in PROMPTS]
        where: dict[str, Any] = {"channel_id": channel, **({"thread_ts": thread} if thread else {})}
        await self.door.kindly(self.door.client.assistant_threads_setSuggestedPrompts(**where, prompts=prompts))

    async def shortcut(self, ack: Any, body: Body) -> None:
        """`Why did this job fail?` on a message: its text and files, answered in its thread."""
        message, channel = body["message"], body["channel"]["id"]
        thread = message.get("thread_ts") or message["ts"]
        incoming = Incoming(
            key=f"{self.door.team}:{channel}:{message['ts']}:shortcut",
            kind="message",
            team=self.door.team,
            channel=channel,
            thread_ts=thread,
            ts=message["ts"],
            user=body["user"]["id"],
            text=text_of(message),
            files=files_of(message),
            private=channel.startswith("D"),
            reply=body.get("response_url", ""),
        )
        await self.door.take(incoming, "shortcut", body)
        await ack()

    async def command(self, ack: Any, body: Body) -> None:
        text = body.get("text", "").strip()
        if text.lower() in ("", "help"):
            await ack(HELP)
        elif text.lower() == "stats":
            await ack(await self.door.stats(body["user_id"]))
        elif text.lower() == "report":
            await ack(await self.door.report(body["user_id"], body["channel_id"]))
        elif text.lower().split()[0] == "correct":
            await ack(await self.door.correct(body, text))
        else:
            await ack(await self.door.ask_in_channel(body, text))

    async def choice(self, ack: Any, body: Body) -> None:
        """One of the choices of a question: said in the person's name, once for each question."""
        action = body["actions"][0]
        said = action["selected_option"]["value"] if "selected_option" in action else action["value"]
        chosen = {"type": "context", "elements": [mrkdwn_text(f"<@{body['user']['id']}> chose *{label_of(action)}*")]}
        blocks = [chosen if b.get("block_id") == action["block_id"] else b for b in body["message"].get("blocks", [])]
        more = {"blocks": blocks, "message_ts": body["container"]["message_ts"]}
        await self.door.take(self.pressed(body, "choice", text=said, more=more), "choice", body)
        await ack()

    async def evidence(self, ack: Any, body: Body) -> None:
        await self.door.take(self.pressed(body, "evidence"), "evidence", body)
        await ack()

    async def person(self, ack: Any, body: Body) -> None:
        await self.door.take(self.pressed(body, "person"), "person", body)
        await ack()

    async def ticket(self, ack: Any, body: Body) -> None:
        form = body["actions"][0]["action_id"].rpartition("_")[2]
        await self.door.take(self.pressed(body, "ticket", more={"form": form}), "ticket", body)
        await ack()

    async def feedback(self, ack: Any, body: Body) -> None:
        """Helpful: kept. Not helpful: asked what it was, and kept. Slack lets a window open for three seconds only."""
        if not self.door.allowed(self.pressed(body, "evidence"), body):
            await ack()
            return
        verdict, key = body["actions"][0]["value"], about(body)
        if verdict == "wrong":
            await self.door.kindly(self.door.client.views_open(trigger_id=body["trigger_id"], view=modal(key)))
        await self.door.keep(key, body["user"]["id"], verdict)
        await ack()

    async def no_incident(self, ack: Any, body: Body) -> None:
        """The team's word on a message of its channel."""
        await self.door.dismiss(body["actions"][0]["value"], body["channel"]["id"], body["user"]["id"])
        await ack()

    async def explained(self, ack: Any, body: Body) -> None:
        """The modal was sent: what it really was."""
        key, said = comment_of(body["view"])
        await self.door.keep(key, body["user"]["id"], "wrong", said)
        await ack()

    def written(self, body: Body, *, private: bool) -> Incoming:
        """A message as a request. Its place in the channel is its key: a mention comes as two events and counts once.

        The team is the bot's own, also where a shared channel's event or button names another: one thread, one name.
        """
        event, team = body["event"], self.door.team
        return Incoming(
            key=f"{team}:{event['channel']}:{event['ts']}",
            kind="message",
            team=team,
            channel=event["channel"],
            thread_ts=event.get("thread_ts") or event["ts"],
            ts=event["ts"],
            user=event.get("user", ""),
            text=text_of(event),
            files=files_of(event),
            private=private or event["channel"].startswith("D"),
        )

    def pressed(self, body: Body, kind: Any, text: str = "", more: Body | None = None) -> Incoming:
        """A button as a request: pressed twice, by one or by two, it is answered once."""
        action, where, team = body["actions"][0], body["container"], self.door.team
        channel, message = body["channel"]["id"], where["message_ts"]
        asked = kind if kind != "ticket" else action["action_id"]
        return Incoming(
            key=f"{team}:{channel}:{message}:{asked}:{action['block_id'][-40:] if kind == 'choice' else ''}",
            kind=kind,
            team=team,
            channel=channel,
            thread_ts=where.get("thread_ts") or message,
            ts=str(action.get("action_ts") or message),
            user=body["user"]["id"],
            text=text,
            private=channel.startswith("D"),
            about=about(body),
            reply=body.get("response_url", ""),
            more=more or {},
        )


def about(body: Body) -> str:
    """The key of the answer that a button belongs to, from its block's id."""
    return str(body["actions"][0]["block_id"].partition(":")[2]).removesuffix("/instead")


def label_of(action: Body) -> str:
    shown = action.get("selected_option", action).get("text") or {}
    return str(shown.get("text") or action.get("value", ""))
