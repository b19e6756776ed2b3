"""What people do in the workspace: say, mention, press, submit. Each becomes the event that Slack would send."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any, cast

from tests.assistant.slack.standin.web_api import file_object
from tests.assistant.slack.standin.workspace import APP, BOT_USER, TEAM, Channel, Message, StoredFile

if TYPE_CHECKING:
    from tests.assistant.slack.standin.server import Slack

Body = dict[str, Any]
ALICE, BOB, ADMIN = "U0ALICE01", "U0BOB0001", "U0ADMIN01"


def escaped(text: str) -> str:
    """A typed message as Slack stores it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


class People:
    """Mixed into the server. Every method waits until the app has answered the delivery."""

    @property
    def _slack(self) -> Slack:
        return cast("Slack", self)

    def say(
        self, channel: Channel, text: str, user: str = ALICE, thread: str = "", files: tuple[StoredFile, ...] = ()
    ) -> Message:
        """Put a person's message into a channel without telling the app. text is as Slack stores it: see `escaped`."""
        channel.members.add(user)
        more: Body = {"thread_ts": thread} if thread else {}
        if files:
            more["files"] = [file_object(file, self._slack.base) for file in files]
        return self._slack.add(channel, user=user, team=TEAM, text=text, client_msg_id=str(uuid.uuid4()), **more)

    async def mention(
        self, channel: Channel, text: str, user: str = ALICE, thread: str = "", files: tuple[StoredFile, ...] = ()
    ) -> Message:
        """`@maple text`, in a channel."""
        message = self.say(channel, f"<@{BOT_USER}> {text}", user, thread, files)
        await self.tell_app(self.event(channel, message, type="app_mention"))
        return message

    async def direct_message(
        self, text: str, user: str = ALICE, thread: str = "", files: tuple[StoredFile, ...] = ()
    ) -> Message:
        channel = self._slack.direct(user)
        message = self.say(channel, text, user, thread, files)
        more = {"subtype": "file_share"} if files else {}
        await self.tell_app(self.event(channel, message, type="message", channel_type="im", **more))
        return message

    async def channel_message(self, channel: Channel, text: str, user: str = ALICE, thread: str = "") -> Message:
        """A message without a mention: only apps with the history scopes hear of it."""
        message = self.say(channel, text, user, thread)
        await self.tell_app(self.event(channel, message, type="message", channel_type="channel"))
        return message

    async def open_assistant(self, user: str = ALICE) -> Message:
        """The assistant's pane is opened: a thread of the direct message begins."""
        channel = self._slack.direct(user)
        root = self._slack.add(channel, user=BOT_USER, subtype="assistant_app_thread", text="New thread")
        thread = {"user_id": user, "context": {}, "channel_id": channel.id, "thread_ts": root["ts"]}
        inner = {"type": "assistant_thread_started", "assistant_thread": thread, "event_ts": root["ts"]}
        await self.tell_app(wrapped(inner))
        return root

    async def open_agent(self, user: str = ALICE) -> None:
        """The newer view: the messages tab is opened."""
        channel = self._slack.direct(user)
        await self.tell_app(
            wrapped({"type": "app_home_opened", "user": user, "channel": channel.id, "tab": "messages"})
        )

    async def shortcut(
        self, channel: Channel, message: Message, user: str = BOB, name: str = "why_did_this_fail"
    ) -> None:
        """The entry of a message's menu."""
        body = self.interaction(channel, user) | {
            "type": "message_action",
            "callback_id": name,
            "message_ts": message["ts"],
            "message": {k: v for k, v in message.items() if not k.startswith("_")},
        }
        await self._slack.delivery.send("interactive", body)

    async def command(self, channel: Channel, text: str, user: str = ALICE, name: str = "/maple") -> Body | None:
        """`/maple text`; the answer that the app gave at once, if it did."""
        body = {
            "command": name,
            "text": text,
            "team_id": TEAM,
            "api_app_id": APP,
            "channel_id": channel.id,
            "channel_name": channel.name,
            "user_id": user,
            "response_url": f"{self._slack.base}/response/{uuid.uuid4().hex}",
            "trigger_id": self._slack.trigger(),
        }
        return await self._slack.delivery.send("slash_commands", body)

    async def press(
        self, channel: Channel, message: Message, action: str, user: str = ALICE, value: str | None = None
    ) -> None:
        """Press a button, choose from a list, or give feedback, by action id (and value, where several share it)."""
        block, element = find_action(message, action, value)
        pressed: Body = {"type": element["type"], "action_id": action, "block_id": block.get("block_id", "b")}
        pressed["action_ts"] = f"{time.time():.6f}"
        if element["type"] == "static_select":
            pressed["selected_option"] = next(o for o in element["options"] if value in (None, o["value"]))
        elif element["type"] == "feedback_buttons":
            sides = [element["positive_button"], element["negative_button"]]
            pressed["value"] = next(side["value"] for side in sides if side["value"] == value)
        else:
            pressed["value"] = element.get("value", "")
        where = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": False}
        body = self.interaction(channel, user) | {
            "type": "block_actions",
            "container": where | ({"thread_ts": message["thread_ts"]} if "thread_ts" in message else {}),
            "message": {k: v for k, v in message.items() if not k.startswith("_")},
            "actions": [pressed],
        }
        await self._slack.delivery.send("interactive", body)

    async def submit(self, view: Body, values: Body, user: str = ALICE) -> Body | None:
        """Send a modal. values: block_id -> {action_id -> state}."""
        filled = {k: view[k] for k in ("id", "callback_id", "private_metadata", "type", "blocks") if k in view}
        filled["state"] = {"values": values}
        body = self.interaction(None, user) | {"type": "view_submission", "view": filled}
        return await self._slack.delivery.send("interactive", body)

    def interaction(self, channel: Channel | None, user: str) -> Body:
        team = self._slack.team_of_presser
        body: Body = {
            "team": {"id": team, "domain": "standin"},
            "user": {"id": user, "team_id": team, "username": user.lower()},
            "api_app_id": APP,
            "trigger_id": self._slack.trigger(),
            "response_url": f"{self._slack.base}/response/{uuid.uuid4().hex}",
        }
        return body | ({"channel": {"id": channel.id, "name": channel.name}} if channel else {})

    def event(self, channel: Channel, message: Message, **more: Any) -> Body:
        """The event of a message."""
        plain = {k: v for k, v in message.items() if not k.startswith("_")}
        return wrapped({**plain, "channel": channel.id, "event_ts": message["ts"], **more})

    async def tell_app(self, body: Body) -> None:
        await self._slack.delivery.send("events_api", body)


def wrapped(inner: Body, team: str = TEAM) -> Body:
    """An event in its outer form, with the id by which a second delivery can be known."""
    return {
        "token": "deprecated",
        "team_id": team,
        "api_app_id": APP,
        "event": inner,
        "type": "event_callback",
        "event_id": f"Ev{uuid.uuid4().hex[:12].upper()}",
        "event_time": int(time.time()),
        "authorizations": [{"enterprise_id": None, "team_id": TEAM, "user_id": BOT_USER, "is_bot": True}],
        "is_ext_shared_channel": False,
    }


def find_action(message: Message, action: str, value: str | None) -> tuple[Body, Body]:
    """The block and the element with an action id. Raises LookupError with what there is to press."""
    there = []
    for block in message.get("blocks") or []:
        for element in block.get("elements", []) if block["type"] in ("actions", "context_actions") else []:
            there.append(element.get("action_id"))
            same = element.get("value") == value or element["type"] in ("static_select", "feedback_buttons")
            if element.get("action_id") == action and (value is None or same):
                return block, element
    raise LookupError(f"no {action} here; there are {there} in {json.dumps(message.get('blocks'))[:400]}")
