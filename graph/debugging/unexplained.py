"""What is said where no signature names the cause: trouble in unknown words, how processes ended, how the log ends.

Healthy is only what is proved, or what plainly ran to its last line; everything else is said with what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from graph.debugging.events import Event, Scan
from graph.debugging.likely_lines import FLOOR, SURE, likely_lines
from graph.debugging.ordering import ECHOED, ChosenEvent
from graph.debugging.plain_words import cause_by_words
from graph.debugging.process_ends import Meaning, ProcessEnd, first_fault, process_ends
from graph.debugging.trouble import (
    LogEnding,
    Tail,
    Trouble,
    diverged,
    ending,
    memory_spent,
    plainness,
    tells_an_end,
    troubles,
)
from knowledge.signatures.matcher import Matcher
from knowledge.signatures.wording import LIKELY, likely_cause
from knowledge.types import LogEvidence

# Trouble that is worth saying where the log does not say that the job failed, and where it does.
TOLD, TOLD_FAILED = 3, 2
# So many last lines of a log are read for the weakest words too.
LAST_LINES = 3
# How many lines may follow on a line that tells why a program ended, where nothing says that it failed.
CLOSE_TO_END = 30
PROVED, ECHOED_PROOF, WENT_ON, SEEN, FAINT, SAID, REPORTED = 0.9, 0.7, 0.55, 0.5, 0.2, 0.3, 0.8
NO_END = "No failure up to line {line}, but no end either: the log stops there."
SOUNDS = "Line {line} sounds like trouble, in words that no known cause has: look there first."
STEPS = (
    "No failure up to line {line}, in the middle of the steps: whether the job went on from there or was stopped, the "
    "log does not tell."
)
REACHED = "No failure: the last step of all stands in the log (line {line}), but no line that proves how the job ended."
CLOSED = "No failure: the last lines (up to {line}) tell of an end, but none proves that all went well."
WHOLE = "No failure: the last lines (up to {line}) count all of what was to be done as done."
NOTHING_AFTER = {"progress": STEPS, "reached": REACHED, "closed": CLOSED, "whole": WHOLE}
LIKELY_LINES = "No known cause has its words: line {line} looks most like what went wrong, by what it means."
OWN_WORDS = "The log tells of trouble in words that no known cause has: line {line}. Nothing else in it says why."
WANTED = (
    "what comes after line {line} of this log, and what the scheduler says of the job (without one: what `dmesg -T` "
    "on the node says at that time)"
)


@dataclass(frozen=True, slots=True)
class UnexplainedFinding:
    """What is said of a log whose cause no signature names."""

    cause: str
    confidence: float
    says: str
    evidence: tuple[LogEvidence, ...] = ()
    ask: tuple[str, ...] = ()


def unexplained(scan: Scan, choice: ChosenEvent, use: Matcher) -> UnexplainedFinding:
    """The finding for a log in which no event names a cause: the winner is None, or only a sign that the job failed."""
    if not _failed(scan, choice):
        return _no_sign(scan, choice, use)
    for file, tail in scan.tails.items():
        if spent := memory_spent(tail):
            return UnexplainedFinding("sched-host-oom", REPORTED, "", (_shown(spent, file),))
    found = _of_unknown_failure(scan, choice, use)
    if found.cause != "unknown" and found.confidence > SAID:
        return found
    more = [one for one in _likely(scan, use) if all((one.line, one.file) != (e.line, e.file) for e in found.evidence)]
    if found.says or not more:
        return replace(found, evidence=(*found.evidence[:1], *more, *found.evidence[1:]))
    return replace(found, says=LIKELY_LINES.format(line=more[0].line), evidence=(*more, *found.evidence))


def _of_unknown_failure(scan: Scan, choice: ChosenEvent, use: Matcher) -> UnexplainedFinding:
    """What plain words or the ends of processes tell of a failure that no signature names."""
    lines = _failing_lines(choice)
    said = _own_words(scan, choice, use, failed=any(not _worded(e) for e in _events(choice)))
    fault = first_fault(process_ends((e.line, e.text, e.file) for e in lines))
    if said is not None and (fault is None or said.score > TOLD_FAILED):
        shown = (_shown(said, said.file), *(_of_event(e) for e in lines[:3]))
        cause, chance = likely_cause(said.text)
        if chance >= LIKELY and cause not in ("calm", "user-code"):
            return UnexplainedFinding(cause, LIKELY, "", shown)
        if cause := cause_by_words(said.text):
            return UnexplainedFinding(cause, LIKELY, "", shown)
        return UnexplainedFinding("unknown", SAID, OWN_WORDS.format(line=said.line), shown)
    if fault is not None:
        return _ended(*fault, lines)
    return UnexplainedFinding("unknown", FAINT, "", tuple(_of_event(e) for e in lines[:4]))


def _likely(scan: Scan, use: Matcher, floor: float = FLOOR) -> list[LogEvidence]:
    """The lines that look most like trouble by what they mean."""
    return [_shown(told, file) for told, file in likely_lines(scan.tails, use, floor)]


def used_all_memory(scan: Scan) -> bool:
    """Whether the scheduler's report says that the job used all the memory it had asked for."""
    return any(memory_spent(tail) for tail in scan.tails.values())


def in_own_words(scan: Scan, choice: ChosenEvent, use: Matcher) -> bool:
    """Whether the log plainly tells of trouble in words that no signature knows."""
    said = _own_words(scan, choice, use, failed=True)
    return said is not None and said.score > TOLD_FAILED


