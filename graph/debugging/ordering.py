"""Which event is the root cause: the first thing that went wrong, not the last thing printed.

Strength decides before time: a line that names a cause beats a general error, which beats an after-effect, wherever
they stand. Among causes and among errors the first one wins, among after-effects the strongest, unless the run plainly
went on after it; of equals, the one of the rank that the elastic launcher saw fail first. Then explanations are
followed back: an earlier, weaker error that explains the winner is the cause.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from graph.debugging.events import Event, Scan
from graph.debugging.scan import LONG, WENT_ON
from graph.debugging.trouble import counting_lines
from knowledge.signatures.loader import Cause

STRONG, GENERAL, EFFECT, FAINT = 70, 45, 30, 8
# An exception that Python swallowed (in a destructor): a sign only where nothing else is.
SWALLOWED = 20
# A scheduler's verdict yields to an earlier sign of trouble of at least this strength.
TROUBLE = 38
# An exit code says that the job failed in spite of a proof of success.
FAILED = 10
# The strength of words of success that a job script may echo whatever happened.
ECHOED = 1
# Groups whose messages, printed before the training runs on, were of no consequence.
MINOR = ("environment", "user", "scheduler", "batch", "communication", "communication_mpi")
# What a line of its own log level is worth less by.
DISCOUNT = {"": 0, "notice": 0, "warning": 25, "info": 35}
# An advisory never outranks an error; it counts where it explains one.
ADVISORY = 44
# Causes that are only what follows from another one.
FOLLOWS = ("unknown", "comm-remote-exit", "comm-collective-timeout")
# Of errors of one level the first one counts, but for those weaker than the strongest by more than this.
CLOSE = 10
# What a program says that caught the error itself. A retry is only a promise.
CAUGHT = re.compile(
    r"(?i)\bskip(?:ping|ped)? (?:this |the |current |a |that )?(?:\w+ )?(?:batch|step|sample|iteration|example|update)"
)
RETRIED = re.compile(r"(?i)\b(?:will retry|retrying|trying again|attempting to recover)\b")

# What it says that it does instead. True where the run then goes on: a program may promise it and die.
INSTEAD = re.compile(
    r"(?i)[,;:.)(-] ?(?:so |will |we |now |but )*(?:start(?:ing)? from (?:scratch|step 0|the beginning)"
    r"|us(?:e|ing) (?:the )?defaults?|fall(?:ing)? back (?:to|on)|continu(?:e|ing) (?:without|anyway)|skipping)\b"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The event chosen (None: no failure), the others by weight, and whether success was proved."""

    winner: Event | None
    others: tuple[Event, ...]
    weight: int
    succeeded: Event | None = None


def weight(event: Event) -> int:
    """How strongly an event speaks for its cause, 0 to 100, after what its line says of itself."""
    strength = event.signature.strength
    if event.error is not None and event.error.ignored:
        return SWALLOWED if strength >= STRONG else min(strength, FAINT - 1)
    if strength >= 90 or event.signature.kind in ("verdict", "final") or event.error is not None:
        return strength
    return max(0, min(ADVISORY, strength - DISCOUNT[event.level])) if DISCOUNT[event.level] else strength


def choose(scan: Scan, causes: Mapping[str, Cause]) -> Choice:
    """The root cause among a scan's events."""
    events = in_order(last_runs(scan.events))
    _carry_progress(events)
    _carry_counting(events, scan)
    _carry_headway(events, scan)
    over = {name: e.last_order for e in events for name in e.signature.ends}
    events = [e for e in events if over.get(e.signature.id, -1) <= e.last_order]
    success = _success(events)
    bad = [e for e in events if e.signature.kind not in ("success", "start", "harmless") and weight(e) >= FAINT]
    if success is not None:
        bad = _after_success(bad, success)
    elif not any(e.signature.kind == "final" and weight(e) >= FAILED for e in bad):
        running = max((e.last_order for e in bad if _survived(e)), default=-1)
        bad = [e for e in bad if not _harmed_nothing(e, running)]
    if not bad:
        return Choice(None, (), 0, success)
    winner = _first_of_the_strongest(bad, scan.failed_first)
    winner = _before_the_verdict(winner, bad)
    winner = _explained(winner, bad, causes)
    others = sorted((e for e in bad if e is not winner), key=lambda e: (-weight(e), e.order))
    return Choice(winner, tuple(others), weight(winner), success)


