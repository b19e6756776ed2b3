"""One line that shows the request as it stands: known, assumed (~) and missing (?)."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

from assistant.drawing import chip_text
from assistant.events import Chip, Known

STYLES = {"known": "bold $success", "assumed": "$warning", "missing": "$text-muted"}
EMPTY = "Nothing is decided yet."
CORE = frozenset({"machine", "framework", "strategy", "nodes", "gpus_per_node", "total_gpus"})


class Chips(Static):
    """The marks say what the colours say, for terminals and people without colours."""

    def __init__(self) -> None:
        super().__init__(EMPTY)
        self.chips: tuple[Chip, ...] = ()

    def show(self, known: Known | None) -> None:
        self.chips = known.chips if known else ()
        shown = [chip for chip in self.chips if chip.field in CORE]
        if not any(chip.value for chip in shown):
            self.update(EMPTY)
            return
        self.update(Content("  ").join([Content.styled(chip_text(chip), STYLES[chip.state]) for chip in shown]))
        self.tooltip = "\n".join(f"{chip.field}: {chip.why}" for chip in self.chips if chip.why) or None
