"""`knowledge sync tickets`: an export of a support system, CSV or JSON lines, one ticket a row.

Persons and secrets are masked before anything is stored: what knowledge/masking.py finds, and the names and telephone
numbers that persons.py finds. HTML and Markdown are read first: markup hides names, and would swallow placeholders.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import unescape
from pathlib import Path

from knowledge.catalogue import catalogue
from knowledge.data_file import parse_json
from knowledge.documents import Documents, SourceDocument
from knowledge.errors import InputError
from knowledge.ingest.adding import About, AddingReport, Progress, keeping, mark_of, quiet
from knowledge.ingest.chunking import chunks
from knowledge.ingest.html import read_html
from knowledge.ingest.markdown import read_markdown
from knowledge.ingest.page import Block, Page, iso_date, one_line
from knowledge.ingest.persons import persons, without_phones
from knowledge.ingest.reading import decoded, read_text
from knowledge.masking import mask
from knowledge.opening import TooLargeError, read_plain

MOST_BYTES = 500_000_000
# Counted up when more is masked: tickets that did not change are then masked again.
MASKING = 2
# Stands between the texts that are masked in one go; no reader lets it through.
MARK = "\x1e"
# What is wanted -> the names that exports give it, in lower case, the first one found is taken.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "subject", "summary", "short_description", "headline"),
    "body": ("body", "description", "question", "problem", "text", "message", "content", "details"),
    "answer": ("answer", "resolution", "solution", "close_notes", "reply", "response", "comments", "work_notes"),
    "id": ("id", "number", "key", "ticket", "ticket_id", "ticketid", "case", "issue key"),
    "date": ("closed", "resolved", "closed_at", "resolved_at", "updated", "date", "created", "created_at", "opened_at"),
    "machine": ("machine", "system", "cluster", "resource"),
}
NEEDED = ("body", "answer")
SHOWN = ("title", *NEEDED)


@dataclass(frozen=True, slots=True)
class Export:
    """A file of tickets. columns: what is wanted -> the name of its column, where the names do not tell."""

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)
    about: About = field(default_factory=lambda: About("tickets"))

    @property
    def origin(self) -> str:
        return f"tickets:{self.path.expanduser().resolve()}"


def sync(documents: Documents, export: Export, progress: Progress = quiet) -> AddingReport:
    """Read all tickets of a file; those that are no longer in it are removed. Raises InputError."""
    rows = list(rows_of(export.path))
    if not rows:
        raise InputError(f"there is no ticket in {export.path}")
    names = columns_of(dict.fromkeys(name for row in rows for name in row), export.columns)
    report, origin = AddingReport(export.origin), export.origin
    known = documents.known(origin)
    documents.begin(origin, "tickets", export.about.collection, export.about.options())
    times: Counter[str] = Counter()
    with keeping(documents, origin) as keep:
        for at, row in enumerate(rows):
            progress("tickets", at, len(rows))
            number = row.get(names.get("id", ""), "").strip() or f"row {at + 1}"
            times[number] += 1
            if times[number] > 1:  # an export with a row for each reply
                number = f"{number}, part {times[number]}"
            key = f"{origin}#{number}"
            mark = mark_of(json.dumps([MASKING, row, names], sort_keys=True).encode(), export.about)
            before = known.pop(key, None)
            if before and before.hash == mark:
                report.unchanged += 1
            elif made := document(key, number, row, names, export, mark):
                keep.put(made)
                report.read += 1
            else:
                report.empty += 1
                report.removed += documents.remove([key])
    report.removed += documents.remove(known)
    documents.finish(origin)
    return report


def document(
    key: str, number: str, row: Mapping[str, str], names: Mapping[str, str], export: Export, mark: str
) -> SourceDocument | None:
    """One ticket, masked; None where it holds no text."""
    texts = {wanted: row.get(name, "") for wanted, name in names.items()}
    if not any(texts.get(wanted, "").strip() for wanted in NEEDED):
        return None
    parts = [Block("text", one_line(unescape(texts.get("title", ""))))]
    for heading, wanted in (("Problem", "body"), ("Answer", "answer")):
        found = blocks_of(texts.get(wanted, ""))
        parts += [Block("heading", heading, 1), *found] if found else []
    shown = {names[wanted] for wanted in SHOWN if wanted in names}
    title, *blocks = without_names(parts, [(name, value) for name, value in row.items() if name not in shown])
    page = Page(title.text or f"Ticket {number}", tuple(blocks))
    about = export.about
    return SourceDocument(
        key=key,
        source=f"ticket {number} ({export.path.name})",
        collection=about.collection,
        title=page.title,
        chunks=chunks(page),
        hash=mark,
        date=iso_date(texts.get("date", "")),
        machine=about.machine or machine_of(texts.get("machine", "")),
        scheduler=about.scheduler,
        framework=about.framework,
    )


def without_names(blocks: list[Block], fields: Iterable[tuple[str, str]]) -> list[Block]:
    """The blocks masked in one go, so that what one of them tells is masked in all. fields: the other columns."""
    known = persons(fields, ["\n\n".join(block.text for block in blocks)])
    whole = f"\n\n{MARK}\n\n".join(without_phones(block.text) for block in blocks)
    texts = mask(whole, known).text.split(MARK)
    return [replace(block, text=text.strip("\n")) for block, text in zip(blocks, texts, strict=True)]


@lru_cache(maxsize=1000)
def machine_of(name: str) -> str:
    """A machine as the catalogue calls it, or else the name in lower case."""
    found = catalogue().find(name) if name.strip() else None
    return found.id if found else name.strip().lower()


def blocks_of(text: str) -> list[Block]:
    """A ticket's text: HTML or Markdown where it is that, else mail, line by line. It has no headings of its own."""
    if re.search(r"<(?:p|div|br|html|pre|table)\b[^>]{0,200}>", text, re.IGNORECASE):
        page = read_html(text)
    else:
        page = read_markdown(text) if "```" in text else read_text(text)
    return [Block("text", block.text) if block.kind == "heading" else block for block in page.blocks]


