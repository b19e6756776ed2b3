"""Runs the rules over a text: what a person reads (findings), and what --fix applies (edits)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from graph.extraction.directives import LONGEST_LINE
from graph.verification.checks.directive_values import is_gap
from graph.verification.checks.rule import Edit, Family, Hit, Rule
from graph.verification.checks.subject import Subject, read_subject
from graph.verification.checks.table import RULES
from graph.verification.checks.template_rules import gap_of, gaps
from graph.verification.checks.words import WORDS
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Finding

LOG = logging.getLogger(__name__)
SEVERITIES = ("error", "warning", "info")
TEMPLATE, PLACEHOLDER = "script-template", "directive-placeholder"
# What a template's gaps bring about, wherever they stand.
OF_TEMPLATES = ("shell-syntax", "directive-after-command", PLACEHOLDER)
# What is wrong with an option's name, whatever its value will be.
OF_NAMES = ("directive-unknown-option", "launch-option")
FOLLOWS: Mapping[str, Sequence[str]] = WORDS["follows"]
FOLLOWS_ANYWHERE: Mapping[str, Sequence[str]] = WORDS["follows_anywhere"]
UNREAD = "script-unread"
# Findings of one rule.
MOST_HITS = 500


@dataclass(frozen=True, slots=True)
class CheckedFinding:
    """A finding, the edit of the text that cures it where there is one, and the family of its rule."""

    finding: Finding
    edit: Edit | None = None
    family: Family | None = None


def check(text: str, cluster: Cluster | None) -> list[Finding]:
    """What is wrong with a script on a machine (None: any), worst first. An empty list means fine. Never raises."""
    return [one.finding for one in checked(text, cluster)]


def checked(text: str, cluster: Cluster | None) -> list[CheckedFinding]:
    """The same with the edits."""
    try:
        subject = read_subject(text, cluster)
    except InputError as error:
        why = "nothing could be checked"
        return [CheckedFinding(Finding(UNREAD, "error", 0, str(error), why))]
    except RecursionError:
        return [
            CheckedFinding(
                Finding(UNREAD, "error", 0, "the script is nested too deeply to be read", "nothing could be checked")
            )
        ]
    found = list(folded([one for rule in RULES for one in apply(rule, subject)], subject))
    found += unread(subject)
    unique = list({(one.finding.rule, one.finding.line, one.finding.says): one for one in found}.values())
    return sorted(unique, key=lambda one: (SEVERITIES.index(one.finding.severity), one.finding.line, one.finding.rule))


def unread(subject: Subject) -> Iterator[CheckedFinding]:
    """What was too much to be read, so that no text keeps the check busy for long."""
    if line := subject.script.unread_from:
        says = f"from line {line} on nothing was checked: the script has too many commands, words or directives"
        yield CheckedFinding(Finding(UNREAD, "warning", line, says, "honest scripts have a tenth of it"))
    long = {one.line for one in subject.script.directives if len(one.raw) == LONGEST_LINE}
    for line in sorted(long)[:1]:
        says = f"of this line only the first {LONGEST_LINE:,} characters were checked"
        yield CheckedFinding(Finding(UNREAD, "warning", line, says, "no honest directive is that long"))


def folded(found: list[CheckedFinding], subject: Subject) -> Iterator[CheckedFinding]:
    """One defect, one finding: what only follows from another, or stands on a line with a gap, is left out."""
    template = set(gaps(subject))
    holes = {one.line for one in subject.script.directives if is_gap(subject, one)}
    ids: dict[str, set[int]] = {}
    for one in found:
        ids.setdefault(one.finding.rule, set()).add(one.finding.line)
    for one in found:
        rule, line = one.finding.rule, one.finding.line
        on_gap = rule != TEMPLATE and bool(template) and any(at in template for at in continued(subject, line))
        on_gap = on_gap or (line in holes and rule not in (PLACEHOLDER, TEMPLATE))
        on_gap = on_gap and not (rule in OF_NAMES and not gap_of(tuple(subject.lines)).search(one.finding.says))
        if on_gap or (template and rule in OF_TEMPLATES) or follows(rule, line, ids):
            continue
        yield one


def continued(subject: Subject, line: int) -> range:
    """The lines of a command: those that end in a backslash, and the one behind them."""
    last = line
    while subject.line(last).endswith("\\"):
        last += 1
    return range(line, last + 1)


def follows(rule: str, line: int, ids: Mapping[str, set[int]]) -> bool:
    """Whether another finding says it already; ids holds the lines of each rule's findings."""
    same_line = any(line in ids.get(cause, ()) for cause in FOLLOWS.get(rule, ()))
    return same_line or any(cause in ids for cause in FOLLOWS_ANYWHERE.get(rule, ()))


def apply(rule: Rule, subject: Subject) -> Iterator[CheckedFinding]:
    """One rule. A fault in it must not cost a person the other rules: it is logged, and said as info."""
    try:
        hits = list(islice(rule.look(subject), MOST_HITS + 1))
    except Exception as error:
        LOG.exception("rule %s failed", rule.id)
        says = f"the rule {rule.id} could not read this script ({type(error).__name__})"
        yield CheckedFinding(
            Finding(
                "rule-failed", "info", 0, says, "a fault of the rule, not of your script; the other rules were applied"
            )
        )
        return
    for hit in hits[:MOST_HITS]:
        yield CheckedFinding(finding(rule, hit), hit.edit, rule.family)
    if len(hits) > MOST_HITS:
        says = f"the same stands on more lines, from line {hits[-1].line} on: the first {MOST_HITS} are listed"
        yield CheckedFinding(Finding(rule.id, "info", hits[-1].line, says, "nobody reads a longer list"))


def finding(rule: Rule, hit: Hit) -> Finding:
    severity, why, source = hit.severity or rule.severity, hit.why or rule.why, hit.source or rule.source
    return Finding(rule.id, severity, hit.line, hit.says, why, source, hit.change)
