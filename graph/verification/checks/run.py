"""Runs the rules over a text: what a person reads (findings), and what --fix applies (edits)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from graph.verification.checks.rule import Edit, Hit, Rule
from graph.verification.checks.subject import Subject, read_subject
from graph.verification.checks.table import RULES
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Finding

LOG = logging.getLogger(__name__)
SEVERITIES = ("error", "warning", "info")
UNREAD = "script-unread"


@dataclass(frozen=True, slots=True)
class Checked:
    """A finding, and the edit of the text that cures it where there is one."""

    finding: Finding
    edit: Edit | None = None


def check(text: str, cluster: Cluster | None) -> list[Finding]:
    """What is wrong with a script on a machine (None: any), worst first. An empty list means fine. Never raises."""
    return [one.finding for one in checked(text, cluster)]


def checked(text: str, cluster: Cluster | None) -> list[Checked]:
    """The same with the edits."""
    try:
        subject = read_subject(text, cluster)
    except InputError as error:
        why = "nothing could be checked"
        return [Checked(Finding(UNREAD, "error", 0, str(error), why))]
    except RecursionError:
        return [
            Checked(
                Finding(UNREAD, "error", 0, "the script is nested too deeply to be read", "nothing could be checked")
            )
        ]
    found = [one for rule in RULES for one in apply(rule, subject)]
    unique = list({(one.finding.rule, one.finding.line, one.finding.says): one for one in found}.values())
    return sorted(unique, key=lambda one: (SEVERITIES.index(one.finding.severity), one.finding.line, one.finding.rule))


def apply(rule: Rule, subject: Subject) -> Iterator[Checked]:
    """One rule. A fault in it must not cost a person the other rules: it is logged, and said as info."""
    try:
        hits = list(rule.look(subject))
    except Exception as error:
        LOG.exception("rule %s failed", rule.id)
        says = f"the rule {rule.id} could not read this script ({type(error).__name__})"
        yield Checked(
            Finding(
                "rule-failed", "info", 0, says, "a fault of the rule, not of your script; the other rules were applied"
            )
        )
        return
    for hit in hits:
        yield Checked(finding(rule, hit), hit.edit)


def finding(rule: Rule, hit: Hit) -> Finding:
    severity = hit.severity or rule.severity
    return Finding(rule.id, severity, hit.line, hit.says, hit.why, hit.source or rule.source, hit.change)