def _ended(end: ProcessEnd, meaning: Meaning, lines: list[Event]) -> UnexplainedFinding:
    first = next(e for e in lines if (e.line, e.file) == (end.line, end.file))
    rest = [e for e in lines if e is not first]
    who = f" (process {end.who})." if end.who else "."
    shown = tuple(_of_event(e) for e in (first, *rest[:3]))
    return UnexplainedFinding(meaning.cause, meaning.confidence, meaning.says + who, shown, (meaning.ask,))


def _failing_lines(choice: ChosenEvent) -> list[Event]:
    """The events that say that something failed, the one that was chosen first."""
    return [e for e in _events(choice) if not _worded(e)]


def _failed(scan: Scan, choice: ChosenEvent) -> bool:
    """Whether anything says that the program failed; plain words that it printed long before its end do not."""
    return any(not _worded(e) or not _long_ago(e.last_line, scan, e.file) for e in _events(choice))


def _events(choice: ChosenEvent) -> list[Event]:
    return [e for e in (choice.winner, *choice.others) if e is not None]


def _worded(event: Event) -> bool:
    return event.signature.kind == "fallback" and event.signature.cause == "unknown"


@dataclass(frozen=True, slots=True)
class _Said(Trouble):
    file: str | None = None


def _own_words(scan: Scan, choice: ChosenEvent, use: Matcher, failed: bool) -> _Said | None:
    """The plainest line that tells of trouble in unknown words, the first of equals.

    failed: whether the log says that the job failed; else only what stands close to its end counts.
    """
    found = [
        _Said(e.line, e.text, e.rank, plainness(e.text) or TOLD_FAILED, e.file)
        for e in _events(choice)
        if _worded(e) and (failed or not _long_ago(e.last_line, scan, e.file))
    ]
    for file, tail in scan.tails.items():
        told = (t for t in troubles(tail, use) if failed or not _long_ago(t.line, scan, file))
        found += [_Said(t.line, t.text, t.rank, t.score, file) for t in told if t.score >= TOLD_FAILED]
    return max(found, key=lambda t: (failed and cause_by_words(t.text) != "", t.score, -t.line), default=None)


def _last_words(scan: Scan, use: Matcher) -> UnexplainedFinding | None:
    """What the very last lines tell of an end, however weak their words: a status, a signal, frames of a crash."""
    for file, tail in scan.tails.items():
        last = ending(tail).line
        told = [t for t in troubles(tail, use) if t.line > last - LAST_LINES and tells_an_end(t)]
        if not told:
            continue
        if fault := first_fault(process_ends((t.line, t.text, file) for t in told)):
            end, meaning = fault
            shown = next(t for t in told if t.line == end.line)
            return UnexplainedFinding(
                meaning.cause, meaning.confidence, f"{meaning.says}.", (_shown(shown, file),), (meaning.ask,)
            )
        first = max(told, key=lambda t: (t.score, -t.line))
        return UnexplainedFinding("unknown", SAID, OWN_WORDS.format(line=first.line), (_shown(first, file),))
    return None


def _long_ago(line: int, scan: Scan, file: str | None) -> bool:
    """Whether so much was printed after a line that the program plainly went on."""
    return line < _close_to_end(scan.tails[file])


@lru_cache(maxsize=8)
def _close_to_end(tail: Tail) -> int:
    """The first line of those behind which hardly anything was printed."""
    lines, printed = tail.data.split(b"\n"), 0
    for at in range(len(lines) - 1, -1, -1):
        printed += bool(lines[at].strip())
        if printed > CLOSE_TO_END:
            return tail.first_line + at
    return tail.first_line


def _no_sign(scan: Scan, choice: ChosenEvent, use: Matcher) -> UnexplainedFinding:
    """Nothing that is known speaks of a failure."""
    if choice.succeeded is not None:
        sure = PROVED if choice.succeeded.signature.strength > ECHOED else ECHOED_PROOF
        return UnexplainedFinding("no-failure", sure, "", (_of_event(choice.succeeded),))
    for file, tail in scan.tails.items():
        if lost := diverged(tail):
            return UnexplainedFinding("user-numerics", WENT_ON, "", (_shown(lost, file),))
    if last_words := _last_words(scan, use):
        return last_words
    ends = [ending(tail) for tail in scan.tails.values()]
    last = next((e for e in ends if e.kind == "open"), ends[-1] if ends else LogEnding("open", scan.lines, ""))
    at_work = last.kind in ("progress", "reached", "whole")
    said = _own_words(scan, choice, use, failed=False)
    if said is not None and said.score >= (TOLD if last.kind == "open" else TOLD + 1) and not at_work:
        return UnexplainedFinding("unknown", SAID, OWN_WORDS.format(line=said.line), (_shown(said, said.file),))
    ask = (WANTED.format(line=last.line),)
    if last.kind == "open" and (more := _likely(scan, use, SURE)[:1]):
        says = f"{NO_END.format(line=last.line)} {SOUNDS.format(line=more[0].line)}"
        return UnexplainedFinding("no-failure", FAINT, says, tuple(more), ask)
    sure = WENT_ON if at_work else SEEN
    return UnexplainedFinding("no-failure", sure, NOTHING_AFTER.get(last.kind, NO_END).format(line=last.line), ask=ask)


def _shown(trouble: Trouble, file: str | None) -> LogEvidence:
    return LogEvidence(trouble.line, trouble.text, trouble.rank, file)


def _of_event(event: Event) -> LogEvidence:
    return LogEvidence(event.line, event.text, event.rank, event.file, event.count)
