"""A correction as a proposed signature: a pattern made from the telling line, and what it changes on kept cases.

Nothing here counts by itself: a person reviews it (`maple-chat signatures review`), and it is tried before that.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import yaml

from graph.debugging.diagnosis import diagnose, judge
from graph.debugging.log import cleaned, from_text, message, printable
from graph.debugging.scan import Scanner
from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError
from knowledge.opening import read_plain
from knowledge.signatures.check import check
from knowledge.signatures.loader import library, site_folder
from knowledge.signatures.matcher import Matcher, compiled, matcher, plain_quotes
from knowledge.signatures.model import Signature, signature
from knowledge.types import NO_CAUSE, Diagnosis

# Where an accepted proposal goes, among the site's own signatures.
REVIEWED = "reviewed.yaml"
MOST_BYTES = 16_000_000
# A new signature as strong as one that names its cause; where another is stronger on the line, stronger than that.
STRENGTHS = (80, 92, 98)
LONGEST_LINE = 240
# What differs from job to job, the first that fits: placeholders and paths, words in quotes, numbers.
VARIES = (
    (re.compile(r"<[A-Z]{2,8}_\d+>|<hidden>"), r"\S+"),
    (re.compile(r"/[\w.@+~%-]+(?:/[\w.@+~%-]+)+/?"), r"\S+"),
    (re.compile(r"\b[a-z][a-z-]{0,12}\d{2,6}\b"), r"\S+"),
    (re.compile(r"0x[0-9a-fA-F]+"), "0x[0-9a-fA-F]+"),
    (re.compile(r"\d+(?:\.\d+)*"), r"[\d.]+"),
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A kept case: a log and what is right of it."""

    id: str
    log: str
    cause: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A signature that a correction asks for. answered: the cause that was given; said_by: how many people say so."""

    id: str
    line: str
    cause: str
    answered: str
    fix: str = ""
    said_by: int = 1
    log: str = ""


@dataclass(frozen=True, slots=True)
class ProposalTrial:
    """What a proposal does on the kept cases. problems: why it cannot be taken; broken: cases it makes wrong.

    before, after: how many are right; mended: those that it makes right.
    """

    signature: Signature | None
    cases: int = 0
    before: int = 0
    after: int = 0
    mended: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def fit(self) -> bool:
        """Whether it may count: it is sound, and nothing that was right is wrong with it."""
        return self.signature is not None and not self.problems and not self.broken


def proposal_of(cause: str, answered: str, fix: str, line: str, log: str) -> Proposal | None:
    """What a correction asks for; None where it tells neither a cause nor a cure, or shows no line.

    cause: what it really was, or empty where only the cure was wrong. line: as the person pasted it; without one, the
    line that the diagnosis took for the telling one.
    """
    if not line.strip() and log:
        found = diagnose(log)
        line = found.evidence[0].text if found.evidence else ""
    named = cause or answered
    line = telling(line)
    if not line or named not in library().causes or named in ("", *NO_CAUSE) or (named == answered and not fix):
        return None
    number = sha256("\0".join((named, pattern_of(line), fix)).encode()).hexdigest()[:8]
    # Braces would be names to fill in.
    return Proposal(f"p-{number}", line, named, answered, fix.replace("{", "(").replace("}", ")"), log=log)


def telling(line: str) -> str:
    """The message of a pasted line: its first that says something, without rank and control characters."""
    clean = cleaned(line.encode()).decode("utf-8", "replace")
    lines = (message(printable(one))[0].strip() for one in clean.splitlines())
    return next(filter(None, lines), "")[:LONGEST_LINE]


def pattern_of(line: str) -> str:
    """The line as a pattern: what differs from job to job matches any such thing."""
    pattern, at = "", 0
    line = plain_quotes(line.encode()).decode("utf-8", "replace")
    while at < len(line):
        hits = [(found.start(), order, found, other) for order, (each, other) in enumerate(VARIES)
                if (found := each.search(line, at))]  # fmt: skip
        if not hits:
            break
        _, _, found, other = min(hits, key=lambda hit: hit[:2])
        pattern += escaped(line[at : found.start()]) + other
        at = found.end()
    return pattern + escaped(line[at:])


def escaped(text: str) -> str:
    """Fixed words of a pattern; RE2 knows no escaped blanks or other letters."""
    return re.sub(r"([\\.^$|()\[\]{}*+?])", r"\\\1", text)


def entry(proposal: Proposal, strength: int) -> dict[str, Any]:
    """The proposal as an entry of a signature file.

    Where a signature tells the same cause of the line already, what it says, its steps and its captured words stay.
    """
    told = told_by(proposal.line, proposal.cause)
    made: dict[str, Any] = {
        "id": f"site-{proposal.id}",
        "pattern": capturing(proposal.line, told) if told else pattern_of(proposal.line),
        "cause": proposal.cause,
        "strength": strength,
        "example": proposal.line,
    }
    if told:
        made |= {key: value for key, value in (("says", told.says), ("source", told.source)) if value}
    # What cured it here comes before the steps that are always told.
    steps = (told.fix if told else ()) or library().causes[proposal.cause].fix
    return made | ({"fix": [proposal.fix, *steps]} if proposal.fix else {})


def told_by(line: str, cause: str) -> Signature | None:
    """The signature that tells this cause of the line today."""
    found = diagnose(line).signature
    return next((one for one in library().signatures if one.id == found and one.cause == cause), None)


def capturing(line: str, told: Signature) -> str:
    """The line as a pattern with the named groups of the signature that tells it: they fill what is said."""
    line = plain_quotes(line.encode()).decode("utf-8", "replace")
    use = compiled(told.pattern)
    found = use.search(line.encode()) if line.isascii() else None  # its places are bytes
    groups = sorted((*found.span(place), name.decode()) for name, place in use.groupindex.items()) if found else []
    pattern, at = "", 0
    for start, end, name in groups:
        if start >= at and end > start:
            pattern += f"{pattern_of(line[at:start])}(?P<{name}>{pattern_of(line[start:end])})"
            at = end
    return pattern + pattern_of(line[at:])


def try_out(
    proposal: Proposal, cases: Sequence[Labelled], before: Callable[[Labelled], str] | None = None
) -> ProposalTrial:
    """The proposal on all kept cases and against all signatures. before: a case's cause as it is told now."""
    now = before or told_now
    for strength in STRENGTHS:
        try:
            made = signature(entry(proposal, strength), REVIEWED, "reviewed", "")
        except FactsError as error:
            return ProposalTrial(None, problems=(str(error).removeprefix(f"{REVIEWED}: "),))
        use = Matcher((*library().signatures, made))
        if told_with(proposal, use):
            break
    else:
        return ProposalTrial(
            made, problems=("it does not change the answer for its own case: another line or rule says more",)
        )
    if problems := unsound(entry(proposal, strength)):
        return ProposalTrial(made, problems=problems)
    was = {case.id: now(case) for case in cases}
    # Only where the pattern stands in a log can it change anything.
    there = [case for case in cases if stands_in(made, case.log)]
    will = was | {case.id: judged(case.log, use).cause for case in there}
    right = {case.id: case.cause for case in cases}
    mended = tuple(one for one in right if was[one] != right[one] == will[one])
    broken = tuple(one for one in right if was[one] == right[one] != will[one])
    count = sum(was[one] == right[one] for one in right)
    return ProposalTrial(made, len(cases), count, count + len(mended) - len(broken), mended, broken)


