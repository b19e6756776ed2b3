"""What a rule is, and what it gives: hits, which become findings, and edits, which cure the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from knowledge.types import Severity

if TYPE_CHECKING:
    from graph.extraction.launch_shape import LaunchShape
    from graph.verification.checks.subject import Subject

Family = Literal["directives", "limits", "launch", "rendezvous", "environment", "shell"]
Change = tuple[tuple[str, str | int | None], ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines first to last (from 1, both in) become `lines`. last = first - 1: the lines go in before first."""

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that a rule found. why, source and severity stand in for the rule's own where they are given."""

    line: int
    says: str
    why: str = ""
    source: str | None = None
    severity: Severity | None = None
    change: Change = ()
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table: a stable id, how bad it is as a rule, what it looks for, the function, its page, why it is
    wrong."""

    id: str
    family: Family
    severity: Severity
    finds: str
    look: Callable[[Subject], Iterable[Hit]]
    source: str | None = None
    why: str = ""


def launch_rule(
    rule_id: str,
    family: Family,
    severity: Severity,
    finds: str,
    look: Callable[[Subject, LaunchShape], Iterable[Hit]],
    source: str | None = None,
    why: str = "",
) -> Rule:
    """A rule about the launch line, which it is handed: it finds nothing in a script that has none."""
    return Rule(rule_id, family, severity, finds, lambda s: look(s, s.launch) if s.launch else (), source, why)
