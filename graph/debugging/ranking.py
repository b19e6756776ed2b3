"""The order among candidates for the root cause: a linear model with features that one can read, its weights as data.

Fitted on labelled logs by `python bench/fit_ordering.py`, which cross-validates it too. Each candidate's features are
multiplied by the weights of ordering.json; the highest sum wins, of equals the first.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from graph.debugging.events import Event
from graph.debugging.weighing import EFFECT, GENERAL, STRONG, long_past, survived, tier, weight
from knowledge.signatures.loader import Cause

WEIGHTS = Path(__file__).with_name("ordering.json")
# Causes that are only what follows from another one.
FOLLOWS = ("unknown", "comm-remote-exit", "comm-collective-timeout")
# Sums closer than this leave open which of two is the cause.
NEAR_SUM = 0.5
# So many lines between a remark and an exception: the program went on in between.
NEAR, APART = 12, 8
# Types of exception that tell of the program's own code, whatever their words.
OF_CODE = (
    "KeyError", "TypeError", "AttributeError", "IndexError", "NameError", "UnboundLocalError", "ZeroDivisionError",
    "SyntaxError", "IndentationError", "RecursionError", "NotImplementedError", "StopIteration", "JSONDecodeError",
)  # fmt: skip
PYTHON_EXCEPTION = "python-exception"


def ranked(rivals: Sequence[Event], failed_first: int | None, causes: Mapping[str, Cause]) -> list[tuple[float, Event]]:
    """The candidates with their sums, most likely root cause first. failed_first: the rank that the launcher's summary
    names."""
    known = _weights()
    sums = [
        sum(known.get(name, 0.0) * value for name, value in each.items())
        for each in features(rivals, failed_first, causes)
    ]
    return [(sums[n], rivals[n]) for n in sorted(range(len(rivals)), key=lambda n: (-sums[n], n))]


def nearest(order: Sequence[tuple[float, Event]], causes: Mapping[str, Cause]) -> Event | None:
    """The candidate of another cause that is nearly as likely as the first, and does not follow from it; else None."""
    (most, winner), *rest = order
    said = winner.signature.cause
    follows = causes[said].explains if said in causes else ()
    near = (e for sum_, e in rest if most - sum_ < NEAR_SUM and weight(e) >= GENERAL)
    return next((e for e in near if e.signature.cause not in (said, *follows, *FOLLOWS)), None)


def features(rivals: Sequence[Event], failed_first: int | None, causes: Mapping[str, Cause]) -> list[dict[str, float]]:
    """One table of features a candidate, in the order given (that in which they happened); what is 0 is left out."""
    whole = [_own(event) | _of_rank(event, failed_first) for event in rivals]
    for tables in (_of_place(rivals), _of_exceptions(rivals), _of_explanations(rivals, causes)):
        for table, more in zip(whole, tables, strict=True):
            table.update(more)
    return [{name: value for name, value in table.items() if value} for table in whole]


def raised(event: Event) -> bool:
    """Whether an exception was raised and not swallowed, in Python or in another language that prints one so."""
    if event.error is None:
        return event.signature.group == "programs" and event.signature.kind == "fallback"
    return not event.error.ignored


def of_code(event: Event) -> bool:
    """Whether its exception is of a type that tells of the program's own code."""
    return event.error is not None and event.error.type.rpartition(".")[2] in OF_CODE


def _own(event: Event) -> dict[str, float]:
    said = event.signature
    return {
        f"kind {said.kind}": 1.0,
        tier(event): 1.0,
        f"level {event.level}": float(bool(event.level)),
        "exception": float(raised(event)),
        "exception of code": float(of_code(event)),
        "exception of no telling type": float(said.id == PYTHON_EXCEPTION and not of_code(event)),
        "frame of the person's code": float(event.error is not None and event.error.own_frame is not None),
        "survived": float(survived(event)),
        "survived for long": float(long_past(event)),
        "progress after it": float(event.progress_after > 0),
        "follows from others": float(said.cause in FOLLOWS),
    }


def _of_rank(event: Event, failed_first: int | None) -> dict[str, float]:
    if failed_first is None or not event.ranks:
        return {}
    return {"on the rank that failed first" if failed_first in event.ranks else "on another rank": 1.0}


def _of_place(rivals: Sequence[Event]) -> list[dict[str, float]]:
    first: dict[int, int] = {}
    for number, event in enumerate(rivals):
        first.setdefault(_level(event), number)
    fatal = [weight(e) >= EFFECT and not survived(e) and e.signature.cause not in FOLLOWS for e in rivals]
    last = len(rivals) - 1
    return [
        {
            "first of its tier": float(first[_level(event)] == number),
            "last": float(number == last),
            "survived, unlike another": float(any(fatal) and survived(event)),
            "first that was not survived": float(fatal[number] and fatal.index(True) == number),
        }
        for number, event in enumerate(rivals)
    ]


def _level(event: Event) -> int:
    return sum(weight(event) >= floor for floor in (STRONG, GENERAL))


def _of_exceptions(rivals: Sequence[Event]) -> list[dict[str, float]]:
    """What was raised before and after: a remark that the program outlived does not explain its later exception."""
    numbers = [n for n, event in enumerate(rivals) if raised(event)]
    codes = [n for n in numbers if of_code(rivals[n])]
    last_line = max((rivals[n].line for n in codes), default=0)
    tables: list[dict[str, float]] = []
    for number, event in enumerate(rivals):
        said = event.signature
        remark = not raised(event)
        at = bisect(numbers, number)
        following = next(iter(numbers[at : at + 1]), None)
        tables.append(
            {
                "after an exception": float(bool(numbers) and numbers[0] < number),
                "close before an exception": float(
                    following is not None and rivals[following].line - event.last_line <= NEAR
                ),
                "before an exception of code": float(
                    remark and said.kind != "verdict" and bool(codes) and codes[-1] > number
                ),
                "long before an exception of code": float(
                    remark and said.kind in ("cause", "error") and last_line - event.last_line > APART
                ),
            }
        )
    return tables


def _of_explanations(rivals: Sequence[Event], causes: Mapping[str, Cause]) -> list[dict[str, float]]:
    explains = [causes[e.signature.cause].explains if e.signature.cause in causes else () for e in rivals]
    named = {cause for e, each in zip(rivals, explains, strict=True) if weight(e) >= STRONG for cause in each}
    machine = {c for e, each in zip(rivals, explains, strict=True) if _of_machine(e, causes) for c in each}
    later: list[frozenset[str]] = [frozenset()]
    for event in reversed(rivals[1:]):
        later.append(later[-1] | {event.signature.cause})
    before: set[str] = set()
    tables: list[dict[str, float]] = []
    for event, each, rest in zip(rivals, explains, reversed(later[: len(rivals)]), strict=True):
        cause = event.signature.cause
        tables.append(
            {
                "explained by one before": float(cause in before),
                "explained by one that names its cause": float(cause in named),
                "explained by the scheduler or GPU": float(cause in machine),
                "explains a later one": float(not rest.isdisjoint(each)),
            }
        )
        if weight(event) >= GENERAL:
            before.update(each)
    return tables


def _of_machine(event: Event, causes: Mapping[str, Cause]) -> bool:
    """Whether the scheduler or the GPU's driver names a cause that the run did not survive."""
    told = causes.get(event.signature.cause)
    return told is not None and told.group in ("scheduler", "gpu") and weight(event) >= STRONG and not survived(event)


@cache
def _weights() -> dict[str, float]:
    loaded: dict[str, float] = json.loads(WEIGHTS.read_text())
    return loaded
