"""A person's own script and what is wrong with it in, the mended script out: the smallest change that cures it.

A diagnosis is cured by the remedy of its cause; where that has no edit for this text, by the edit of a check's rule
that speaks of the same matter. Without a diagnosis, the errors that the check can cure are cured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import unified_diff

from graph.debugging.remedies import (
    Change,
    Remedy,
    batch_price,
    case_of,
    changed_request,
    price,
    remedies_for,
    request_of,
)
from graph.debugging.remedies import says as in_words
from graph.debugging.script_edits import FailedScript, put_lines, without_setting
from graph.usecases.edit_script import DIRECTIVES, Edited, put_fields
from graph.verification.checks.rule import Edit
from graph.verification.checks.run import CheckedFinding, checked
from graph.verification.checks.subject import read_subject
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.types import Diagnosis, Finding, Offer

MOST_ROUNDS = 5
MOST_STEPS = 3
# The rules of the check (by the beginnings of their ids' families) that speak of the same matter as a cause.
SAME_MATTER: dict[str, frozenset[str]] = {
    "sched": frozenset(("directives", "limits")),
    "comm": frozenset(("rendezvous", "launch")),
    "comm-collective-timeout": frozenset(),  # the ranks had met
    "gpu": frozenset(("launch", "limits")),
    "env": frozenset(("environment",)),
    "user-shell": frozenset(("shell", "directives")),
}


@dataclass(frozen=True, slots=True)
class Mended:
    """A person's own script with a cure in it. text is the script as it was where nothing was safe to do.

    says: the cure in a sentence; diff: unified, empty where nothing changed; offers: cures that cost; findings: what
    the check still finds in the text.
    """

    name: str
    text: str
    says: str = ""
    diff: str = ""
    offers: tuple[Offer, ...] = ()
    findings: tuple[Finding, ...] = ()


# Whether a finding is to be cured, in this text.
Wanted = Callable[[CheckedFinding, str], bool]


def mend_script(
    script: str,
    trouble: Diagnosis | None,
    cluster: Cluster | None,
    name: str = "script",
    wanted: Wanted = lambda *_: True,
) -> Mended:
    """The script with its trouble removed where that is safe; what costs is offered. wanted: which findings of the
    check are to be cured. Raises InputError on no script."""
    if trouble is None:
        return mend_by_checks(script, cluster, name, wanted)
    case = case_of(script, trouble, cluster)
    done, offered = applied(case)
    if done is None and not offered:
        done = by_check(case)
    if done is None:
        offered += by_steps(case)
    text, says = done or (script, "")
    findings = tuple(one.finding for one in checked(text, cluster) if one.finding.severity == "error")
    return Mended(name, text, says, difference(script, text, name), offered, findings)


def applied(case: FailedScript) -> tuple[tuple[str, str] | None, tuple[Offer, ...]]:
    """The first cure that costs nothing, done; and those that cost, with their price.

    A cure that the text has no place for (another strategy lies in the program) is left to the diagnosis's steps.
    """
    ways = [(remedy, *tried(remedy, case)) for remedy in remedies_for(case.diagnosis)]
    free = next(((remedy, edit) for remedy, edit, offer in ways if edit and not offer.price), None)
    done = free[1] if free else None
    # Changes of the request stand for one another (less time, or another queue); an edit of the text stays beside them.
    beside = done and free and free[0].change is None
    after = case_of(done[0], case.diagnosis, case.cluster) if done and beside else case
    offered = [tried(remedy, after) for remedy, *_ in ways if not free or remedy is not free[0]]
    return done, tuple(offer for edit, offer in offered if edit and (offer.price or offer.change))


def tried(remedy: Remedy, case: FailedScript) -> tuple[tuple[str, str] | None, Offer]:
    """What the cure makes of the text (None: nothing), and as an offer, with its price."""
    before = request_of(case.record)
    change = remedy.change(case.cluster, before) if remedy.change and case.cluster else ()
    edit = remedy.edit(case) if remedy.edit else put(case, change)
    if edit is None or edit[0] == case.text:
        return None, Offer("")
    costs = (
        price(before, changed_request(before, dict(change)), case.cluster)
        if change
        else batch_price(case.text, edit[0])
    )
    says = edit[1] if remedy.edit else in_words(before, change)
    return edit, Offer(says, costs, change, edit[0])


def put(case: FailedScript, change: Change) -> tuple[str, str] | None:
    """The fields' new values where the script's directives hold them; None unless they hold all."""
    if any(value is None or name not in DIRECTIVES for name, value in change):
        return None
    now = put_fields(Edited(case.text, ()), dict(change), case.cluster)
    return (now.text, ", ".join(now.says)) if len(now.says) == len(change) > 0 else None


def by_steps(case: FailedScript) -> tuple[Offer, ...]:
    """Lines to take out of the script, or to put in as a step says: to be tried, so a person decides."""
    edits = [without_setting(case), *(put_lines(case, step) for step in case.diagnosis.fix)]
    return tuple(Offer(edit[1], "", script=edit[0]) for edit in edits if edit)[:MOST_STEPS]


def by_check(case: FailedScript) -> tuple[str, str] | None:
    """The edit of the rules that speak of the same matter as the cause."""
    cause = case.diagnosis.cause
    families = SAME_MATTER.get(cause, SAME_MATTER.get(cause.partition("-")[0], frozenset()))
    found = [one for one in checked(case.text, case.cluster) if one.edit and one.family in families]
    errors = apart([one for one in found if one.finding.severity == "error"])
    if not errors:
        return None
    text = edited(case.text, [one.edit for one in errors if one.edit])
    return text, " ".join(sentence(one.finding.says) for one in errors)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def mend_by_checks(script: str, cluster: Cluster | None, name: str, wanted: Wanted) -> Mended:
    """Every error and warning that is wanted and that a rule can cure."""
    cured = cure(script, cluster, wanted)
    says = " ".join(sentence(one.says) for one in cured.cured)
    left = tuple(one for one in cured.left if one.severity != "info")
    return Mended(name, cured.text, says, difference(script, cured.text, name), (), left)


FEWER = (
    "It starts {} ranks now, where it meant {}: the global batch is that much smaller unless the batch of a GPU or the "
    "accumulation grows{}."
)


def ranks_told(before: str, after: str, cluster: Cluster | None) -> str:
    """That a mended launch has fewer ranks than the script meant; empty where it has as many, or nobody can tell."""
    was, now = (ranks_of(text, cluster) for text in (before, after))
    if not was or not now or now[0] >= was[0]:
        return ""
    each = now[0] // now[1]
    more = f"; {was[0]} ranks are {was[0] // each} nodes there" if each and was[0] % each == 0 else ""
    return FEWER.format(now[0], was[0], more)


def ranks_of(text: str, cluster: Cluster | None) -> tuple[int, int] | None:
    """(ranks, nodes) of a launch; None where a count is open."""
    try:
        launch = read_subject(text, cluster).launch
    except (InputError, RecursionError):
        return None
    nodes = (launch.nodes or 1) if launch else 0
    if launch is None:
        return None
    each = launch.procs if launch.spawner else launch.per_node
    return (each * nodes, nodes) if each else None


def difference(before: str, after: str, name: str) -> str:
    """A unified diff; what differs in line ends alone is said."""
    if before == after:
        return ""
    lines = unified_diff(before.splitlines(), after.splitlines(), name, f"{name} (mended)", n=1, lineterm="")
    return "\n".join(lines) or "(only line ends differ)"


@dataclass(frozen=True, slots=True)
class Cured:
    """The text after all edits, the findings that they cured, and those that are left."""

    text: str
    cured: tuple[Finding, ...]
    left: tuple[Finding, ...]


def cure(text: str, cluster: Cluster | None, wanted: Wanted = lambda *_: True) -> Cured:
    """At most five rounds: an edit may bring another finding to light, which the next round cures. What in the end is
    no better is undone."""
    found = checked(text, cluster)
    best, done = Cured(text, (), tuple(one.finding for one in found)), list[Finding]()
    least = weight(found)
    for _ in range(MOST_ROUNDS):
        applied = apart([one for one in found if one.edit is not None and wanted(one, text)])
        if not applied:
            break
        changed = edited(text, [one.edit for one in applied if one.edit is not None])
        after = checked(changed, cluster)
        if changed == text or weight(after) > weight(found):
            break
        left = {(one.finding.rule, one.finding.says) for one in after}
        # One that stays with other numbers is not cured.
        still = {one.finding.rule for one in after} - {one.finding.rule for one in applied}
        gone = (one.finding for one in found if (one.finding.rule, one.finding.says) not in left)
        done += [one for one in gone if one.rule not in still]
        text, found = changed, after
        if weight(found) < least:
            best, least = Cured(text, tuple(done), tuple(one.finding for one in found)), weight(found)
    return best


def weight(found: Iterable[CheckedFinding]) -> tuple[int, int]:
    """(errors, findings): fewer errors are better, then fewer findings."""
    severities = [one.finding.severity for one in found]
    return severities.count("error"), len(severities)


def apart(found: list[CheckedFinding]) -> list[CheckedFinding]:
    """Those whose lines do not overlap with an edit taken before; the rest wait for the next round."""
    taken: list[CheckedFinding] = []
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
