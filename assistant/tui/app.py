"""The terminal program: it paints first, and loads what is slow behind the painted screen.

Importing our own screens and pydantic takes as long as Textual itself. So the first frame is drawn by Textual alone;
what is typed meanwhile is kept for the box.
"""

from __future__ import annotations

import asyncio
import os
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.constants import DRIVER
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import Static

from assistant.errors import MapleError
from assistant.tui.memory import THEME, data_folder, recall
from assistant.tui.pasting import Growing, Pastes, Spooled
from assistant.tui.themes import HIGH_CONTRAST, NAMES

if TYPE_CHECKING:
    from assistant.settings import Settings
    from assistant.tui.screens.chat import ChatScreen
    from assistant.tui.work.engine import ChildEngine

# Textual's terminal driver, with long pastes taken out of the stream before its parser.


READ = 1 << 16
PAUSE_S = 0.1


class Pasting(Message):
    """A long paste is coming in."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


class Pasted(Message):
    """A long paste lies in a file."""

    def __init__(self, spooled: Spooled) -> None:
        super().__init__()
        self.spooled = spooled


class PasteDriver(LinuxDriver):
    """`pasted`, the folder for long pastes, is set by the app before the driver starts."""

    pasted = Path()

    def run_input_thread(self) -> None:
        """What LinuxDriver does, with a larger read, and bytes that are no UTF-8 shown as a mark, not as an end."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        pastes = Pastes(self.pasted)
        selector = selectors.DefaultSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        with selector:
            while not self.exit_event.is_set():
                read = os.read(self.fileno, READ) if selector.select(PAUSE_S) else b""
                for part in pastes.feed(read) if read else (pastes.rest(),):
                    if isinstance(part, Growing):
                        self.send_message(Pasting(part.size))
                    elif isinstance(part, Spooled):
                        self.send_message(Pasted(part))
                    elif text := decode(part):
                        for message in parser.feed(text):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)


LEAVING_S = 4.0
BOX = " Say what to run and where, or paste a log"


def commands_provider() -> type[Provider]:
    from assistant.tui.palette import ChatCommands

    return ChatCommands


class MapleApp(App[int]):
    """`run()` gives the exit code; trouble: why it could not start.

    prepare reads the settings and tells the conversation to open; it runs behind the first frame. engines: the
    children that answer and do the rest; its own where none are given.
    """

    TITLE = "maple-chat"
    CSS = """
    #starting { height: 1fr; }
    #starting-box { border-top: solid $primary; height: 3; color: $text-muted; }
    """
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {commands_provider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", "All", priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(
        self, prepare: Callable[[], tuple[Settings, str]], engines: tuple[ChildEngine, ChildEngine] | None = None
    ) -> None:
        super().__init__(driver_class=driver(data_folder() / "pasted"))
        self.prepare = prepare
        self.engines = engines
        self.own = engines is None
        self.typed = ""
        self.held: list[Pasted] = []
        self.trouble: MapleError | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="starting")
        yield Static(BOX, id="starting-box")

    def on_mount(self) -> None:
        self.register_theme(HIGH_CONTRAST)
        self.theme = NAMES.get(recall(data_folder(), THEME), NAMES["dark"])
        self.call_after_refresh(lambda: self.run_worker(self.load()))

    async def load(self) -> None:
        """Read the settings, import the screens, show the conversation, and give the box what was typed meanwhile."""
        try:
            settings, thread = await asyncio.to_thread(self.prepared)
        except MapleError as error:
            self.trouble = error
            self.exit(2)
            return
        from assistant.tui.screens.chat import ChatScreen
        from assistant.tui.work.engine import ChildEngine

        if self.engines is None:
            self.engines = ChildEngine(settings.data / "engine.log"), ChildEngine(settings.data / "engine.log")
        screen = ChatScreen(settings, thread, *self.engines)
        await self.push_screen(screen)
        if self.typed:
            screen.composer.insert(self.typed)
        for message in self.held:
            self.attach(message)

    def prepared(self) -> tuple[Settings, str]:
        """In a thread: the imports let the keys through every few milliseconds."""
        import assistant.tui.screens.chat

        assert assistant
        return self.prepare()

    @property
    def chat(self) -> ChatScreen | None:
        """The conversation's screen, once its box is there."""
        made = (one for one in self.screen_stack if hasattr(type(one), "composer") and one.query("Composer"))
        return cast("ChatScreen | None", next(made, None))

    def on_key(self, event: Key) -> None:
        """Before the box is there."""
        if self.chat is None:
            if event.key == "backspace":
                self.typed = self.typed[:-1]
            elif event.is_printable and event.character:
                self.typed += event.character
            for box in self.query("#starting-box").results(Static):
                box.update(f" {self.typed}" if self.typed else BOX)

    def on_paste(self, event: Paste) -> None:
        if self.chat is None:
            self.typed += event.text

    @on(Pasting)
    def pasting(self, message: Pasting) -> None:
        if self.chat:
            self.chat.status(f"A long paste comes in: {message.size / 1e6:,.0f} MB …")

    @on(Pasted)
    def pasted(self, message: Pasted) -> None:
        if self.chat is None:
            self.held.append(message)
        else:
            self.attach(message)

    def attach(self, message: Pasted) -> None:
        """A long paste belongs to the next message, whatever has the focus."""
        from knowledge.types import Attachment

        chat, spooled = cast("ChatScreen", self.chat), message.spooled
        if spooled.problem:
            chat.status(f"cannot keep the pasted text ({spooled.problem}); free some room", problem=True)
            return
        chat.status("")
        chat.composer.attach(Attachment("pasted", str(spooled.path), spooled.lines))

    async def on_unmount(self) -> None:
        """A rehearsal that runs tidies up first; a turn that runs is finished at the next start."""
        if not (self.own and self.engines):
            return
        turns, tools = self.engines
        await asyncio.to_thread(tools.stop, LEAVING_S)
        turns.close()
        tools.close()


def driver(pasted: Path) -> type[Driver] | None:
    """The driver that takes long pastes out of the stream; None, Textual's choice, where another one was set."""
    if DRIVER is not None:
        return None
    members: dict[str, Any] = {"pasted": pasted}
    return type("PasteDriverHere", (PasteDriver,), members)
