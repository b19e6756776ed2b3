"""`maple-chat clusters`: what is known about the machines, with sources and date."""

from __future__ import annotations

import argparse
import html
import json
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from datetime import date
from pathlib import Path
from typing import Any

from assistant.cluster_text import all_gpus, dated, describe, is_old
from assistant.errors import InputError
from graph.answering.machine_compare import COLUMNS, MachineRow, machine_rows, table_text
from knowledge.catalogue import Catalogue, catalogue
from knowledge.cluster import Cluster
from knowledge.fact_age import STALE_DAYS, stale


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="a machine, by any of its names; default: list all; or: compare, discover, check",
    )
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="after compare: the machines; none: all")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN>=VALUE", help="compare: which rows")
    parser.add_argument("--sort", metavar="COLUMN", help="compare: by this column, the largest first")
    parser.add_argument("--html", metavar="FILE", help="compare: the table as a page of its own")
    parser.add_argument("-o", "--output", metavar="FILE", help="discover: write the cluster file there")
    parser.add_argument(
        "--node-job", action="store_true", help="discover: also a one-minute job on a node; shown, and sent after a yes"
    )
    parser.add_argument("--queue", default="", help="with --node-job: its queue; default: one for debugging")
    parser.add_argument("--account", default="", help="with --node-job: its account")
    parser.add_argument("--yes", action="store_true", help="with --node-job: do not ask")
    parser.add_argument("--node-output", default="", metavar="FILE", help="discover: the output of such a job")
    parser.add_argument("--stale", action="store_true", help="the facts of NAME (or of all) older than 120 days")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> int:
    known, today = catalogue(), date.today()
    if options.name == "discover":
        return discover(options)
    if options.name == "check":
        return check_facts(options, known)
    if options.stale:
        return show_stale(options, known, today)
    if options.name == "compare":
        return compare(options, known)
    if options.machines:
        raise InputError(f"one machine at a time; side by side: `maple-chat clusters compare {options.name} ...`")
    if options.name is None:
        print(listing_json(known, today) if options.json else listing(known, today))
        return 0
    cluster = known.named(options.name)
    if options.json:
        print(json.dumps(as_json(cluster, known, today), ensure_ascii=False, indent=2))
    else:
        print(describe(cluster, known.files[cluster.id], today))
    return 0


def discover(options: argparse.Namespace) -> int:
    """Describe the machine that this runs on, from its scheduler; what nobody told is listed."""
    from assistant.discovering import discover_here

    wish = None
    if options.node_job or options.node_output:
        from assistant.node_job import NodeJobWish

        wish = NodeJobWish(queue=options.queue, account=options.account, agreed=options.yes, output=options.node_output)
    return discover_here(Path(options.output) if options.output else None, wish)


def check_facts(options: argparse.Namespace, known: Catalogue) -> int:
    """A known machine's facts against its scheduler; 1 where they differ."""
    from assistant.discovering import check_here

    if not options.machines:
        raise InputError("name the machine that this is: `maple-chat clusters check NAME`")
    return check_here(known.named(options.machines[0]))


def compare(options: argparse.Namespace, known: Catalogue) -> int:
    """The machines side by side, those that were named or all; exit 1 where no row is left."""
    found = [known.named(name) for name in options.machines]
    rows = pick_rows(machine_rows(found or known.clusters.values()), options.where, options.sort)
    if options.html:
        write_page(Path(options.html), rows)
    print(json.dumps([asdict(row) for row in rows], indent=2) if options.json else table_text(rows))
    return 0 if rows else 1


def show_stale(options: argparse.Namespace, known: Catalogue, today: date) -> int:
    """Facts older than 120 days, oldest first; exit 1 where there are some."""
    chosen = [known.named(options.name)] if options.name else known.clusters.values()
    facts = [fact for cluster in chosen for fact in stale(cluster, today)]
    facts.sort(key=lambda fact: fact.as_of)
    if options.json:
        print(json.dumps([asdict(fact) for fact in facts], ensure_ascii=False))
        return int(bool(facts))
    for fact in facts:
        print(f"{fact.as_of:<8} {fact.machine}: {fact.what} ({fact.source or 'no page'})")
    print(f"{len(facts)} facts are older than {STALE_DAYS} days; read their pages again" if facts else "none is stale")
    return int(bool(facts))


def listing(known: Catalogue, today: date) -> str:
    """A table: id, title, scheduler, date of the facts, GPUs of a node."""
    rows = [("id", "title", "scheduler", "as of", "GPUs of a node")]
    rows += [(c.id, c.title, c.scheduler, dated(c, today), all_gpus(c)) for c in known.clusters.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        "  ".join([*(f"{text:<{w}}" for text, w in zip(row, widths, strict=False)), row[4]]) for row in rows
    )


def listing_json(known: Catalogue, today: date) -> str:
    return json.dumps(
        [
            {
                "id": c.id,
                "title": c.title,
                "scheduler": c.scheduler,
                "gpus": all_gpus(c),
                "as_of": c.as_of,
                "old": is_old(c.as_of, today),
                "file": str(known.files[c.id]),
            }
            for c in known.clusters.values()
        ],
        ensure_ascii=False,
        indent=2,
    )


def as_json(cluster: Cluster, known: Catalogue, today: date) -> dict[str, object]:
    """The file's facts as read, with their file and whether they are old."""
    facts: dict[str, object] = asdict(cluster)
    return facts | {"old": is_old(cluster.as_of, today), "file": str(known.files[cluster.id])}


# The table of `clusters compare`: which rows, in which order, and as a page of HTML.


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
