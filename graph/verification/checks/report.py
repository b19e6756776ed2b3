"""Findings as a person reads them, and as JSON. What a text check cannot see is said each time."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from graph.extraction.script import read_script
from knowledge.errors import InputError
from knowledge.printable import printable
from knowledge.types import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
UNSEEN = (
    "your account, quota and the queue's state",
    "whether modules, files and environments exist",
    "the training program and its data",
    "what is computed when the job runs",
)
WIDTH = 140


def text_of(text: str, findings: Sequence[Finding], machine: str | None, notes: Iterable[str] = ()) -> str:
    """Sorted by severity and line; the last line says what the check could not see."""
    lines = text.splitlines()
    blocks = [block(one, lines) for one in ordered(findings)]
    return "\n\n".join(
        [*blocks, "\n".join([*notes, summary(findings, machine), f"Not seen: {'; '.join(unseen(text))}."])]
    )


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.line, one.rule))


def block(one: Finding, lines: Sequence[str]) -> str:
    """One finding: where, the line itself, what, why, and what would cure it."""
    where = f"line {one.line}" if one.line else "the script"
    rows = [f"{one.severity}: {where}: {sentence(one.says)}  [{one.rule}]"]
    if 0 < one.line <= len(lines) and lines[one.line - 1].strip():
        rows.append(f"  {one.line:>4} | {clean(lines[one.line - 1])[:WIDTH]}")
    rows.append(f"  why: {sentence(one.why)}")
    if one.change:
        rows.append(f"  fix: {', '.join(words_of(one))}")
    if one.source:
        rows.append(f"  see: {one.source}")
    return clean("\n".join(rows))


def words_of(one: Finding) -> list[str]:
    return [f"{name.replace('_', ' ')} {value}" for name, value in one.change]


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "'", "?")) else ".")


def clean(text: str) -> str:
    """No control characters of a stranger's script reach the terminal."""
    return printable(text, "\ufffd")


def summary(findings: Iterable[Finding], machine: str | None) -> str:
    counts = Counter(one.severity for one in findings)
    on = f"on {machine}" if machine else "without a machine's facts"
    if not counts:
        return f"Nothing found, checked {on}."
    words = [
        f"{counts[name]} {name}{'s' * (counts[name] > 1 and name != 'info')}" for name in SEVERITIES if counts[name]
    ]
    return f"{', '.join(words)}, checked {on}."


def unseen(text: str) -> list[str]:
    """What every check leaves open, and what this script leaves open: files that it reads in, counts of the run."""
    try:
        script = read_script(text)
    except InputError:
        return list(UNSEEN)
    sourced = [clean(name) for _, name in script.sourced if name]
    more = [f"what {', '.join(dict.fromkeys(sourced))} sets"] if sourced else []
    if script.training is None:
        more.append("how the training starts: no launch line is to be seen")
    return [*UNSEEN, *more]


def json_of(text: str, findings: Iterable[Finding], machine: str | None, more: Mapping[str, Any]) -> dict[str, Any]:
    found = ordered(findings)
    return {
        "machine": machine,
        "errors": sum(one.severity == "error" for one in found),
        "findings": [asdict(one) | {"change": dict(one.change)} for one in found],
        "unseen": unseen(text),
        **more,
    }


def diff(before: str, after: str, name: str, new_name: str) -> str:
    """A unified diff, fit for a terminal."""
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), name, new_name, lineterm="")
    return clean("\n".join(rows))
