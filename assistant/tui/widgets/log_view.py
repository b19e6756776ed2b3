"""A log of any size on the screen: only the lines in sight are read."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from assistant.tui.logfile import LONGEST, LogFile
from assistant.tui.work.found import TroubleSign
from knowledge.printable import printable

MARKS = {True: "▶", False: "•"}


class LogView(ScrollView, can_focus=True):
    """Lines with their numbers, the telling ones marked. `only` holds the numbers of the lines that are shown."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"log--number", "log--hit", "log--telling", "log--here"}

    def __init__(self) -> None:
        super().__init__()
        self.log_file: LogFile | None = None
        self.hits: Mapping[int, TroubleSign] = {}
        self.only: array[int] | None = None
        self.here = 0
        self.cached: tuple[int, list[bytes]] = (0, [])

    def open(self, file: LogFile | None) -> None:
        self.log_file, self.only, self.hits, self.here = file, None, {}, 0
        self.grown()
        self.scroll_to(0, 0, animate=False)

    def grown(self) -> None:
        """More lines are known, or other ones are shown."""
        self.cached = (0, [])
        self.virtual_size = Size(LONGEST if self.log_file else 0, self.count)
        self.refresh()

    @property
    def count(self) -> int:
        if self.log_file is None:
            return 0
        return self.log_file.lines if self.only is None else len(self.only)

    def place_of(self, line: int) -> int:
        """The row of a line; of the next one that is shown where it is filtered out."""
        return line - 1 if self.only is None else bisect_left(self.only, line)

    def go(self, line: int) -> None:
        """Bring a line into the upper third of the view, and mark it."""
        self.here = line
        if self.virtual_size.height != self.count:  # the index runs in a thread: it may know more than was drawn
            self.grown()
        self.scroll_to(0, max(0, self.place_of(line) - self.size.height // 3), animate=False, force=True)
        self.refresh()

    def line_of(self, row: int) -> int:
        return row + 1 if self.only is None else self.only[row]

    def text_of(self, row: int) -> bytes:
        """A line of the window that is cached; the window follows the view."""
        if self.log_file is None:
            return b""
        if self.only is not None:
            return self.log_file.line(self.only[row])
        first, lines = self.cached
        if not first <= row < first + len(lines):
            first = int(self.scroll_offset.y)
            lines = self.log_file.window(first + 1, self.size.height + 1)
            self.cached = (first, lines)
        return lines[row - first] if first <= row < first + len(lines) else b""

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        row, width = scroll_y + y, self.size.width
        base = self.rich_style
        if row >= self.count:
            return Strip.blank(width, base)
        number = self.line_of(row)
        hit = self.hits.get(number)
        digits = len(str(self.log_file.lines if self.log_file else 0))
        gutter = f"{number:>{digits}} {MARKS[hit.telling > 0] if hit else ' '} "
        style = base + self.style_of(number, hit)
        text = Strip([Segment(shown(self.text_of(row)), style)])
        body = text.crop_extend(scroll_x, scroll_x + max(0, width - len(gutter)), style)
        marked = base + self.get_component_rich_style("log--number", partial=True)
        return Strip.join([Strip([Segment(gutter, style if hit else marked)]), body])

    def style_of(self, number: int, hit: TroubleSign | None) -> Style:
        name = (
            "log--here" if number == self.here else "log--telling" if hit and hit.telling else "log--hit" if hit else ""
        )
        return self.get_component_rich_style(name, partial=True) if name else Style()


# A line of a log as a terminal may show it.


def shown(raw: bytes) -> str:
    """The text, its indentation kept, without what could move the cursor or fool the eye."""
    return printable(raw.rstrip(b"\r").decode("utf-8", "replace"), " ").expandtabs(8)
