"""A report as one HTML page: figures, tables, and the failed jobs behind every number. It asks nothing of a network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from html import escape
from pathlib import Path

from assistant.printing.figures import Drawing, as_svg, draw_bars, draw_days, shown
from graph.debugging.log import printable
from graph.reporting.report import BLAMED, FailureReport, Table
from knowledge.job_record import JobRecord

HERE = Path(__file__).parent
# A page with more jobs is slow on a phone; the table beside it holds all.
MOST_JOBS = 50_000
# More rows than these are folded away.
FEW_ROWS = 12
COLUMNS = ("Job", "Cause", "Line", "Ended", "Hours", "GPUs", "State", "Nodes", "Queue", "User", "Account", "Files")
NODES = "Nodes beyond chance (line: expected)"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}"><meta name="generator" content="maple-chat report">
<title>{title}</title><style>
{style}</style></head><body>
<h1>{title}</h1><p class="pale">{span}</p>
<ul class="numbers">{numbers}</ul>
<ul class="findings">{findings}</ul>
<div class="grid">{cards}</div>
{wide}
<section id="jobs" class="card" hidden><header><h2></h2><button id="close">close</button></header>
<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody></tbody></table></div>
<button id="more">more</button></section>
<p class="says">{notes}</p>
<script type="application/json" id="data">{data}</script><script>
{script}</script></body></html>
"""


def drawings(report: FailureReport) -> list[Drawing]:
    """The figures of a report, in the order of the page."""
    have = {table.id: table for table in report.tables}
    wanted: tuple[tuple[str, Callable[[Table], Drawing]], ...] = (
        ("days", lambda table: draw_days(table, "Failed jobs by day and cause")),
        ("causes", lambda table: draw_bars(table, 3, "GPU hours lost, by cause")),
        ("causes", lambda table: draw_bars(table, 1, "Failed jobs, by cause")),
        ("nodes", lambda table: draw_bars(table, 3, NODES, expected=4, only=BLAMED)),
        ("lengths", lambda table: draw_bars(table, 1, "Time to failure, failed jobs", ranked=False)),
        ("queues", lambda table: draw_bars(table, 1, "Failed jobs, by queue")),
        ("frameworks", lambda table: draw_bars(table, 1, "Failed jobs, by framework")),
        ("groups", lambda table: draw_bars(table, 1, "Failed jobs, by account")),
        ("checks", lambda table: draw_bars(table, 1, "Known before submission, by rule of check")),
    )
    made = [draw(have[name]) for name, draw in wanted if name in have]
    return [one for one in made if one.boxes]


def page(report: FailureReport) -> str:
    """The page's text. It holds the records of failed jobs, at most MOST_JOBS of them (the latest)."""
    figures = drawings(report)
    drawn = {figure.table for figure in figures}
    cards = "".join(card(figure, report.table(figure.table), figures) for figure in figures)
    wide = "".join(
        wide_table(table)
        for table in report.tables
        if table.id in ("nodes", "new", "unknown", "users") or table.id not in drawn
    )
    return PAGE.format(
        policy=POLICY,
        title="Failed jobs",
        style=(HERE / "report.css").read_text(),
        script=(HERE / "report.js").read_text(),
        span=escape(f"{span_of(report)} Click a number, a bar or a row for its jobs."),
        numbers="".join(headline(report)),
        findings="".join(f'<li><a href="#{table}">{marked_up(says)}</a></li>' for says, table in report.findings),
        cards=cards,
        wide=wide,
        heads="".join(f"<th>{name}</th>" for name in COLUMNS),
        notes="<br>".join(escape(one) for one in (*report.notes, *left_out(report))),
        data=embedded(report),
    )


def span_of(report: FailureReport) -> str:
    if report.first is None or report.last is None:
        return f"{report.jobs:,} jobs; no times are known."
    first, last = (datetime.fromtimestamp(at).strftime("%d %b %Y %H:%M") for at in (report.first, report.last))
    return f"Jobs that ended from {first} to {last}."


def numbers(report: FailureReport) -> list[tuple[str, str]]:
    """The first screen's numbers, each with its words."""
    share = 100 * len(report.failed) / report.jobs if report.jobs else 0
    lost = 100 * report.gpu_hours_lost / report.gpu_hours if report.gpu_hours else 0
    unknown = sum(1 for one in report.failed if one.cause == "unknown")
    return [
        (f"{report.jobs:,}", "jobs"),
        (f"{len(report.failed):,}", f"failed ({share:.1f} %)"),
        (f"{report.gpu_hours_lost:,.0f}", f"GPU hours in them ({lost:.1f} % of all)"),
        (f"{unknown:,}", "of unknown cause"),
        (f"{report.cancelled:,}", "cancelled (not counted)"),
    ]


