"""Which event is the root cause: the first thing that went wrong, not the last thing printed.

First what cannot be the cause is left out: what a proof of success or the run's own progress shows to be of no
consequence. Which of the others it is, a fitted model says (`ranking.py`).
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from graph.debugging.events import Event, Scan
from graph.debugging.ranking import FOLLOWS, nearest, of_code, raised, ranked
from graph.debugging.scan import LONG, WENT_ON
from graph.debugging.trouble import counting_lines, ending
from graph.debugging.weighing import EFFECT, FAINT, GENERAL, STRONG, caught, instead, long_past, survived, weight
from knowledge.signatures.loader import Cause

# What a scheduler says of these no earlier trouble explains.
OWN_VERDICTS = ("sched-node-failure", "sched-host-oom")
# What says only that a job was stopped, or nothing: no trouble that made it hang.
NO_TROUBLE = ("unknown", "sched-cancelled")
# Whose complaint about a file ends no job by itself, and what ends one from outside.
COMMAND = re.compile(r"(?:cp|mv|rm|ln|ls|mkdir|cat|scp|rsync|tar|find|chmod): ")
FROM_OUTSIDE = ("sched-cancelled", "sched-time-limit", "sched-preempted")
# Where srun says that a step is over: what is raised then is of the next one, or of a rank that was late.
STEP_OVER = re.compile(r"\bsrun: Terminating StepId=")
# After these a program has made nothing, and what reads its results finds nothing.
LEAVING_NOTHING = ("gpu-oom", "sched-host-oom", "env-disk", "env-shared-library", "gpu-not-visible", "env-driver")
NOTHING_THERE = re.compile(
    r"\[Errno 2\]|No such file|(?:IndexError|ValueError): .{0,60}(?:out of range|out of bounds|\bempty\b)|'NoneType'"
    r"|No objects to concatenate|UnboundLocalError|StopIteration"
)
# A sign of trouble of this weight may be why a job hung until the clock or a person stopped it.
TROUBLE = 38
# An exit code says that the job failed in spite of a proof of success.
FAILED = 10
# Groups of causes of which commands and libraries complain without an end to the job.
COMPLAINING = ("environment", "user", "framework")
# So many lines later something else ended the run; so many before its last line a complaint was of no consequence.
APART, WELL_BEFORE = 4, 10
# The strength of words of success that a job script may echo whatever happened.
ECHOED = 1
# Groups whose messages, printed before the training runs on, were of no consequence.
MINOR = ("environment", "user", "scheduler", "batch", "communication", "communication_mpi")


@dataclass(frozen=True, slots=True)
class ChosenEvent:
    """The event chosen (None: no failure), the others by weight, whether success was proved, and an event of another
    cause that is nearly as likely."""

    winner: Event | None
    others: tuple[Event, ...]
    weight: int
    succeeded: Event | None = None
    near: Event | None = None


def choose(scan: Scan, causes: Mapping[str, Cause]) -> ChosenEvent:
    """The root cause among a scan's events."""
    bad, success = candidates(scan)
    left = [e for e in bad if not _left_behind(e, bad, causes)]
    rivals = [] if _went_well(left, scan, success, causes) else eligible(left, causes)
    if not rivals:
        return ChosenEvent(None, (), 0, success)
    order = ranked(rivals, scan.failed_first, causes)
    winner = order[0][1]
    others = sorted((e for e in bad if e is not winner), key=lambda e: (-weight(e), e.order))
    near = nearest(order, causes) or _beside_a_command(winner, rivals)
    return ChosenEvent(winner, tuple(others), weight(winner), success, near)


def _beside_a_command(winner: Event, rivals: list[Event]) -> Event | None:
    """What a program raised after a command of the script had missed a file: either may have ended the job."""
    if not COMMAND.match(winner.text) or weight(winner) >= STRONG:
        return None
    return next((e for e in rivals if e.order > winner.order and _raised(e)), None)


