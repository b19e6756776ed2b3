"""The terminal program: it paints first and loads what is slow behind the painted screen, in processes of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.constants import DRIVER
from textual.driver import Driver

from assistant.settings import Settings
from assistant.tui.driver import Pasted, PasteDriver, Pasting
from assistant.tui.memory import THEME, recall
from assistant.tui.screens.chat import ChatScreen
from assistant.tui.themes import HIGH_CONTRAST, NAMES
from assistant.tui.work.engine import Engine
from knowledge.types import Attachment


def commands_provider() -> type[Provider]:
    from assistant.tui.palette import ChatCommands

    return ChatCommands


class MapleApp(App[int]):
    """`run()` gives the exit code. engines: the children that answer and do the rest; its own where none are given."""

    TITLE = "maple-chat"
    CSS_PATH = "maple.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {commands_provider}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+p", "command_palette", "All", priority=True),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(self, settings: Settings, thread: str, engines: tuple[Engine, Engine] | None = None) -> None:
        super().__init__(driver_class=driver(settings.pasted))
        self.settings = settings
        self.thread = thread
        self.own = engines is None
        self.engines = engines or (Engine(settings.data / "engine.log"), Engine(settings.data / "engine.log"))

    def on_mount(self) -> None:
        self.register_theme(HIGH_CONTRAST)
        self.theme = NAMES.get(recall(self.settings.data, THEME), NAMES["dark"])
        self.push_screen(ChatScreen(self.settings, self.thread, *self.engines))

    @on(Pasting)
    def pasting(self, message: Pasting) -> None:
        self.chat.status(f"A long paste comes in: {message.size / 1e6:,.0f} MB …")

    @on(Pasted)
    def pasted(self, message: Pasted) -> None:
        """Attached, whatever has the focus."""
        spooled = message.spooled
        if spooled.problem:
            self.chat.status(f"cannot keep the pasted text ({spooled.problem}); free some room", problem=True)
            return
        self.chat.status("")
        self.chat.composer.attach(Attachment("pasted", str(spooled.path), spooled.lines))

    @property
    def chat(self) -> ChatScreen:
        return next(screen for screen in self.screen_stack if isinstance(screen, ChatScreen))

    async def on_unmount(self) -> None:
        if self.own:
            for engine in self.engines:
                engine.close()


def driver(pasted: Path) -> type[Driver] | None:
    """The driver that takes long pastes out of the stream; None, Textual's choice, where another one was set."""
    if DRIVER is not None:
        return None
    return type("PasteDriverHere", (PasteDriver,), {"pasted": pasted})