def columns_of(present: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """Which column holds what. Raises InputError when none holds the problem."""
    lower = {name.strip().lower(): name for name in present}
    chosen: dict[str, str] = {}
    for wanted, usual in COLUMNS.items():
        if wanted in given:
            if given[wanted].lower() not in lower:
                raise InputError(f"there is no column '{given[wanted]}'; there are: {', '.join(lower.values())[:200]}")
            chosen[wanted] = lower[given[wanted].lower()]
        elif found := next((lower[name] for name in usual if name in lower), None):
            chosen[wanted] = found
    unknown = [name for name in given if name not in COLUMNS]
    if unknown:
        raise InputError(f"--columns knows no '{unknown[0]}'; it takes {', '.join(COLUMNS)}")
    if "body" not in chosen:
        raise InputError(
            f"no column tells the problem; name it: --columns body=NAME (there are: {', '.join(lower.values())[:200]})"
        )
    return chosen


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """The tickets of a file, by its ending. Raises InputError with the line that is wrong."""
    try:
        text = decoded(read_plain(path, MOST_BYTES))
    except TooLargeError as error:
        raise InputError(f"{path} is larger than {MOST_BYTES // 1_000_000} MB; split it") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        yield from json_rows(text, path)
    else:
        yield from csv_rows(text)


def csv_rows(text: str) -> Iterator[dict[str, str]]:
    """Comma, semicolon or tab, as the first line tells."""
    head = text.split("\n", 1)[0]
    mark = max(",;\t", key=head.count)
    csv.field_size_limit(10_000_000)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        for row in rows:
            yield {str(name): value for name, value in row.items() if isinstance(value, str)}
    except csv.Error as error:
        raise InputError(f"line {rows.line_num} is no CSV ({error}); correct it, then give the same command") from error


def json_rows(text: str, path: Path) -> Iterator[dict[str, str]]:
    # Not splitlines: JSON lets U+2028 and U+0085 stand in a text as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number} is no JSON; one ticket a line is read") from error
        if not isinstance(value, dict):
            raise InputError(f"{path}, line {number} is no JSON object; one ticket a line is read")
        yield {str(name): as_text(item) for name, item in value.items() if item is not None}


def as_text(value: object) -> str:
    """A field as text; the parts of a list below each other."""
    if isinstance(value, list):
        return "\n\n".join(map(as_text, value))
    if isinstance(value, dict):
        return "\n".join(as_text(item) for item in value.values())
    return str(value)