def headline(report: FailureReport) -> Iterator[str]:
    """The first screen's numbers; those of failed jobs open them, by the rows of the table of causes."""
    causes = next((table.rows for table in report.tables if table.id == "causes"), ())
    every = ",".join(str(n) for n, _ in enumerate(causes))
    unknown = ",".join(str(n) for n, row in enumerate(causes) if row.cells[0] == "unknown")
    for (value, what), rows in zip(numbers(report), ("", every, every, unknown, ""), strict=True):
        opens = f' data-table="causes" data-rows="{rows}" tabindex="0" role="button"' if rows else ""
        yield f"<li{opens}><b>{value}</b>{escape(what)}</li>"


def left_out(report: FailureReport) -> list[str]:
    extra = len(report.failed) - MOST_JOBS
    return (
        [f"The {extra:,} earliest failed jobs are counted, and listed only in the table beside this page."]
        if extra > 0
        else []
    )


def card(figure: Drawing, table: Table, figures: Sequence[Drawing]) -> str:
    """A figure, and below it its table, with the first figure that draws it."""
    first = next(one for one in figures if one.table == figure.table) is figure
    below = f"<details><summary>as a table</summary>{rows_of(table)}</details>" if first and table.id != "nodes" else ""
    name = f' id="{table.id}"' if first and table.id != "nodes" else ""
    return f'<section class="card"{name}><h2>{escape(figure.title)}</h2>{as_svg(figure)}{below}</section>'


def wide_table(table: Table) -> str:
    """A table of its own, with what its numbers mean; a long one is folded away."""
    says = f'<p class="says">{escape(table.says)}</p>' if table.says else ""
    rows = rows_of(table)
    if len(table.rows) > FEW_ROWS:
        rows = f"<details><summary>{len(table.rows)} rows</summary>{rows}</details>"
    return f'<section class="card" id="{table.id}"><h2>{escape(table.title)}</h2>{says}{rows}</section>'


def rows_of(table: Table) -> str:
    kinds = [kind_of(table, place) for place in range(len(table.columns))]
    heads = "".join(f'<th class="{kind}">{escape(name)}</th>' for kind, name in zip(kinds, table.columns, strict=True))
    body = []
    for index, row in enumerate(table.rows):
        cells = "".join(
            f'<td class="{kind}">{escape(printable(shown(cell)))}</td>'
            for kind, cell in zip(kinds, row.cells, strict=True)
        )
        body.append(f'<tr data-row="{index}" tabindex="0">{cells}</tr>')
    whole = f'<div class="scroll"><table data-table="{table.id}"><thead><tr>{heads}</tr></thead><tbody>'
    return whole + "".join(body) + "</tbody></table></div>"


def kind_of(table: Table, place: int) -> str:
    """How a column is set: numbers to the right, lines of logs in the letters of a terminal."""
    if table.columns[place] in ("Example line", "Line"):
        return "line"
    return "" if any(isinstance(row.cells[place], str) and row.cells[place] for row in table.rows) else "number"


def marked_up(text: str) -> str:
    """Safe for a page; what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(printable(text)))


def embedded(report: FailureReport) -> str:
    """The failed jobs by columns, words once each, and the jobs of each row of each table, as JSON fit for a page."""
    first = max(0, len(report.failed) - MOST_JOBS)
    rows = [values_of(one) for one in report.failed[first:]]
    values: list[list[str | int | float]] = []
    words: list[list[str | int | float] | None] = []
    for column in zip(*rows, strict=True) if rows else ():
        if all(isinstance(value, int | float) for value in column):
            values.append(list(column))
            words.append(None)
            continue
        places = {value: place for place, value in enumerate(dict.fromkeys(column))}
        values.append([places[value] for value in column])
        words.append(list(places))
    tables = {
        table.id: [[job - first for job in row.jobs if job >= first] for row in table.rows] for table in report.tables
    }
    whole = {"columns": COLUMNS, "values": values, "words": words, "tables": tables}
    return json.dumps(whole, separators=(",", ":")).replace("<", "\\u003c")


def values_of(one: JobRecord) -> tuple[str | int | float, ...]:
    ended = "" if one.ended is None else datetime.fromtimestamp(one.ended).strftime("%Y-%m-%d %H:%M")
    nodes = ", ".join(one.nodes[:8]) + (f" and {len(one.nodes) - 8} more" if len(one.nodes) > 8 else "")
    told = (
        *(one.job, one.cause, one.line, ended, round((one.seconds or 0) / 3600, 2), one.gpus or 0, one.state, nodes),
        *(one.queue, one.user, one.account, one.source),
    )
    return tuple(printable(value) if isinstance(value, str) else value for value in told)