def last_runs(events: list[Event]) -> list[Event]:
    """The events of the last run of each file that ended in something; a file may hold many runs one after another."""
    last: dict[str | None, int] = {}
    for event in events:
        if event.signature.kind == "success" or weight(event) >= FAINT:
            last[event.file] = max(last.get(event.file, 0), event.run)
    return [e for e in events if e.run == last.get(e.file)]


def in_order(events: list[Event]) -> list[Event]:
    """The events as they happened: as read, or by the clock over several files where each event has one."""
    if len({event.file for event in events}) < 2 or any(event.time is None for event in events):
        return sorted(events, key=lambda event: event.order)
    timed = sorted(events, key=lambda event: (event.time or 0, event.order))
    for number, event in enumerate(timed):
        event.order = event.last_order = number
    return timed


def _success(events: list[Event]) -> Event | None:
    """The last proof of success; the program's own words before what a script may have echoed."""
    proofs = [e for e in events if e.signature.kind == "success"]
    sure = [e for e in proofs if e.signature.strength > ECHOED]
    return next(reversed(sure or proofs), None)


def _after_success(bad: list[Event], success: Event) -> list[Event]:
    """What still counts when the log says that it ended well: a failing exit, an uncaught error, what came after it."""
    if success.signature.strength <= ECHOED:
        ended = [e for e in bad if e.signature.kind == "final" and weight(e) >= FAILED]
        return bad if ended else [e for e in bad if weight(e) >= GENERAL and not _done_without(e) and not e.level]
    failed = any(e.signature.kind == "final" and weight(e) >= FAILED for e in bad if e.last_order > success.order)
    uncaught = any(e.error is not None and not e.error.ignored and e.last_order > success.order for e in bad)
    if failed or uncaught:
        return bad
    return [e for e in bad if e.order > success.last_order and weight(e) >= STRONG and e.signature.kind != "error"]


def _carry_progress(events: list[Event]) -> None:
    """Progress that was seen after a later event of a file came after the earlier ones as well."""
    seen: dict[tuple[str | None, int], int] = {}
    for event in sorted(events, key=lambda e: -e.last_order):
        total = seen.get((event.file, event.run), 0) + event.progress_after
        seen[event.file, event.run] = event.progress_after = total


def _carry_counting(events: list[Event], scan: Scan) -> None:
    """Lines that count something up are progress too, where no known words of progress tell it."""
    for file, tail in scan.tails.items():
        numbers = counting_lines(tail)
        for event in events:
            if event.file == file and event.progress_after < WENT_ON and event.rank is None:
                event.progress_after = max(event.progress_after, len(numbers) - bisect(numbers, event.last_line))


def _carry_headway(events: list[Event], scan: Scan) -> None:
    """Mark what every rank that had it survived: by its own progress afterwards, or its own words of success."""
    done = {e.rank: e.last_order for e in events if e.signature.kind == "success" and e.rank is not None}
    for event in events:
        past = [_past(event, rank, before, scan) for rank, before in event.headway.items()]
        ended = [done.get(rank, -1) > event.last_order for rank in event.headway]
        event.own_progress = bool(past) and (all(past) or all(ended))


def _past(event: Event, rank: int, before: int, scan: Scan) -> bool:
    """Whether a rank went on: so much that it cannot be what was left unwritten, or by the time on its own lines."""
    since = scan.headways.get((event.file, event.run, rank))
    if since is None or since.lines - before < WENT_ON:
        return False
    return since.lines - before >= LONG or (event.time is not None and since.latest > event.time)


