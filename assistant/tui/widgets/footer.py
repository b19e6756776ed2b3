"""The keys that work now, in one line."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

# What is left out first where there is no room for all: F1 tells them, and the pane that is open has its own.
SPARED = ("log", "details", "save", "script")
AROUND = 3


class Keys(Footer):
    """Textual's footer cuts off what does not fit, and with it the way out."""

    def compose(self) -> ComposeResult:
        keys = list(super().compose())
        for action in SPARED:
            if sum(map(width, keys)) <= self.app.size.width:
                break
            keys = [key for key in keys if not (isinstance(key, FooterKey) and key.action == action)]
        self.styles.grid_size_columns = len(keys)
        yield from keys


def width(key: Widget) -> int:
    """Columns: the key, what it does, and the blanks around them."""
    return len(key.key_display) + len(key.description) + AROUND if isinstance(key, FooterKey) else 0
