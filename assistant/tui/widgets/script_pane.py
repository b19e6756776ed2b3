"""The script and the files beside it, as they would be saved."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static, TabbedContent, TabPane, TextArea

from assistant.drawing import files
from knowledge.types import LaunchBundle

NOTHING = "No script yet. It appears here as soon as one is made."


class Code(TextArea):
    """Read only; the keys that edit do nothing, the ones that move and select work."""

    def __init__(self, text: str, language: str | None) -> None:
        super().__init__(text, language=language, read_only=True, compact=True, soft_wrap=False, show_line_numbers=True)


class ScriptPane(Vertical):
    """One tab a file; no tabs while there is only the script."""

    bundle: LaunchBundle | None = None

    def compose(self) -> ComposeResult:
        yield Static(NOTHING)

    async def show(self, bundle: LaunchBundle | None) -> None:
        self.bundle = bundle
        await self.remove_children()
        if bundle is None:
            await self.mount(Static(NOTHING))
        elif not bundle.files:
            await self.mount(Code(bundle.script, "bash"))
        else:
            panes = [TabPane(name, Code(text, "bash" if name == bundle.name else None)) for name, text in files(bundle)]
            tabs = TabbedContent()
            await self.mount(tabs)
            for pane in panes:
                await tabs.add_pane(pane)

    def next_file(self) -> str:
        """Go to the next tab and give its name; empty after the last one, where the first comes again."""
        for tabs in self.query(TabbedContent):
            panes = list(tabs.query(TabPane))
            place = next((i for i, pane in enumerate(panes) if pane.id == tabs.active), 0) + 1
            tabs.active = str(panes[place % len(panes)].id)
            return files(self.bundle)[place][0] if self.bundle and place < len(panes) else ""
        return ""

    @property
    def code(self) -> Code:
        """The text that is in sight."""
        for tabs in self.query(TabbedContent):
            if tabs.active_pane:
                return tabs.active_pane.query_one(Code)
        return self.query_one(Code)
