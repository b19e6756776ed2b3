"""Where a person types: Enter sends, Shift+Enter or Ctrl+J starts a new line, a long paste becomes an attachment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from assistant.attachments import is_long, keep
from assistant.errors import MapleError
from knowledge.types import Attachment

NEW_LINE = frozenset({"shift+enter", "ctrl+j", "alt+enter"})


class Composer(TextArea):
    """A few lines of text, the messages sent before (up and down), and what is attached to the next one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", key_display="Enter"),
        Binding("ctrl+j", "new_line", "New line"),
    ]

    @dataclass
    class Sent(Message):
        """The person pressed Enter."""

        text: str
        attachments: tuple[Attachment, ...]

    @dataclass
    class Attached(Message):
        """What is attached to the next message changed."""

        attachments: tuple[Attachment, ...]

    @dataclass
    class Failed(Message):
        """A paste could not be kept."""

        text: str

    def __init__(self, folder: Path) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, placeholder="Say what to run and where, or paste a log"
        )
        self.folder = folder
        self.attachments: tuple[Attachment, ...] = ()
        self.sent: list[str] = []
        self.place = 0
        self.draft = ""

    def recall(self, sent: Sequence[str]) -> None:
        """The messages that the up key brings back, oldest first."""
        self.sent = [text for text in sent if text]
        self.place = len(self.sent)

    def attach(self, *attachments: Attachment) -> None:
        self.attachments = (*self.attachments, *attachments)
        self.post_message(self.Attached(self.attachments))

    def action_send(self) -> None:
        text = self.text.strip()
        if text or self.attachments:
            self.post_message(self.Sent(text, self.attachments))

    def action_new_line(self) -> None:
        self.insert("\n")

    def accepted(self, text: str) -> None:
        """The message went off: empty the box and remember it."""
        self.recall([*self.sent, text])
        self.clear()
        self.attachments = ()
        self.post_message(self.Attached(()))

    def on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            self.action_send()
        elif event.key in NEW_LINE:
            self.action_new_line()
        elif event.key == "backspace" and not self.text and self.attachments:
            self.attachments = self.attachments[:-1]
            self.post_message(self.Attached(self.attachments))
        elif event.key == "up" and self.cursor_at_first_line and self.place > 0:
            self.show_sent(self.place - 1)
        elif event.key == "down" and self.cursor_at_last_line and self.place < len(self.sent):
            self.show_sent(self.place + 1)
        else:
            return
        event.stop()
        event.prevent_default()

    def show_sent(self, place: int) -> None:
        if self.place == len(self.sent):
            self.draft = self.text
        self.place = place
        self.text = self.sent[place] if place < len(self.sent) else self.draft
        self.move_cursor(self.document.end)

    async def on_paste(self, event: events.Paste) -> None:
        """Long text goes into a file; the rest is typed in by TextArea."""
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if not is_long(text):
            return
        event.stop()
        event.prevent_default()
        try:
            self.attach(await asyncio.to_thread(keep, text, self.folder))
        except MapleError as error:
            self.app.bell()
            self.post_message(self.Failed(str(error)))
