"""All keys and commands, made from the tables that run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q,enter", "dismiss", "Back")]

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.rows = rows

    def compose(self) -> ComposeResult:
        width = max(len(name) for name, _ in self.rows)
        table = "\n".join(f"{name:<{width}}  {says}" for name, says in self.rows)
        with VerticalScroll(classes="box"):
            yield Static(f"{table}\n\nEsc goes back.", markup=False)
