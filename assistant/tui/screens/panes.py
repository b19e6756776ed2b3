"""The panes of the chat and what is in sight of them: no word of sessions or commands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Key, Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, ProgressBar, Static
from textual.widgets._footer import FooterKey

from assistant.attachments import worded
from assistant.events import Event
from assistant.tui.commands import complete
from assistant.tui.widgets.chips import Chips
from assistant.tui.widgets.completions import Completions
from assistant.tui.widgets.composer import Composer
from assistant.tui.widgets.conversation import Conversation
from assistant.tui.widgets.log_pane import LogPane
from assistant.tui.widgets.log_view import LogView
from assistant.tui.widgets.script_pane import ScriptPane
from assistant.tui.widgets.watch_pane import WatchPane
from knowledge.types import LaunchBundle

WIDE = 110
View = Literal["chat", "script", "log", "watch"]


class PanesScreen(Screen[None]):
    """Two panes where there is room, else one at a time. pasted: the folder for long pastes."""

    def __init__(self, pasted: Path) -> None:
        super().__init__()
        self.pasted = pasted

    def compose(self) -> ComposeResult:
        yield Chips()
        with Horizontal(id="panes"):
            yield Conversation()
            yield ScriptPane()
            yield LogPane()
            yield WatchPane()
        yield Static(id="status", markup=False)
        yield WorkingBar()
        yield Static(id="attached", markup=False)
        yield Completions()
        yield Composer(self.pasted, complete)
        yield Keys(show_command_palette=False)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def conversation(self) -> Conversation:
        return self.query_one(Conversation)

    @property
    def script_pane(self) -> ScriptPane:
        return self.query_one(ScriptPane)

    @property
    def log_pane(self) -> LogPane:
        return self.query_one(LogPane)

    @property
    def watch_pane(self) -> WatchPane:
        return self.query_one(WatchPane)

    @property
    def chips(self) -> Chips:
        return self.query_one(Chips)

    @property
    def working(self) -> WorkingBar:
        return self.query_one(WorkingBar)

    @property
    def bundle(self) -> LaunchBundle | None:
        return self.script_pane.bundle

    @property
    def machine(self) -> str:
        return self.chips.value("machine")

    @property
    def narrow(self) -> bool:
        return self.has_class("narrow")

    @property
    def view(self) -> View:
        beside: tuple[View, ...] = ("script", "log", "watch")
        return next((name for name in beside if self.has_class(f"view-{name}")), "chat")

    def on_key(self, event: Key) -> None:
        """Typing goes into the box, wherever the focus is; in the log, letters are its own keys."""
        elsewhere = not self.composer.has_focus and not isinstance(self.focused, LogView)
        if elsewhere and event.is_printable and event.character:
            self.composer.focus()
            self.composer.insert(event.character)
            event.stop()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < WIDE, "narrow")
        self.refresh_bindings()

    def status(self, text: str, problem: bool = False) -> None:
        """One line above the box; a toast would lie over it on a small terminal."""
        for line in self.query("#status").results(Static):  # none while the program is left
            line.update(text)
            line.display = bool(text)
            line.set_class(problem, "problem")

    @on(Composer.Attached)
    def attached(self, message: Composer.Attached) -> None:
        line = self.query_one("#attached", Static)
        names = ", ".join(worded(attachment) for attachment in message.attachments)
        line.update(f"Attached: {names} (Enter sends, Backspace removes)")
        line.display = bool(message.attachments)

    @on(Composer.Failed)
    def failed(self, message: Composer.Failed) -> None:
        self.status(message.text, problem=True)

    def has_script(self, there: bool) -> None:
        self.set_class(there, "has-script")
        self.refresh_bindings()

    def show_view(self, view: View) -> None:
        """Which pane is in sight: beside the conversation where there is room, else in its place."""
        for name in ("script", "log", "watch"):
            self.set_class(view == name, f"view-{name}")
        (self.log_pane.view if view == "log" else self.composer).focus()
        self.refresh_bindings()

    def action_page(self, direction: int) -> None:
        panes = {"chat": self.conversation, "script": self.script_pane, "log": self.log_pane.view}
        pane = panes.get(self.view, self.watch_pane)
        seen = self.script_pane.code if isinstance(pane, ScriptPane) else pane
        seen.scroll_relative(y=direction * (seen.size.height - 2), animate=False)

    async def show_text(self, text: str) -> None:
        self.to_conversation()
        await self.conversation.note(text)

    async def show_events(self, events: Sequence[Event]) -> None:
        self.to_conversation()
        await self.conversation.show(events)

    def to_conversation(self) -> None:
        """Have the conversation in sight, at its newest line."""
        if self.narrow and self.view != "chat":
            self.show_view("chat")
        self.conversation.anchor()


# The keys that work now, in one line.


# What is left out first where there is no room for all: F1 tells them, and the pane that is open has its own.
SPARED = ("log", "details", "save", "script")
AROUND = 3


class Keys(Footer):
    """Textual's footer cuts off what does not fit, and with it the way out."""

    def compose(self) -> ComposeResult:
        keys = list(super().compose())
        for action in SPARED:
            if sum(map(width, keys)) <= self.app.size.width:
                break
            keys = [key for key in keys if not (isinstance(key, FooterKey) and key.action == action)]
        self.styles.grid_size_columns = len(keys)
        yield from keys


def width(key: Widget) -> int:
    """Columns: the key, what it does, and the blanks around them."""
    return len(key.key_display) + len(key.description) + AROUND if isinstance(key, FooterKey) else 0


# One line while something takes time: what, how far, how long still, and how to stop it.


LONGEST = 46


class WorkingBar(Horizontal):
    """Hidden while nothing is worked on. The newest piece of work is shown."""

    def compose(self) -> ComposeResult:
        yield Static(id="what", markup=False)
        yield ProgressBar(show_eta=True)
        yield Static("Esc stops", id="stops")

    def on_mount(self) -> None:
        self.display = False
        self.jobs: dict[str, str] = {}

    def begin(self, job: str, what: str) -> None:
        """Show it; nobody knows yet how long it takes."""
        self.jobs[job] = what
        self.tell(job, what, 0, 0)

    def tell(self, job: str, what: str, done: int, total: int) -> None:
        """The news of a job that goes on."""
        if job not in self.jobs:
            return
        self.jobs[job] = what
        if job != next(reversed(self.jobs)):
            return
        self.display = True
        self.query_one("#what", Static).update(f"{what[:LONGEST]} …")
        bar = self.query_one(ProgressBar)
        bar.display = total > 0
        if total > 0:
            bar.update(total=total, progress=done)

    def end(self, job: str) -> None:
        """Over; the one before it comes into sight again."""
        self.jobs.pop(job, None)
        self.display = bool(self.jobs)
        if self.jobs:
            newest = next(reversed(self.jobs))
            self.tell(newest, self.jobs[newest], 0, 0)
        else:
            self.query_one(ProgressBar).update(total=None, progress=0)
