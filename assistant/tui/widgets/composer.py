"""Where a person types: Enter sends, Ctrl+J starts a new line, a long paste becomes an attachment.

Shift+Enter is a key of its own only in terminals that speak the Kitty protocol; in the others, and in tmux, it is
Enter. Ctrl+J, and a backslash at the end of the line, start a new line in all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from assistant.attachments import is_long, keep
from assistant.errors import MapleError
from assistant.tui.completing import CompletionItem, begun, files
from assistant.tui.widgets.completions import Completions
from knowledge.types import Attachment

NEW_LINE = frozenset({"shift+enter", "ctrl+j", "alt+enter"})


class Composer(TextArea):
    """A few lines of text, the messages sent before (up and down), and what is attached to the next one.

    commands completes a word that begins with a slash.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", key_display="Enter", show=False),
        Binding("ctrl+j", "new_line", "New line", show=False),
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

    def __init__(self, folder: Path, commands: Callable[[str], Sequence[CompletionItem]]) -> None:
        super().__init__(
            compact=True, highlight_cursor_line=False, placeholder="Say what to run and where, or paste a log"
        )
        self.folder = folder
        self.commands = commands
        self.attachments: tuple[Attachment, ...] = ()
        self.sent: list[str] = []
        self.place = 0
        self.draft = ""

    @property
    def completions(self) -> Completions:
        return self.screen.query_one(Completions)

    def recall(self, sent: Sequence[str]) -> None:
        """The messages that the up key brings back, oldest first."""
        self.sent = [text for text in sent if text]
        self.place = len(self.sent)

    def attach(self, *attachments: Attachment) -> None:
        self.attachments = (*self.attachments, *attachments)
        self.post_message(self.Attached(self.attachments))

    def action_send(self) -> None:
        if self.text.endswith("\\") and self.cursor_at_end_of_text:
            self.action_delete_left()
            self.insert("\n")
            return
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
        if self.completed(event.key) or self.handled(event.key):
            event.stop()
            event.prevent_default()

    def handled(self, key: str) -> bool:
        """Whether the key is one of the box's own."""
        if key == "enter":
            self.action_send()
        elif key in NEW_LINE:
            self.action_new_line()
        elif key == "backspace" and not self.text and self.attachments:
            self.attachments = self.attachments[:-1]
            self.post_message(self.Attached(self.attachments))
        elif key == "up" and self.cursor_at_first_line and self.place > 0:
            self.show_sent(self.place - 1)
        elif key == "down" and self.cursor_at_last_line and self.place < len(self.sent):
            self.show_sent(self.place + 1)
        else:
            return False
        return True

    def completed(self, key: str) -> bool:
        """Whether the key was for the list of completions."""
        chosen = self.completions.chosen
        if chosen is None:
            return False
        if key in ("up", "down"):
            (self.completions.action_cursor_up if key == "up" else self.completions.action_cursor_down)()
        elif key == "escape":
            self.completions.offer(())
        elif key == "tab" or (key == "enter" and not self.is_whole(chosen)):
            self.take(chosen, send=key == "enter")
        else:
            return False
        return True

    def is_whole(self, chosen: CompletionItem) -> bool:
        """Whether it is typed already, so that Enter sends."""
        found = begun(self.before_cursor)
        return found is not None and found[0].lower() == chosen.value

    def take(self, chosen: CompletionItem, *, send: bool) -> None:
        """Put it in the place of the word. A command that takes nothing more is run at once by Enter."""
        found = begun(self.before_cursor)
        if found is None:
            return
        row, column = self.cursor_location
        start = (row, column - len(found[0]))
        is_command = chosen.value.startswith("/")
        blank = "" if chosen.goes_on and not is_command else " "
        self.replace(chosen.value + blank, start, (row, column))
        if is_command:
            self.completions.offer(())
            if send and not chosen.goes_on:
                self.action_send()

    @property
    def before_cursor(self) -> str:
        return self.get_text_range((0, 0), self.cursor_location)

    def on_text_area_changed(self) -> None:
        """Offer what the word at the cursor may become; not for what was recalled."""
        found = None if len(self.text) > 4_000 else begun(self.before_cursor)
        recalled = self.place < len(self.sent) and self.text == self.sent[self.place]
        if found is None or recalled:
            self.completions.offer(())
        elif found[0].startswith("/"):
            self.completions.offer(self.commands(found[0]))
        else:
            self.look_for_files(found[0])

    @work(exclusive=True, group="files")
    async def look_for_files(self, word: str) -> None:
        """A folder on a slow file system must not hold up the keys."""
        found = await asyncio.to_thread(files, word)
        still = begun(self.before_cursor)
        if still and still[0] == word:
            self.completions.offer(() if [c.value for c in found] == [word] else found)

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
