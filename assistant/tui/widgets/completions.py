"""The list above the box while a command or a file name is typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from assistant.tui.completing import CompletionItem


class Completions(OptionList, can_focus=False):
    """Never takes the focus: the box hands it the keys."""

    candidates: tuple[CompletionItem, ...] = ()

    def on_mount(self) -> None:
        self.display = False

    def offer(self, candidates: Sequence[CompletionItem]) -> None:
        """Show them; hide where there are none."""
        self.candidates = tuple(candidates)
        self.clear_options()
        width = max((len(candidate.value) for candidate in candidates), default=0)
        self.add_options(
            Option(Content.assemble(f"{one.value:<{width}}", "  ", (one.note, "$text-muted"))) for one in candidates
        )
        self.display = bool(candidates)
        self.highlighted = 0 if candidates else None

    @property
    def chosen(self) -> CompletionItem | None:
        """The one that is marked, while the list is in sight."""
        if not self.display or self.highlighted is None:
            return None
        return self.candidates[self.highlighted]
