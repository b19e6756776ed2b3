"""The chat: conversation, script, log, the request as it stands, and the box to type in. It only calls and draws."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Any, ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from assistant.attachments import named_files
from assistant.errors import MapleError
from assistant.events import Known, Script
from assistant.session import Session
from assistant.settings import Settings
from assistant.trouble import unforeseen
from assistant.tui import commands
from assistant.tui.answering import TurnTaker
from assistant.tui.logs import NO_LOG, Logs
from assistant.tui.memory import OPEN, remember
from assistant.tui.picking import pick, pick_rank
from assistant.tui.screens.panes import PanesScreen
from assistant.tui.widgets.chips import ChipView, why
from assistant.tui.widgets.composer import Composer
from assistant.tui.widgets.conversation import EXAMPLES
from assistant.tui.widgets.log_pane import LogPane
from assistant.tui.widgets.watch_pane import WatchPane
from assistant.tui.work.engine import ChildEngine
from knowledge.types import Attachment

# All keys and commands, made from the tables that run them.


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", "Back")]

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        table = Table.grid(padding=(0, 2, 0, 0))
        for name, says in self.rows:
            table.add_row(Text(name, "bold"), Text(says))
        with VerticalScroll(classes="box"):
            yield Static(table)
            yield Static("Esc goes back.", classes="hint")


WAITS = "Still answering; your message waits in the box. Esc stops the answer."
LEAVES = "Ctrl+C once more leaves; the conversation is kept."
TWICE_S = 2.0
NO_SCRIPT = "No script yet. Say what to run and where, and it is made."


class ChatScreen(PanesScreen):
    """One conversation at a time; `open` changes it. turns, tools: the children that answer and that do the rest."""

    CSS_PATH = "../maple.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help", priority=True),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("f2", "chat", "Chat", priority=True),
        Binding("f3", "script", "Script", priority=True),
        Binding("f4", "log", "Log", priority=True),
        Binding("f5", "details", "Details", priority=True),
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("f6", "changes", "Changes", show=False, priority=True),
        Binding("f7", "sign(-1)", "Previous sign", show=False, priority=True),
        Binding("f8", "sign(1)", "Next sign", show=False, priority=True),
        Binding("ctrl+t", "script", "Script", show=False, priority=True),
        Binding("ctrl+o", "copy", "Copy", show=False, priority=True),
        Binding("pageup", "page(-1)", "Scroll up", show=False, priority=True),
        Binding("pagedown", "page(1)", "Scroll down", show=False, priority=True),
        Binding("escape", "back", "Back", show=False),
    ]

    def __init__(self, settings: Settings, thread: str, turns: ChildEngine, tools: ChildEngine) -> None:
        super().__init__(settings.pasted)
        self.settings = settings
        self.session = Session(settings, thread)
        self.answering = TurnTaker(self, turns, tools)
        self.logs = Logs(self)
        self.waiting = False
        self.interrupted = float("-inf")

    @property
    def log_paths(self) -> tuple[str, ...]:
        return self.logs.paths

    async def on_mount(self) -> None:
        self.composer.focus()
        await self.guarded(self.begin())
        self.call_after_refresh(self.warm)

    async def begin(self) -> None:
        await self.open(self.session.thread)
        self.status("")

    async def open(self, thread: str) -> None:
        """Show a conversation as it was left, and finish the turn that a killed program left in it."""
        if self.answering.busy:
            self.status("Still answering; open another conversation after that.")
            return
        self.session = Session(self.settings, thread)
        turns = await asyncio.to_thread(self.session.history)
        await asyncio.to_thread(remember, self.settings.data, OPEN, thread)
        events = [event for turn in turns for event in turn.answer or ()]
        scripts = [event.made.bundle for event in events if isinstance(event, Script)]
        self.show_view("chat")
        self.log_pane.clear()
        await self.logs.recall(turns)
        await self.chips.show(next((e for e in reversed(events) if isinstance(e, Known)), None))
        await self.script_pane.show(scripts[-1] if scripts else None, scripts[-2] if len(scripts) > 1 else None)
        self.has_script(bool(scripts))
        await self.conversation.restore(turns)
        self.composer.recall([turn.text for turn in turns] or EXAMPLES)
        self.status(f"Conversation '{await asyncio.to_thread(self.session.turns.title, thread) or thread}'.")
        if any(turn.answer is None for turn in turns):
            self.start(self.answering.resume(self.session))
        elif scripts:
            self.start(self.answering.judge())

    def start(self, work: Awaitable[object]) -> None:
        """Run something beside the screen."""
        self.run_worker(self.guarded(work), group="work")

    async def guarded(self, work: Awaitable[object]) -> None:
        """Errors become the line above the box; none ends the program."""
        try:
            await work
        except MapleError as error:
            self.status(str(error), problem=True)
        except Exception as error:
            self.status(unforeseen(error, self.settings.log, f"thread {self.session.thread}"), problem=True)

    def warm(self) -> None:
        """Load the engine while the person still reads or types."""

        async def load() -> None:
            async for _ in self.answering.engines["turn"].run("warm", self.settings):
                pass

        self.start(load())

    def work(self, kind: str, what: str, task: str, *arguments: Any) -> AsyncIterator[Any]:
        return self.answering.work(kind, what, task, *arguments)

    @on(WatchPane.Told)
    def watch_told(self, message: WatchPane.Told) -> None:
        """Trouble in the run that is followed is heard, and told also where its pane is not in sight."""
        self.app.bell()
        self.status(f"{message.notice.text}. /watch shows the run.", problem=message.notice.key != "over")

    @on(Composer.Sent)
    def sent(self, message: Composer.Sent) -> None:
        """A command is run; anything else goes to the session."""
        called = commands.find(message.text)
        if called is None:
            self.start(self.say(message.text, message.attachments))
            return
        command, argument = called
        if command is None:
            self.status(f"No command {message.text.split()[0][:20]}; F1 lists them.", problem=True)
            return
        self.status("")
        self.composer.accepted("" if message.text in self.composer.sent else message.text)
        if message.attachments and command.name != "quit":
            self.composer.attach(*message.attachments)
        self.start(command.run(self, argument))

    async def say(self, text: str, attachments: tuple[Attachment, ...] = ()) -> None:
        """Send it, with the files that it names."""
        if self.answering.busy:
            self.status(WAITS)
            self.waiting = True
            return
        named = await asyncio.to_thread(named_files, text)
        self.composer.accepted(text)
        self.status("")
        self.to_conversation()
        await self.answering.say(text, (*attachments, *named))

    def answered(self) -> None:
        """The answer is there: the line that asked to wait for it leaves."""
        if self.waiting:
            self.waiting = False
            self.status("")

    async def call_command(self, command: commands.SlashCommand) -> None:
        """From the palette: run it, or put it into the box where it needs more."""
        if command.needs_more:
            self.composer.text = f"/{command.name} "
            self.composer.move_cursor(self.composer.document.end)
            self.composer.focus()
        else:
            self.start(command.run(self, ""))

    def action_chat(self) -> None:
        self.show_view("chat")
        self.status("")

    def action_script(self) -> None:
        """Show the script, then each file beside it, then the conversation again."""
        if self.bundle is None:
            self.status(NO_SCRIPT)
        elif self.view != "script" and (self.narrow or self.view == "log"):
            self.show_view("script")
            self.status("PgUp and PgDn scroll. F3 goes on, F2 is the conversation.")
        elif name := self.script_pane.next_file():
            self.show_view("script")
            self.status(f"{name}. F3 goes on.")
        else:
            self.action_chat()

    def action_log(self) -> None:
        if self.view == "log":
            self.action_chat()
        elif self.log_paths:
            self.status("")
            self.start(self.logs.open())
        else:
            self.status(NO_LOG)

    def action_changes(self) -> None:
        if self.bundle is None or not self.script_pane.toggle_changes():
            self.status("Nothing was changed yet: this is the first script.")
        else:
            self.show_view("script")

    def action_details(self) -> None:
        self.start(self.chips.enter())

    @on(ChipView.Seen)
    def chip_seen(self, message: ChipView.Seen) -> None:
        self.status(why(message.chip))

    @on(ChipView.Picked)
    def chip_picked(self, message: ChipView.Picked) -> None:
        self.start(pick(self, message.chip))

    @on(LogPane.RankWanted)
    def rank_wanted(self) -> None:
        self.start(pick_rank(self))

    def action_sign(self, step: int) -> None:
        self.log_pane.action_hit(step)

    async def action_back(self) -> None:
        if not await self.answering.stop():
            self.action_chat()

    async def action_interrupt(self) -> None:
        """Ctrl+C stops an answer, else copies what is marked, else clears the box; on an empty box, twice leaves."""
        if await self.answering.stop():
            return
        marked = self.composer.selected_text or self.get_selected_text()
        if marked:
            self.app.copy_to_clipboard(marked)
        elif self.composer.text:
            self.composer.text = ""
        elif time.monotonic() - self.interrupted < TWICE_S:
            self.app.exit()
        else:
            self.interrupted = time.monotonic()
            self.status(LEAVES)

    def action_save(self) -> None:
        self.start(commands.COMMANDS["save"].run(self, ""))

    def action_copy(self) -> None:
        self.start(commands.COMMANDS["copy"].run(self, ""))

    def action_help(self) -> None:
        rows = [(command.usage, command.says) for command in commands.COMMANDS.values()]
        self.app.push_screen(HelpScreen([*KEYS, *rows]))


# The keys of the chat, as the help shows them.


KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send"),
    ("Ctrl+J", "new line (also \\ then Enter; Shift+Enter where the terminal tells it apart)"),
    ("↑ ↓", "messages sent before"),
    ("/  @", "commands, and files to attach; Tab completes"),
    ("PgUp PgDn", "scroll what is in sight"),
    ("F2", "the conversation"),
    ("F3", "the script, then the files beside it"),
    ("F4", "the log: n next sign, p previous, t telling line, r one rank"),
    ("F5", "what is known: ← → choose, Enter picks another value"),
    ("F6", "what the last revision changed"),
    ("F7 F8", "previous and next sign in the log"),
    ("Ctrl+S", "save the script here"),
    ("Ctrl+O", "copy the script"),
    ("Ctrl+P", "all commands"),
    ("Esc", "stop what runs, else back to the box"),
    ("Ctrl+Q", "leave; the conversation is kept"),
)
