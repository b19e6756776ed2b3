"""The table of `clusters compare`: which rows, in which order, and as a page of HTML."""

from __future__ import annotations

import html
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from assistant.errors import InputError
from graph.answering.machine_compare import COLUMNS, MachineRow

NAMES = tuple(field.name for field in fields(MachineRow))
CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|!=|=|>|<)\s*(.+?)\s*")
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "!=": operator.ne,
}
STYLE = (
    "body{font:14px system-ui,sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{padding:.3em .7em;border-bottom:1px solid #ccc;text-align:left;white-space:nowrap}th{cursor:pointer}"
)
# A click on a column's head sorts by it, numbers as numbers.
SORTING = (
    "document.querySelectorAll('th').forEach((head,at)=>head.onclick=()=>{const body=document.querySelector('tbody');"
    "const value=row=>{const text=row.cells[at].textContent.replaceAll(',','');return isNaN(text)?text:+text};"
    "[...body.rows].sort((a,b)=>value(a)<value(b)?1:-1).forEach(row=>body.append(row))})"
)


def pick_rows(rows: Iterable[MachineRow], conditions: Sequence[str], column: str | None) -> list[MachineRow]:
    """The rows for which every condition (`gb>=64`, `internet=yes`) holds, sorted with the largest first.

    What is not known holds no condition and comes last. Raises InputError on a column that there is not.
    """
    picked = [row for row in rows if all(_holds(row, text) for text in conditions)]
    if column is None:
        return picked
    _check(column)
    known = [row for row in picked if getattr(row, column) is not None]
    numbers = sorted(known, key=lambda row: getattr(row, column), reverse=not isinstance(_first(known, column), str))
    return [*numbers, *(row for row in picked if getattr(row, column) is None)]


def _first(rows: Sequence[MachineRow], column: str) -> object:
    return getattr(rows[0], column) if rows else None


def _check(column: str) -> None:
    if column not in NAMES:
        raise InputError(f"no column '{column[:30]}'; there are {', '.join(NAMES)}")


def _holds(row: MachineRow, text: str) -> bool:
    found = CONDITION.fullmatch(text)
    if not found:
        raise InputError(f"'{text[:40]}' is no condition: write gb>=64, internet=yes or scheduler=slurm")
    column, sign, wanted = found.groups()
    _check(column)
    value = getattr(row, column)
    if value is None:
        return False
    if isinstance(value, str):
        return TESTS[sign](value.lower(), wanted.lower())
    try:
        return TESTS[sign](float(value), float(wanted))
    except ValueError as error:
        raise InputError(f"'{column}' is a number: '{wanted[:20]}' is none") from error


def write_page(path: Path, rows: Sequence[MachineRow]) -> None:
    """The table as one HTML file without anything from elsewhere. Raises InputError where it cannot be written."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name, _ in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell(row))}</td>" for _, cell in COLUMNS) + "</tr>\n" for row in rows
    )
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Machines compared</title>'
        f"<style>{STYLE}</style></head>\n<body><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
        f"<p>? is what the facts do not say. TFLOP/s: dense peak in 16 bit.</p>"
        f"<script>{SORTING}</script></body></html>\n"
    )
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); give another file") from error