def _raised(event: Event) -> bool:
    """Whether a program ended with an error of its own, in Python or another language."""
    return weight(event) >= GENERAL and (event.error is not None or event.signature.kind == "fallback")


def _left_behind(event: Event, bad: list[Event], causes: Mapping[str, Cause]) -> bool:
    """Whether a command or library only complained, the job went on, and later something of another kind ended it."""
    told = causes.get(event.signature.cause)
    if told is None or event.error is not None or event.signature.kind == "verdict":
        return False
    if _names_it(event) and any(STEP_OVER.search(e.text) and _comes_after(e, event) for e in bad):
        return False  # its step ended so
    if told.group not in COMPLAINING and event.level != "warning":
        return False
    follows = (event.signature.cause, *told.explains, *FOLLOWS)
    missed = told.id == "env-file-missing" and COMMAND.match(event.text)
    if missed and any(e.signature.cause in FROM_OUTSIDE and e.order > event.order for e in bad):
        return True
    if any(0 < _begins(e) - event.last_line < APART and not e.level and weight(e) >= EFFECT for e in bad):
        return False  # the next complaint belongs to it
    # What comes again and again, whoever prints it, did not end the job the first time.
    since = event.line if event.count > 1 and event.rank is None else event.last_line
    apart = (e for e in bad if e.file == event.file and e.line >= since + APART and _ends(e))
    return any(e.signature.cause not in follows or _of_its_own(e) for e in apart)


def _of_its_own(event: Event) -> bool:
    """Whether the program's code raised an exception over something that was there: no missing library explains it."""
    return event.signature.cause == "user-code" and of_code(event) and not _finds_nothing(event)


def _begins(event: Event) -> int:
    """The line where its words begin: those of an exception with the head of its traceback."""
    return event.error.first_line if event.error is not None else event.line


def _ends(event: Event) -> bool:
    """Whether an event may be what ended a run: an exception or a strong word that the run did not survive."""
    crashed = event.signature.kind == "effect" and event.signature.cause == "user-code" and weight(event) >= EFFECT
    strong = weight(event) >= (GENERAL if event.error is not None else STRONG) or event.signature.kind == "verdict"
    return (crashed or strong) and not survived(event) and not event.level


def _went_well(bad: list[Event], scan: Scan, success: Event | None, causes: Mapping[str, Cause]) -> bool:
    """Whether the log ends in its steps or with words of an end, and the run got over every complaint well before."""
    ends = {file: ending(tail) for file, tail in scan.tails.items()}
    if any(e.kind == "open" for e in ends.values()):
        return False
    if any(e.signature.kind in ("final", "verdict") and not survived(e) for e in bad):
        return False
    ended = all(e.kind != "progress" for e in ends.values())
    proved = success is not None or all(e.counted for e in ends.values())
    said = [e for e in bad if weight(e) > FAILED and e.file in ends]
    far = all(e.last_line < max(ends[e.file].counted, ends[e.file].line + 1 - WELL_BEFORE) for e in said)
    return far and all(_got_over(e) or (ended and _complains(e, proved, causes)) for e in said)


def _got_over(event: Event) -> bool:
    """Whether the run went on; what other ranks did proves nothing for one that raised an exception."""
    return survived(event) and (event.error is None or event.rank is None or event.own_progress)


def _complains(event: Event, proved: bool, causes: Mapping[str, Cause]) -> bool:
    """Whether a command or library complained without a traceback; of graver things only before some success."""
    told = causes.get(event.signature.cause)
    mild = event.level != "" or (told is not None and told.group in COMPLAINING)
    return event.error is None and (mild or proved)


def candidates(scan: Scan) -> tuple[list[Event], Event | None]:
    """The events that speak of a failure, as they happened, and the proof of success where there is one."""
    events = in_order(last_runs(scan.events))
    _carry_progress(events)
    _carry_counting(events, scan)
    _carry_headway(events, scan)
    over = {name: e.last_order for e in events for name in e.signature.ends}
    events = [e for e in events if over.get(e.signature.id, -1) <= e.last_order]
    success = _success(events)
    bad = [e for e in events if e.signature.kind not in ("success", "start", "harmless") and weight(e) >= FAINT]
    if success is not None:
        return _after_success(bad, success), success
    if not any(e.signature.kind == "final" and weight(e) >= FAILED for e in bad):
        running = max((e.last_order for e in bad if survived(e)), default=-1)
        bad = [e for e in bad if not _harmed_nothing(e, running)]
    return bad, None


