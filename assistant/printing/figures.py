"""Bars drawn from the rows of a table: as SVG for a page, as PNG for Slack. A drawing is a list of boxes and words.

No chart library: what a report shows is bars, Plotly's script alone is 4.7 MB and Vega's 0.8 MB, and neither makes a
picture for Slack without a browser. These are plain elements in the page: they are there without a script, print, take
the page's colours, and each knows the rows of the table that it stands for.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape

from graph.reporting.report import Cell, Table, TableRow

WIDTH, MARGIN = 420, 6
ROW, BAR = 26, 16
LABELS, VALUES = 172, 56
SMALL, PLAIN = 12, 13
DAYS_HIGH = 220
MOST_BARS = 12
MOST_CAUSES = 7
MOST_DAYS = 120
# A bar's colours, in light: Okabe and Ito's, which colour-blind readers tell apart. The page has its own for dark.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#8a8f98")
OTHER = len(COLOURS) - 1
INK, PALE, PAPER = "#1c2430", "#5c6672", "#ffffff"


@dataclass(frozen=True, slots=True)
class Box:
    """A bar: its place, its colour by number, and the rows of the table whose value it shows."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    rows: tuple[int, ...]
    value: Cell
    says: str


@dataclass(frozen=True, slots=True)
class FigureLabel:
    """anchor: start, middle or end, as SVG names them."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: int = PLAIN
    pale: bool = False


@dataclass(frozen=True, slots=True)
class UprightLine:
    """A thin upright line: what was expected."""

    x: float
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """table: the id of that which it draws; column: the one whose values it shows."""

    table: str
    column: int
    title: str
    height: float
    boxes: tuple[Box, ...]
    words: tuple[FigureLabel, ...]
    lines: tuple[UprightLine, ...] = ()


def draw_bars(
    table: Table, column: int, title: str, *, expected: int | None = None, ranked: bool = True, only: str = ""
) -> Drawing:
    """A bar for each of the first rows, with its value; expected: a column whose value is drawn as a line.

    ranked: whether the longest comes first, else the rows are in their order. only: what the last column must say.
    """
    rows = [(index, row) for index, row in enumerate(table.rows) if not only or row.cells[-1] == only]
    if ranked:
        rows.sort(key=lambda item: -number(item[1].cells[column]))
    rows = rows[:MOST_BARS]
    room = WIDTH - LABELS - VALUES - 2 * MARGIN
    most = max((number(row.cells[column]) for _, row in rows), default=0) or 1
    boxes, words, lines = [], [], []
    for place, (index, row) in enumerate(rows):
        y, long = MARGIN + place * ROW, room * number(row.cells[column]) / most
        label, value = str(row.cells[0]), row.cells[column]
        words.append(FigureLabel(MARGIN + LABELS - 6, y + BAR - 3, cut(label, 24), "end"))
        boxes.append(Box(MARGIN + LABELS, y, max(long, 1), BAR, 0, (index,), value, f"{label}: {shown(value)}"))
        words.append(FigureLabel(MARGIN + LABELS + long + 6, y + BAR - 3, shown(value), size=SMALL))
        if expected is not None:
            x = MARGIN + LABELS + room * number(row.cells[expected]) / most
            lines.append(UprightLine(x, y - 3, BAR + 6))
    height = 2 * MARGIN + len(rows) * ROW
    return Drawing(table.id, column, title, height, tuple(boxes), tuple(words), tuple(lines))


def draw_days(table: Table, title: str) -> Drawing:
    """Days side by side, the commonest causes in their colours, the others as one."""
    sums: dict[str, float] = defaultdict(float)
    days: dict[str, list[tuple[int, TableRow]]] = defaultdict(list)
    for index, row in enumerate(table.rows):
        sums[str(row.cells[1])] += number(row.cells[2])
        days[str(row.cells[0])].append((index, row))
    for empty in days_between(sorted(days)):
        days.setdefault(empty, [])
    named = sorted(sums, key=lambda cause: (-sums[cause], cause))[:MOST_CAUSES]
    most = max((sum(number(row.cells[2]) for _, row in rows) for rows in days.values()), default=1)
    wide, left = (WIDTH - 2 * MARGIN - 28) / max(1, len(days)), MARGIN + 28
    boxes: list[Box] = []
    words = [FigureLabel(left - 5, MARGIN + 10, shown(int(most)), "end", SMALL, True)]
    words.append(FigureLabel(left - 5, MARGIN + DAYS_HIGH, "0", "end", SMALL, True))
    step = max(1, -(-len(days) // 8))
    for place, (day, rows) in enumerate(sorted(days.items())):
        y: float = MARGIN + DAYS_HIGH
        for colour, cause, these in stacked(rows, named):
            value = sum(int(number(row.cells[2])) for _, row in these)
            high = DAYS_HIGH * value / most
            y -= high
            says = f"{day}, {cause}: {value}"
            numbers = tuple(index for index, _ in these)
            boxes.append(Box(left + place * wide, y, max(wide - 2, 1), high, colour, numbers, value, says))
        if place % step == 0:
            x = min(left + (place + 0.5) * wide, WIDTH - MARGIN - 16)
            words.append(FigureLabel(x, MARGIN + DAYS_HIGH + 16, day[5:], "middle", SMALL, True))
    top = MARGIN + DAYS_HIGH + 34
    legend = [*enumerate(named), *([(OTHER, "all others")] if len(sums) > len(named) else [])]
    for place, (colour, cause) in enumerate(legend):
        x, y = MARGIN + (place % 2) * (WIDTH / 2), top + place // 2 * 20
        boxes.append(Box(x, y - 10, 11, 11, colour, (), "", cause))
        words.append(FigureLabel(x + 17, y, cut(cause, 26), size=SMALL))
    return Drawing(table.id, 2, title, top + (len(legend) + 1) // 2 * 20, tuple(boxes), tuple(words))


def days_between(days: Sequence[str]) -> list[str]:
    """The days from the first to the last, those without a failure too; at most MOST_DAYS."""
    dated = [date.fromisoformat(day) for day in days if day[:1].isdigit()]
    if not dated or (dated[-1] - dated[0]).days > MOST_DAYS:
        return []
    return [(dated[0] + timedelta(days=n)).isoformat() for n in range((dated[-1] - dated[0]).days)]


def stacked(
    rows: Sequence[tuple[int, TableRow]], named: Sequence[str]
) -> list[tuple[int, str, list[tuple[int, TableRow]]]]:
    """The rows of a day by their colour: one each for the named causes, one for the rest."""
    found = [
        (place, cause, [(i, row) for i, row in rows if row.cells[1] == cause]) for place, cause in enumerate(named)
    ]
    found.append((OTHER, "all others", [(i, row) for i, row in rows if row.cells[1] not in named]))
    return [one for one in found if one[2]]


def number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def shown(cell: Cell) -> str:
    return f"{cell:,}" if isinstance(cell, int | float) else cell


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def as_svg(drawing: Drawing) -> str:
    """The drawing as an SVG element; its colours and fonts are the page's."""
    parts = [
        f'<svg class="figure" data-table="{drawing.table}" data-column="{drawing.column}" role="group" '
        f'aria-label="{escape(drawing.title)}" viewBox="0 0 {WIDTH} {drawing.height:.0f}">'
    ]
    for box in drawing.boxes:
        place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
        told = f"<title>{escape(box.says)}</title>"
        if box.rows:
            rows = ",".join(map(str, box.rows))
            opens = f'role="button" tabindex="0" data-rows="{rows}" data-value="{box.value}"'
            parts.append(f'<rect class="mark c{box.colour}" {place} {opens}>{told}</rect>')
        else:
            parts.append(f'<rect class="c{box.colour}" {place}>{told}</rect>')
    for line in drawing.lines:
        parts.append(f'<line x1="{line.x:.1f}" x2="{line.x:.1f}" y1="{line.y:.1f}" y2="{line.y + line.height:.1f}"/>')
    for one in drawing.words:
        pale = ' class="pale"' if one.pale else ""
        at = f'x="{one.x:.1f}" y="{one.y:.1f}" font-size="{one.size}" text-anchor="{one.anchor}"'
        parts.append(f"<text{pale} {at}>{escape(one.text)}</text>")
    return "".join([*parts, "</svg>"])


def as_png(drawing: Drawing, scale: int = 2) -> bytes:
    """The drawing with its title as a picture, in light colours and Pillow's own font. Raises ImportError."""
    from PIL import Image, ImageDraw, ImageFont

    head = 30
    picture = Image.new("RGB", (WIDTH * scale, int(drawing.height + head) * scale), PAPER)
    pen = ImageDraw.Draw(picture)
    pen.text((MARGIN * scale, 6 * scale), drawing.title, INK, ImageFont.load_default(15 * scale))
    for box in drawing.boxes:
        corners = (box.x, box.y + head, box.x + box.width, box.y + box.height + head)
        pen.rectangle([value * scale for value in corners], fill=COLOURS[box.colour])
    for line in drawing.lines:
        pen.line(
            [line.x * scale, (line.y + head) * scale, line.x * scale, (line.y + head + line.height) * scale], INK, 3
        )
    for one in drawing.words:
        font = ImageFont.load_default(one.size * scale)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[one.anchor]
        place = (one.x * scale, (one.y + head) * scale)
        pen.text(place, one.text.replace("…", ".."), PALE if one.pale else INK, font, anchor=anchor)
    written = io.BytesIO()
    picture.save(written, "PNG", optimize=True)
    return written.getvalue()
