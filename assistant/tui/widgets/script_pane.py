"""The script and the files beside it, as they would be saved, with what the checks say beside the lines."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widgets import OptionList, Static, TabbedContent, TabPane, TextArea
from textual.widgets.option_list import Option

from assistant.saving import files
from knowledge.printable import printable
from knowledge.types import Finding, LaunchBundle, Severity

NOTHING = "No script yet. It appears here as soon as one is made."
MARKS: dict[Severity, str] = {"error": "✗", "warning": "!", "info": "i"}
COLOURS: dict[Severity, str] = {"error": "$text-error", "warning": "$text-warning", "info": "$text-muted"}
CHANGES = "changes"


class CodeView(TextArea):
    """Read only; the keys that edit do nothing, the ones that move and select work.

    marks: line (from 0) -> the worst severity there, shown between its number and its text.
    """

    marks: Mapping[int, Severity] = {}

    def __init__(self, text: str, language: str | None) -> None:
        super().__init__(text, language=language, read_only=True, compact=True, soft_wrap=False, show_line_numbers=True)

    def mark(self, marks: Mapping[int, Severity]) -> None:
        self.marks = marks
        self._line_cache.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        severity = self.marks.get(y + self.scroll_offset.y)
        if severity is None:
            return strip
        place = self.gutter_width - 2
        style = Style.parse("bold red" if severity == "error" else "bold yellow" if severity == "warning" else "bold")
        marked = Strip([Segment(MARKS[severity], style)])
        return Strip.join([strip.crop(0, place), marked, strip.crop(place + 1)])

    def go(self, line: int) -> None:
        """Bring a line (from 1) into sight."""
        self.move_cursor((line - 1, 0), center=True)


class ScriptPane(Vertical):
    """One tab a file, and one for what the last revision changed; no tabs while there is only the script."""

    bundle: LaunchBundle | None = None
    before: LaunchBundle | None = None
    findings: tuple[Finding, ...] = ()

    def compose(self) -> ComposeResult:
        yield Static(NOTHING)

    async def show(self, bundle: LaunchBundle | None, before: LaunchBundle | None = None) -> None:
        """before: the script that this one takes the place of, for the changes."""
        self.bundle, self.before, self.findings = bundle, before, ()
        await self.remove_children()
        if bundle is None:
            await self.mount(Static(NOTHING))
            return
        texts = [
            (name, printable(text))
            for name, text in (*files(bundle), (CHANGES, self.changes))
            if name != CHANGES or text
        ]
        if len(texts) == 1:
            await self.mount(CodeView(texts[0][1], "bash"))
        else:
            tabs = TabbedContent()
            await self.mount(tabs)
            for name, text in texts:
                await tabs.add_pane(TabPane(name, Changes(text) if name == CHANGES else CodeView(text, language(name))))
        await self.mount(OptionList(id="findings"))
        self.query_one("#findings").display = False

    @property
    def changes(self) -> str:
        """What the last revision changed, over all files."""
        if self.before is None or self.bundle is None or self.before == self.bundle:
            return ""
        old, new = dict(files(self.before)), dict(files(self.bundle))
        if self.before.name != self.bundle.name:  # another name, the same role
            old[self.bundle.name] = old.pop(self.before.name)
        return "\n".join(
            line.rstrip("\n")
            for name in dict.fromkeys((*new, *old))
            for line in difflib.unified_diff(
                old.get(name, "").splitlines(), new.get(name, "").splitlines(), f"{name} before", name, "", "", 3, ""
            )
        )

    def tell(self, findings: Sequence[Finding]) -> None:
        """Mark the lines that the checks speak of, and list what they say."""
        self.findings = tuple(findings)
        worst: dict[int, Severity] = {}
        for finding in sorted(findings, key=lambda one: list(MARKS).index(one.severity), reverse=True):
            worst[finding.line - 1] = finding.severity
        for code in list(self.query(CodeView))[:1]:
            code.mark(worst)
        for listed in self.query("#findings").results(OptionList):
            listed.clear_options()
            listed.add_options(Option(in_a_line(finding)) for finding in findings)
            listed.display = bool(findings)

    @on(OptionList.OptionSelected, "#findings")
    def go_to(self, event: OptionList.OptionSelected) -> None:
        finding = self.findings[event.option_index]
        for tabs in self.query(TabbedContent):
            tabs.active = str(tabs.query(TabPane).first().id)
        if finding.line:
            self.query(CodeView).first().go(finding.line)

    def next_file(self) -> str:
        """Go to the next tab and give its name; empty after the last one, where the first comes again."""
        for tabs in self.query(TabbedContent):
            panes = list(tabs.query(TabPane))
            place = next((i for i, pane in enumerate(panes) if pane.id == tabs.active), 0) + 1
            tabs.active = str(panes[place % len(panes)].id)
            return str(panes[place]._title) if place < len(panes) else ""
        return ""

    def toggle_changes(self) -> bool:
        """Show what changed, or the script again; False where nothing did."""
        for tabs in self.query(TabbedContent):
            panes = list(tabs.query(TabPane))
            if self.changes:
                shown = tabs.active == panes[-1].id
                tabs.active = str((panes[0] if shown else panes[-1]).id)
                return True
        return False

    @property
    def code(self) -> TextArea:
        """The text that is in sight."""
        for tabs in self.query(TabbedContent):
            if tabs.active_pane:
                return tabs.active_pane.query_one(TextArea)
        return self.query_one(TextArea)


class Changes(TextArea):
    """A difference: lines that came, in green, and lines that went, in red."""

    def __init__(self, text: str) -> None:
        super().__init__(text, read_only=True, compact=True, soft_wrap=False)

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        line = self.document.get_line(row) if row < self.document.line_count else ""
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        return strip.apply_style(Style.parse(colour)) if colour else strip


def language(name: str) -> str | None:
    """Colours for shell; the parsers of other languages are not installed."""
    return "bash" if name.endswith(".sh") else None


def in_a_line(finding: Finding) -> Content:
    where = f"line {finding.line}: " if finding.line else ""
    mark = (f"{MARKS[finding.severity]} ", COLOURS[finding.severity])
    return Content.assemble(mark, f"{where}{finding.says} ", (f"[{finding.rule}]", "$text-muted"))