def _survived(event: Event) -> bool:
    """Whether the run went on: plainly after the last time, or a little each time, or the program says so."""
    seen = event.progress_after
    if event.own_progress:
        return True
    if CAUGHT.search(event.text) or (seen and (RETRIED.search(event.text) or _instead(event))):
        return True
    return seen >= WENT_ON or (seen > 0 and seen + event.progress_between >= WENT_ON)


def _instead(event: Event) -> bool:
    """Whether the program's own line tells how it goes on; what it raised and let go does not."""
    return event.error is None and event.signature.kind != "verdict" and INSTEAD.search(event.text) is not None


def _done_without(event: Event) -> bool:
    """Whether a run that says it ended well plainly did without what failed here."""
    return _survived(event) or _instead(event)


def _long_past(event: Event) -> bool:
    """Whether much of a run came after it; where ranks are told apart, that of the same ranks."""
    return event.own_progress or (event.rank is None and event.progress_after >= LONG)


def _harmed_nothing(event: Event, running: int) -> bool:
    """A remark or a command of the script that failed, after which the training ran on; no exception, no verdict.

    running: the last event after which progress was seen.
    """
    told = CAUGHT.search(event.text) or _instead(event) or _long_past(event)
    went_on = event.own_progress or (event.progress_after and told)
    if went_on and event.signature.kind != "verdict":
        return True
    minor = event.level != "" or event.signature.group in MINOR or weight(event) < FAILED
    return minor and event.last_order <= running and event.error is None and event.signature.kind != "verdict"


def _first_of_the_strongest(bad: list[Event], failed_first: int | None) -> Event:
    """The first cause, else the first error, else the strongest after-effect; failed_first is the launcher's rank."""
    floor = next(floor for floor in (STRONG, GENERAL, 0) if any(weight(e) >= floor for e in bad))
    level = [e for e in bad if weight(e) >= floor]
    level = [e for e in level if not _survived(e)] or _since(level, bad) or level
    level = [e for e in level if weight(e) >= min(STRONG, max(map(weight, level)) - CLOSE)]
    first = level[0] if floor else max(level, key=weight)
    if failed_first is None or failed_first in first.ranks or not first.ranks:
        return first
    return next((e for e in level if failed_first in e.ranks and (floor or weight(e) >= weight(first))), first)


def _since(level: list[Event], bad: list[Event]) -> list[Event]:
    """What ended the run, where all that is stronger was overcome long before it."""
    if not all(_long_past(e) for e in level):
        return []
    ends = [e for e in bad if weight(e) >= EFFECT and not _survived(e) and e.signature.cause not in FOLLOWS]
    return [e for e in ends if all(e.order > other.last_order for other in level)]


def _before_the_verdict(winner: Event, bad: list[Event]) -> Event:
    """A job that hangs after a fault is stopped by the clock or by a person: then the fault is the cause."""
    if winner.signature.kind != "verdict" or winner.signature.cause in ("sched-node-failure", "sched-host-oom"):
        return winner
    for event in bad:
        if event is winner or event.order >= winner.order:
            break
        if weight(event) >= TROUBLE and not _survived(event) and event.signature.cause != "unknown":
            return event
    return winner


def _explained(winner: Event, bad: list[Event], causes: Mapping[str, Cause]) -> Event:
    """Follow explanations back to the first error that no other line explains."""
    for _ in range(len(bad)):
        better = next((e for e in bad if e is not winner and _explains(e, winner, causes)), None)
        if better is None:
            return winner
        winner = better
    return winner


def _explains(event: Event, winner: Event, causes: Mapping[str, Cause]) -> bool:
    """A strong event explains wherever it stands (ranks print out of order), a general one only before the winner."""
    cause = causes.get(event.signature.cause)
    if cause is None or winner.signature.cause not in cause.explains or event.signature.cause == winner.signature.cause:
        return False
    if event.signature.group == winner.signature.group == "python" and weight(event) < STRONG:
        return False
    before = event.order < winner.order
    if event.level and event.signature.strength >= STRONG:
        return before and event.file == winner.file and not _survived(event)
    if weight(event) >= STRONG and cause.group in ("scheduler", "gpu"):
        return before or not _survived(winner)
    return before and weight(event) >= GENERAL and not _survived(event)
