"""The request as it stands, one chip a field: known, assumed (~) and missing (?). Enter on one opens the picker."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import HorizontalScroll
from textual.message import Message
from textual.widgets import Static

from assistant.drawing import chip_text
from assistant.events import Chip, Known

EMPTY = "Nothing is decided yet. F5 picks a machine."
UNITS = {"nodes": "nodes", "gpus_per_node": "GPUs/node", "total_gpus": "GPUs"}
# What can be picked before anything was said.
FIRST = (
    Chip("machine", "", "missing"),
    Chip("framework", "", "missing"),
    Chip("strategy", "", "missing"),
    Chip("nodes", "", "missing"),
)
OPTIONAL = ("queue", "walltime", "account")


class ChipView(Static, can_focus=True):
    """One field. The marks say what the colours say, for terminals and people without colours."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "pick", "Pick"),
        Binding("left", "app.focus_previous", "Chips", key_display="← →"),
        Binding("right", "app.focus_next", "Next", show=False),
    ]

    class Picked(Message):
        """The person wants to change this field."""

        def __init__(self, chip: Chip) -> None:
            super().__init__()
            self.chip = chip

    class Seen(Message):
        """The focus is on it: why it has its value."""

        def __init__(self, chip: Chip) -> None:
            super().__init__()
            self.chip = chip

    def __init__(self, chip: Chip) -> None:
        super().__init__(label(chip), markup=False, classes=chip.state)
        self.chip = chip
        self.tooltip = chip.why or None

    def action_pick(self) -> None:
        self.post_message(self.Picked(self.chip))

    def on_click(self) -> None:
        self.action_pick()

    def on_focus(self, event: events.Focus) -> None:
        self.post_message(self.Seen(self.chip))


class Chips(HorizontalScroll, can_focus=False):
    """One line."""

    def __init__(self) -> None:
        super().__init__()
        self.known: tuple[Chip, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(EMPTY, id="no-chips")

    @property
    def chips(self) -> tuple[Chip, ...]:
        """What is known, and what a person may still want to set."""
        if not self.known:
            return FIRST
        fields = {chip.field for chip in self.known}
        return (*self.known, *(Chip(name, "", "missing") for name in OPTIONAL if name not in fields))

    async def show(self, known: Known | None) -> None:
        chips = tuple(map(without_placeholder, known.chips)) if known else ()
        self.known = chips if any(chip.value for chip in chips) else ()
        await self.remove_children()
        if self.known:
            await self.mount(
                *(ChipView(chip) for chip in self.chips if chip.field not in OPTIONAL or chip in self.known)
            )
        else:
            await self.mount(Static(EMPTY, id="no-chips"))

    async def enter(self) -> None:
        """Put the focus on the first chip that is missing, else on the first."""
        if not self.query(ChipView):
            await self.remove_children()
            await self.mount(*(ChipView(chip) for chip in FIRST))
        elif len(self.query(ChipView)) < len(self.chips):
            shown = {view.chip.field for view in self.query(ChipView)}
            await self.mount(*(ChipView(chip) for chip in self.chips if chip.field not in shown))
        views = list(self.query(ChipView))
        needed = [view for view in views if view.chip.state == "missing" and view.chip.field not in OPTIONAL]
        (needed or views)[0].focus()

    @property
    def text(self) -> str:
        """All of it in a line, as it is read aloud."""
        return "  ".join(label(chip) for chip in self.known) or EMPTY

    def value(self, field: str) -> str:
        return next((chip.value for chip in self.known if chip.field == field), "")


def without_placeholder(chip: Chip) -> Chip:
    """A placeholder for the account is no account."""
    return Chip(chip.field, "", "missing") if chip.value.startswith("YOUR_") else chip


def label(chip: Chip) -> str:
    """`~4 GPUs/node`, `nodes ?`; the fields that need a name have it."""
    if chip.state == "missing":
        return chip_text(chip)
    unit = UNITS.get(chip.field, "")
    mark = "~" if chip.state == "assumed" else ""
    return f"{mark}{chip.value} {unit.replace('nodes', 'node') if chip.value == '1' else unit}".rstrip()


def why(chip: Chip) -> str:
    """A chip in words: what it is and where it came from."""
    name = chip.field.replace("_", " ")
    if chip.state == "missing":
        return f"{name}: not said yet. Enter picks one."
    if chip.state == "assumed":
        return f"{name} {chip.value}: assumed, {chip.why}. Enter picks another."
    return f"{name} {chip.value}: you said so. Enter picks another."
