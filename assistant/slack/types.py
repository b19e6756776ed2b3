"""What travels inside the bot: what came in, what goes out."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal

Block = dict[str, Any]
Kind = Literal["message", "choice", "evidence", "person", "ticket", "incident"]
LONGEST_NAME = 64
NOT_NAME = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Incoming:
    """Something that a person did and that is to be answered, as it is written down before Slack hears `received`.

    key: what makes it one; the same key is never answered twice. ts orders a thread. about: the key of the answer whose
    button was pressed. reply: an address that answers a shortcut or command where the bot may not write. more: what
    belongs to one kind only.
    """

    key: str
    kind: Kind
    team: str
    channel: str
    thread_ts: str
    ts: str
    user: str
    text: str = ""
    files: tuple[dict[str, Any], ...] = ()
    private: bool = False
    about: str = ""
    reply: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def thread(self) -> str:
        """The name of the conversation: one for each Slack thread."""
        return thread_name(self.team, self.channel, self.thread_ts)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def incoming_of(text: str) -> Incoming:
    fields = json.loads(text)
    return Incoming(**{**fields, "files": tuple(fields["files"])})


def thread_name(team: str, channel: str, thread_ts: str) -> str:
    """A name that Session takes, at most 64 characters."""
    name = NOT_NAME.sub("_", f"slack-{team}-{channel}-{thread_ts}")
    return name if len(name) <= LONGEST_NAME else f"slack-{sha256(name.encode()).hexdigest()[:40]}"


@dataclass(frozen=True, slots=True)
class Upload:
    """A text to be uploaded."""

    name: str
    content: str
    title: str


@dataclass(frozen=True, slots=True)
class SlackPart:
    """One thing to be sent. do: post a message, update the one at ts, or upload files, all in one message."""

    do: Literal["post", "update", "files"]
    text: str = ""
    blocks: tuple[Block, ...] = ()
    ts: str = ""
    files: tuple[Upload, ...] = ()
    channel: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def part_of(text: str) -> SlackPart:
    fields = json.loads(text)
    files = tuple(Upload(**file) for file in fields["files"])
    return SlackPart(**{**fields, "blocks": tuple(fields["blocks"]), "files": files})