def told_with(proposal: Proposal, use: Matcher) -> bool:
    """Whether its own case is told as it says."""
    found = judged(proposal.log or proposal.line, use)
    return found.cause == proposal.cause and (not proposal.fix or proposal.fix in found.fix)


def judged(log: str, use: Matcher) -> Diagnosis:
    return judge(Scanner(use).read([from_text(log)]), use)


def told_now(case: Labelled) -> str:
    return judged(case.log, matcher()).cause


def stands_in(made: Signature, log: str) -> bool:
    """Whether any line of a log is one that the signature decides."""
    pattern = compiled(made.pattern)
    return any(pattern.search(plain_quotes(line.encode("utf-8", "replace"))) for line in log.splitlines())


def unsound(made: dict[str, Any]) -> tuple[str, ...]:
    """What the checks of signatures find in it: another takes its example away, or it takes another's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / REVIEWED
        path.write_text(as_yaml([made]), encoding="utf-8")
        problems, _ = check([path])
    return tuple(problem for problem in problems if problem not in unsound_already())


@cache
def unsound_already() -> tuple[str, ...]:
    return tuple(check()[0])


def as_yaml(entries: Sequence[dict[str, Any]]) -> str:
    about = "accepted corrections (maple-chat signatures review)"
    return yaml.safe_dump(
        {"about": about, "signatures": list(entries)}, sort_keys=False, allow_unicode=True, width=1000
    )


def accept(proposal: Proposal, trial: ProposalTrial) -> Path:
    """Put it among the site's signatures, from where every program of this site takes it at its next start."""
    assert trial.signature is not None
    path = site_folder() / REVIEWED
    path.parent.mkdir(parents=True, exist_ok=True)
    there = cast(Any, parse_yaml(read_plain(path, MOST_BYTES)))["signatures"] if path.exists() else []
    made = entry(proposal, trial.signature.strength)
    kept = [one for one in there if one["id"] != made["id"]]
    partial = path.with_suffix(".new")
    partial.write_text(as_yaml([*kept, made]), encoding="utf-8")
    partial.replace(path)
    return path


def merged(found: Sequence[Proposal]) -> list[Proposal]:
    """One proposal for those that several people ask for, the most asked for first."""
    by_id: dict[str, Proposal] = {}
    for one in found:
        known = by_id.get(one.id)
        by_id[one.id] = replace(known, said_by=known.said_by + 1) if known else one
    return sorted(by_id.values(), key=lambda one: -one.said_by)