def eligible(bad: list[Event], causes: Mapping[str, Cause]) -> list[Event]:
    """Those that may be the root cause.

    Not what the run outlived for long, where something else ended it. Not a verdict after a fault: a job that hangs is
    stopped by the clock or by a person. Not what follows from memory or a node that the scheduler says was lost, nor
    what came after the failed step or its want of results.
    """
    rest = [e for e in bad if not long_past(e)]
    ends = any(weight(e) >= EFFECT and not survived(e) and e.signature.cause not in FOLLOWS for e in rest)
    rivals = rest if ends else bad
    lost = [e for e in rivals if e.signature.kind == "verdict" and e.signature.cause in OWN_VERDICTS]
    after = {cause for e in lost if not survived(e) for cause in causes[e.signature.cause].explains}
    rivals = [e for e in rivals if e.signature.cause not in after]
    rivals = _before_it_was_over(rivals, bad)
    first = next((e.order for e in rivals if _trouble(e)), None)
    return [e for e in rivals if first is None or e.order <= first or not _of_a_hang(e)]


def _before_it_was_over(rivals: list[Event], bad: list[Event]) -> list[Event]:
    """Without what was raised when a failed step was over, and what finds nothing where a program left nothing."""
    for over in (e for e in bad if STEP_OVER.search(e.text)):
        here = [e for e in rivals if e.file == over.file]
        if any(e.order < over.order and _names_it(e) for e in here):
            rivals = [e for e in rivals if e.file != over.file or e.order < over.order or not raised(e)]
    took = next((e.order for e in rivals if _takes_all(e)), None)
    return [e for e in rivals if took is None or e.order <= took or not _finds_nothing(e)]


def _comes_after(event: Event, other: Event) -> bool:
    return event.file == other.file and event.order > other.order


def _names_it(event: Event) -> bool:
    """Whether a line names a cause that the run did not survive, and no after-effect."""
    follows = event.signature.cause in FOLLOWS
    return weight(event) >= STRONG and not (event.level or survived(event) or follows)


def _takes_all(event: Event) -> bool:
    """Whether a program could not do its work for want of memory, a library or room: it leaves nothing behind."""
    return event.signature.cause in LEAVING_NOTHING and _names_it(event)


def _finds_nothing(event: Event) -> bool:
    """Whether an exception only tells that something expected is not there."""
    return event.error is not None and NOTHING_THERE.search(event.text) is not None


def _trouble(event: Event) -> bool:
    """Whether a rank or the job was in trouble and did not get over it; what others did proves nothing for a rank."""
    alone = event.rank is not None and event.error is not None and not event.error.ignored and not event.own_progress
    return weight(event) >= TROUBLE and (alone or not survived(event)) and event.signature.cause not in NO_TROUBLE


def _of_a_hang(event: Event) -> bool:
    return event.signature.kind == "verdict" and event.signature.cause not in OWN_VERDICTS


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


def _done_without(event: Event) -> bool:
    """Whether a run that says it ended well plainly did without what failed here."""
    return survived(event) or instead(event)


def _harmed_nothing(event: Event, running: int) -> bool:
    """A remark or a command of the script that failed, after which the training ran on; no exception, no verdict.

    running: the last event after which progress was seen.
    """
    told = caught(event) or instead(event) or long_past(event)
    went_on = event.own_progress or (event.progress_after and told)
    if went_on and event.signature.kind != "verdict":
        return True
    minor = event.level != "" or event.signature.group in MINOR or weight(event) < FAILED
    return minor and event.last_order <= running and event.error is None and event.signature.kind != "verdict"
