"""Applies the edits that findings carry, and checks again, until nothing more can be cured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph.verification.checks.rule import Edit
from graph.verification.checks.run import Checked, checked
from knowledge.cluster import Cluster
from knowledge.types import Finding

MOST_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Cured:
    """The text after all edits, the findings that they cured, and those that are left."""

    text: str
    cured: tuple[Finding, ...]
    left: tuple[Finding, ...]


def cure(text: str, cluster: Cluster | None) -> Cured:
    """At most five rounds: an edit may bring another finding to light. A round that makes nothing better is undone."""
    found = checked(text, cluster)
    cured: list[Finding] = []
    for _ in range(MOST_ROUNDS):
        edits = [one for one in found if one.edit is not None]
        applied = apart(edits)
        if not applied:
            break
        changed = edited(text, [one.edit for one in applied if one.edit is not None])
        after = checked(changed, cluster)
        if changed == text or weight(after) >= weight(found):
            break
        left = {(one.finding.rule, one.finding.says) for one in after}
        cured += [one.finding for one in found if (one.finding.rule, one.finding.says) not in left]
        text, found = changed, after
    return Cured(text, tuple(cured), tuple(one.finding for one in found))


def weight(found: Iterable[Checked]) -> tuple[int, int]:
    """(errors, findings): fewer errors are better, then fewer findings."""
    severities = [one.finding.severity for one in found]
    return severities.count("error"), len(severities)


def apart(found: list[Checked]) -> list[Checked]:
    """Those whose lines do not overlap with an edit taken before; the rest wait for the next round."""
    taken: list[Checked] = []
    for one in found:
        edit = one.edit
        if edit is not None and not any(overlap(edit, other.edit) for other in taken if other.edit is not None):
            taken.append(one)
    return taken


def overlap(a: Edit, b: Edit) -> bool:
    return a.first <= max(b.last, b.first) and b.first <= max(a.last, a.first)


def edited(text: str, edits: list[Edit]) -> str:
    """The text with the edits done, from the last line to the first, so that line numbers hold."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff").split("\n")
    for edit in sorted(edits, key=lambda one: -one.first):
        lines[edit.first - 1 : edit.last] = list(edit.lines)
    return "\n".join(lines)
