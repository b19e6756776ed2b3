"""What a Slack workspace holds: people, channels, messages, files, one installed app, and what the app called.

No network here. web_api.py answers the app's calls from it, delivery.py sends events to the app.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TEAM, OTHER_TEAM = "T0MAPLE01", "T0OTHER01"
BOT_USER, BOT_ID, APP = "U0BOT0001", "B0BOT0001", "A0APP0001"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-standin-bot", "xapp-1-standin-app", "standin-signing-secret"
SCOPES = frozenset(
    {
        "app_mentions:read",
        "assistant:write",
        "channels:history",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "im:history",
    }
)
Message = dict[str, Any]


@dataclass
class Channel:
    """A channel or a direct message. members: users in it; the app posts only where its bot user is a member."""

    id: str
    name: str
    is_im: bool = False
    members: set[str] = field(default_factory=set)
    messages: list[Message] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "im" if self.is_im else "channel"


@dataclass
class StoredFile:
    """A file on Slack's side. content None: announced by getUploadURLExternal and not sent yet."""

    id: str
    name: str
    content: bytes | None
    user: str
    length: int = 0
    mode: str = "hosted"
    check_info: bool = False


@dataclass(frozen=True)
class Call:
    """One Web API call as it arrived, and what was answered."""

    method: str
    args: dict[str, Any]
    at: float
    answer: dict[str, Any]


@dataclass
class Fault:
    """What goes wrong on the next `times` calls of a method.

    error: the answer is ok:false with it. status: an HTTP status. retry_after: seconds of a 429. cut: the connection is
    closed, before the call is carried out or (after=True) when it has been. hold: the call is carried out, and answered
    only when the event is set.
    """

    method: str
    times: int = 1
    error: str = ""
    status: int = 0
    retry_after: int | None = None
    cut: bool = False
    after: bool = False
    hold: asyncio.Event | None = None


class Workspace:
    """The state of one workspace. `changed` is set whenever something happens, for tests that wait."""

    def __init__(self, scopes: frozenset[str] = SCOPES) -> None:
        self.scopes = set(scopes)
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, StoredFile] = {}
        self.views: list[dict[str, Any]] = []
        self.ephemeral: list[Message] = []
        self.responses: list[dict[str, Any]] = []
        self.statuses: list[dict[str, Any]] = []
        self.prompts: list[dict[str, Any]] = []
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.triggers: dict[str, float] = {}
        self.view_kind: str = "assistant_view"
        self.streaming_allowed = True
        # In a shared channel a button's payload names the workspace of the one who presses it.
        self.team_of_presser = TEAM
        # chat.postMessage: a burst for each channel, then one a second (None: no limit).
        self.post_burst: int | None = None
        self.full_at: dict[str, float] = {}
        self.changed = asyncio.Event()
        self._last_ts = 0

    def now_ts(self) -> str:
        """A message's id: seconds and microseconds, never twice, always rising."""
        self._last_ts = max(self._last_ts + 1, int(time.time() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def channel(self, name: str, *, bot: bool = True, members: tuple[str, ...] = ()) -> Channel:
        """The channel of that name, made at its first use."""
        found = next((c for c in self.channels.values() if c.name == name), None)
        if found is None:
            found = Channel(f"C{len(self.channels):03d}{name.upper()[:6]}", name)
            found.members = {*members, *([BOT_USER] if bot else [])}
            self.channels[found.id] = found
        return found

    def direct(self, user: str) -> Channel:
        """The direct message between the app and a person."""
        found = next((c for c in self.channels.values() if c.is_im and user in c.members), None)
        if found is None:
            found = Channel(f"D{len(self.channels):03d}{user[-5:]}", f"im-{user}", True, {user, BOT_USER})
            self.channels[found.id] = found
        return found

    def add(self, channel: Channel, **fields: Any) -> Message:
        """Put a message into a channel."""
        message: Message = {"type": "message", "ts": self.now_ts(), **fields}
        channel.messages.append(message)
        self.tell()
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        place = self.channels.get(channel)
        return next((m for m in place.messages if m["ts"] == ts), None) if place else None

    def upload(
        self, name: str, content: bytes, user: str = "U0ALICE01", mode: str = "hosted", check_info: bool = False
    ) -> StoredFile:
        """A file that a person put into Slack."""
        stored = StoredFile(f"F{len(self.files):08d}", name, content, user, len(content), mode, check_info)
        self.files[stored.id] = stored
        return stored

    def trigger(self) -> str:
        """A trigger id, good for three seconds, as each interaction brings one."""
        trigger = secrets.token_hex(8)
        self.triggers[trigger] = time.monotonic()
        return trigger

    def fail(self, method: str, **what: Any) -> None:
        """Let the next calls of a method go wrong, see Fault."""
        self.faults.append(Fault(method, **what))

    def tell(self) -> None:
        self.changed.set()

    async def until(self, happened: Callable[[], Any], seconds: float = 15.0) -> Any:
        """Wait until something is true and give it back. Raises TimeoutError with what the bot did last."""
        end = time.monotonic() + seconds
        while not (value := happened()):
            self.changed.clear()
            left = end - time.monotonic()
            if left <= 0:
                last = [(c.method, c.answer.get("error", "ok")) for c in self.calls[-12:]]
                raise TimeoutError(f"not within {seconds} s; the app's last calls: {last}")
            try:
                await asyncio.wait_for(self.changed.wait(), min(left, 0.25))
            except TimeoutError:
                continue
        return value

    def replies(self, channel: str, thread_ts: str) -> list[Message]:
        """What the bot said in a thread, in order; deleted messages are gone."""
        place = self.channels[channel]
        return [m for m in place.messages if m.get("thread_ts") == thread_ts and m.get("bot_id") == BOT_ID]

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def errors(self) -> Counter[str]:
        """How often each error was answered; rate limits are no error of the app."""
        wrong = (f"{c.method}: {c.answer['error']}" for c in self.calls if not c.answer.get("ok", True))
        return Counter(error for error in wrong if "ratelimited" not in error)
