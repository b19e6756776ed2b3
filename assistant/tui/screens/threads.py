"""The conversations so far, the last one first; Enter opens one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from assistant.turns import Thread


class ThreadsScreen(ModalScreen[str | None]):
    """The name of the thread that was chosen; None on Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Back")]

    def __init__(self, threads: Sequence[Thread]) -> None:
        super().__init__()
        self.threads = threads

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Label("Open a conversation (Enter opens, Esc goes back)")
            yield OptionList(*(Option(row(thread), id=thread.name) for thread in self.threads))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


def row(thread: Thread) -> Content:
    begins = " ".join(thread.begins.split())[:44] or "(a log)"
    return Content(f"{thread.at.astimezone():%d %b %H:%M}  {thread.name}  {thread.turns} turns  {begins}")
