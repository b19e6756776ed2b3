"""The terminal program: it paints first and loads what is slow behind the painted screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from assistant.settings import Settings
from assistant.tui.screens.chat import ChatScreen


class MapleApp(App[int]):
    """`run()` gives the exit code."""

    TITLE = "maple-chat"
    CSS_PATH = "maple.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "Quit", priority=True)]

    def __init__(self, settings: Settings, thread: str) -> None:
        super().__init__()
        self.settings = settings
        self.thread = thread

    def on_mount(self) -> None:
        self.theme = "textual-dark"
        self.push_screen(ChatScreen(self.settings, self.thread))
