"""The chat: conversation, script, the request as it stands, and the box to type in. It only calls and draws."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key, Resize
from textual.screen import Screen
from textual.widgets import Footer, Static

from assistant.attachments import named_files, worded
from assistant.errors import MapleError
from assistant.events import Event, Known, Script
from assistant.saving import in_the_way, save
from assistant.session import Session
from assistant.settings import Settings
from assistant.tui import commands
from assistant.tui.screens.confirm import ConfirmScreen
from assistant.tui.screens.help import HelpScreen
from assistant.tui.screens.threads import ThreadsScreen
from assistant.tui.widgets.chips import Chips
from assistant.tui.widgets.composer import Composer
from assistant.tui.widgets.conversation import EXAMPLES, Conversation
from assistant.tui.widgets.script_pane import ScriptPane
from knowledge.types import Attachment, LaunchBundle

WIDE = 110
WORKING = "working …"


class ChatScreen(Screen[None]):
    """One conversation at a time; `open` changes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("ctrl+t", "script", "Script", priority=True),
        Binding("ctrl+o", "copy", "Copy", priority=True),
        Binding("f1", "help", "Help", priority=True),
        Binding("pageup", "page(-1)", "Scroll up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Scroll down", show=False, priority=True),
        Binding("escape", "back", "Back to the box", show=False),
    ]

    def __init__(self, settings: Settings, thread: str) -> None:
        super().__init__()
        self.settings = settings
        self.session = Session(settings, thread)
        self.busy = False

    def compose(self) -> ComposeResult:
        yield Chips()
        with Horizontal(id="panes"):
            yield Conversation()
            yield ScriptPane()
        yield Static(id="status", markup=False)
        yield Static(id="attached", markup=False)
        yield Composer(self.settings.pasted)
        yield Footer(show_command_palette=False)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def bundle(self) -> LaunchBundle | None:
        return self.query_one(ScriptPane).bundle

    async def on_mount(self) -> None:
        self.composer.focus()
        await self.open(self.session.thread)
        self.status("")
        self.call_after_refresh(self.warm)

    def on_key(self, event: Key) -> None:
        """Typing goes into the box, wherever the focus is."""
        if event.is_printable and event.character and not self.composer.has_focus:
            self.composer.focus()
            self.composer.insert(event.character)
            event.stop()

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < WIDE, "narrow")

    async def open(self, thread: str) -> None:
        """Show a conversation as it was left, and finish the turn that a killed program left in it."""
        if self.busy:
            self.status("Still answering; open another conversation after that.")
            return
        self.session = Session(self.settings, thread)
        turns = self.session.history()
        finished = [turn for turn in turns if turn.answer is not None]
        events = [event for turn in finished for event in turn.answer or ()]
        self.remove_class("script-first")
        self.query_one(Chips).show(next((e for e in reversed(events) if isinstance(e, Known)), None))
        await self.query_one(ScriptPane).show(
            next((e.made.bundle for e in reversed(events) if isinstance(e, Script)), None)
        )
        await self.query_one(Conversation).restore(turns)
        self.composer.recall([turn.text for turn in turns] or EXAMPLES)
        self.status(f"Conversation '{thread}'.")
        if len(finished) < len(turns):
            self.set_working(True)
            self.take(self.session.resume())

    @work(group="warm")
    async def warm(self) -> None:
        """Load the engine while the person still reads or types."""
        try:
            await self.session.warm()
        except Exception as error:
            self.status(f"The engine cannot be loaded ({error}); `maple-chat doctor` tells more.", problem=True)

    @on(Composer.Sent)
    async def sent(self, message: Composer.Sent) -> None:
        """A command is run; anything else goes to the session."""
        called = commands.find(message.text)
        try:
            if called is None:
                named = await asyncio.to_thread(named_files, message.text)
                await self.say(message.text, (*message.attachments, *named))
                return
            command, argument = called
            if command is None:
                self.status(f"No command {message.text.split()[0][:20]}; F1 lists them.", problem=True)
                return
            self.composer.accepted("")
            await command.run(self, argument)
        except MapleError as error:
            self.status(str(error), problem=True)

    async def say(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        if self.busy:
            self.status("Still answering; your message waits in the box.")
            return
        self.composer.accepted(text)
        self.remove_class("script-first")
        conversation = self.query_one(Conversation)
        conversation.anchor()
        await conversation.ask(text, attachments)
        self.set_working(True)
        self.take(self.session.send(text, attachments))

    @work(group="turn")
    async def take(self, answers: AsyncIterator[Event]) -> None:
        """Draw what comes. The engine is loaded here the first time, while the screen is already there."""
        try:
            events = [event async for event in answers]
            await self.query_one(Conversation).answer(events)
            for event in events:
                await self.draw(event)
        except MapleError as error:
            self.status(str(error), problem=True)
        finally:
            self.set_working(False)

    async def draw(self, event: Event) -> None:
        """What an event changes beside the conversation."""
        if isinstance(event, Known):
            self.query_one(Chips).show(event)
        elif isinstance(event, Script):
            await self.query_one(ScriptPane).show(event.made.bundle)
            where = "Ctrl+T shows it, " if self.has_class("narrow") else ""
            self.status(f"The script is ready: {where}Ctrl+S saves it here.")

    def set_working(self, working: bool) -> None:
        self.busy = working
        if working or str(self.query_one("#status", Static).content) == WORKING:
            self.status(WORKING if working else "")

    def status(self, text: str, problem: bool = False) -> None:
        """One line above the box; a toast would lie over it on a small terminal."""
        line = self.query_one("#status", Static)
        line.update(text)
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

    def action_script(self) -> None:
        """Show the script, then each file beside it, then the conversation again."""
        pane = self.query_one(ScriptPane)
        if pane.bundle is None:
            self.status("No script yet. Say what to run and where, and it is made.")
        elif self.has_class("narrow") and not self.has_class("script-first"):
            self.add_class("script-first")
            self.status("PgUp and PgDn scroll. Ctrl+T goes on.")
        elif name := pane.next_file():
            self.status(f"{name}. Ctrl+T goes on.")
        else:
            self.action_back()

    def action_back(self) -> None:
        self.remove_class("script-first")
        self.status("")
        self.composer.focus()

    def action_page(self, direction: int) -> None:
        pane = self.query_one(ScriptPane).code if self.has_class("script-first") else self.query_one(Conversation)
        pane.scroll_relative(y=direction * (pane.size.height - 2), animate=False)

    def action_save(self) -> None:
        self.save(Path())

    @work(group="save")
    async def save(self, folder: Path) -> None:
        """Write the script here; what would be overwritten is asked about first."""
        bundle = self.bundle
        if bundle is None:
            self.status("No script to save yet. Say what to run and where, and it is made.")
            return
        taken = ", ".join(path.name for path in in_the_way(bundle, folder))
        if taken and not await self.app.push_screen_wait(
            ConfirmScreen(f"{taken} in {folder.resolve()} differs from this. Overwrite?", "Overwrite")
        ):
            self.status("Nothing was saved. /save FOLDER saves elsewhere.")
            return
        try:
            paths = await asyncio.to_thread(save, bundle, folder, overwrite=bool(taken))
        except MapleError as error:
            self.status(str(error), problem=True)
            return
        beside = f" (with {', '.join(path.name for path in paths[1:])})" if paths[1:] else ""
        self.status(f"Saved {paths[0].resolve()}{beside}. Submit it there with: {bundle.submit}")

    async def action_copy(self) -> None:
        """A file first, which is certain; the terminal's clipboard beside it, which may refuse without a word."""
        if self.bundle is None:
            self.status("No script to copy yet.")
            return
        folder = self.settings.data / "copied"
        paths = await asyncio.to_thread(save, self.bundle, folder, overwrite=True)
        self.app.copy_to_clipboard(self.bundle.script)
        self.status(f"Offered to the terminal's clipboard; in case it takes none, the script is in {paths[0]}")

    def action_help(self) -> None:
        keys = [
            ("Enter", "send"),
            ("Shift+Enter, Ctrl+J", "new line"),
            ("↑ ↓", "messages sent before"),
            ("PgUp PgDn", "scroll"),
            ("Ctrl+T", "show the script, the files beside it, and back"),
            ("Ctrl+S", "save the script here"),
            ("Ctrl+O", "copy the script"),
            ("Ctrl+Q", "leave; the conversation is kept"),
        ]
        rows = [(command.usage, command.says) for command in commands.COMMANDS.values()]
        self.app.push_screen(HelpScreen([*keys, *rows]))

    @work(group="open")
    async def choose_thread(self) -> None:
        threads = await asyncio.to_thread(self.session.turns.threads)
        name = await self.app.push_screen_wait(ThreadsScreen(threads))
        if name:
            await self.open(name)

    def unused_name(self) -> str:
        """A name for a new conversation: the day and the time."""
        return time.strftime("%Y-%m-%d-%H%M%S")

    async def show_text(self, text: str) -> None:
        await self.query_one(Conversation).note(text)
