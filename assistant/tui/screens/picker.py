"""What a field may become, from the facts of the machine. Enter takes one; any other value can be typed."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from assistant.tui.offers import Picking


class PickerScreen(ModalScreen[str | None]):
    """The sentence that asks for the value; None on Esc. Typing narrows the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, picking: Picking, now: str, why: str) -> None:
        super().__init__()
        self.picking, self.now, self.why = picking, now, why
        self.shown = picking.offers

    def compose(self) -> ComposeResult:
        now = f"now {self.now}" + (f", {self.why}" if self.why else "") if self.now else "not said yet"
        with Vertical(classes="box"):
            yield Label(f"{self.picking.title}: {now}", markup=False)
            yield Input(placeholder="↑ ↓ and Enter, or type" if self.picking.offers else "type it, Enter takes it")
            yield OptionList()
            yield Label("Enter takes it · Esc goes back", classes="hint")

    def on_mount(self) -> None:
        self.narrow("")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        self.narrow(event.value)

    def narrow(self, text: str) -> None:
        """Show the offers that hold what was typed; the present value is marked first."""
        wanted = text.strip().lower()
        self.shown = tuple(o for o in self.picking.offers if wanted in f"{o.value} {o.note}".lower())
        width = max((len(offer.value) for offer in self.shown), default=0)
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(
            Option(Content.assemble(f"{offer.value:<{width}}  ", (offer.note, "$text-muted"))) for offer in self.shown
        )
        listed.display = bool(self.shown)
        present = next((place for place, offer in enumerate(self.shown) if offer.value == self.now), 0)
        listed.highlighted = present if self.shown else None

    def action_move(self, step: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if step > 0 else listed.action_cursor_up)()

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        typed = event.value.strip()
        exact = next((offer for offer in self.shown if offer.value == typed), None)
        place = self.query_one(OptionList).highlighted
        if exact is None and self.shown and place is not None and not typed.isdigit():
            exact = self.shown[place]
        if exact:
            self.dismiss(exact.says)
        elif typed:
            self.dismiss(self.picking.typed.format(typed))

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.shown[event.option_index].says)
