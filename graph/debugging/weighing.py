"""What one event is worth by itself: how strongly it speaks for its cause, and whether the run went on after it."""

from __future__ import annotations

import re

from graph.debugging.events import Event
from graph.debugging.scan import LONG, WENT_ON

STRONG, GENERAL, EFFECT, FAINT = 70, 45, 30, 8
# An exception that Python swallowed (in a destructor): a sign only where nothing else is.
SWALLOWED = 20
# What a line of its own log level is worth less by.
DISCOUNT = {"": 0, "notice": 0, "warning": 25, "info": 35}
# An advisory never outranks an error; it counts where it explains one.
ADVISORY = 44
# What a program says that caught the error itself. A retry is only a promise.
CAUGHT = re.compile(
    r"(?i)\bskip(?:ping|ped)? (?:this |the |current |a |that )?(?:\w+ )?(?:batch|step|sample|iteration|example|update)"
)
RETRIED = re.compile(
    r"(?i)\b(?:will retry|retrying|trying again|attempting to recover|try(?:ing)? (?:the )?next|trying another)\b"
)
# What the next line says of the one above.
BESIDE = re.compile(r"(?i)\bfall(?:ing|s)? back (?:to|on)\b|\busing (?:the )?default")
# What it says that it does instead. True where the run then goes on: a program may promise it and die.
INSTEAD = re.compile(
    r"(?i)[,;:.)(-] ?(?:so |will |we |now |but )*(?:start(?:ing)? from (?:scratch|step 0|the beginning)"
    r"|us(?:e|ing) (?:the )?defaults?|fall(?:ing)? back (?:to|on)|continu(?:e|ing) (?:without|anyway)|skipping)\b"
    # "..., halving": the last words tell what is done next; an end is no such thing.
    r"|, (?!(?:exit|abort|terminat|stopp|quit|giv|kill|shutt|fail|dy|caus|rais)ing\b)[a-z]+ing(?: [\w .]{1,40})?!?$"
)


def weight(event: Event) -> int:
    """How strongly an event speaks for its cause, 0 to 100, after what its line says of itself."""
    strength = event.signature.strength
    if event.error is not None and event.error.ignored:
        return SWALLOWED if strength >= STRONG else min(strength, FAINT - 1)
    if strength >= 90 or event.signature.kind in ("verdict", "final") or event.error is not None:
        return strength
    return max(0, min(ADVISORY, strength - DISCOUNT[event.level])) if DISCOUNT[event.level] else strength


def tier(event: Event) -> str:
    """Its weight as one of four: it names a cause, is a general error, an after-effect, or less."""
    worth = weight(event)
    return "names" if worth >= STRONG else "general" if worth >= GENERAL else "effect" if worth >= EFFECT else "faint"


def caught(event: Event) -> bool:
    """Whether the program's own line says that it left the failed piece out."""
    return CAUGHT.search(event.text) is not None


def survived(event: Event) -> bool:
    """Whether the run went on: plainly after the last time, or a little each time, or the program says so."""
    seen = event.progress_after
    if event.own_progress:
        return True
    retried = RETRIED.search(event.text) or RETRIED.search(event.beside)
    if caught(event) or (seen and (retried or instead(event))):
        return True
    return seen >= WENT_ON or (seen > 0 and seen + event.progress_between >= WENT_ON)


def instead(event: Event) -> bool:
    """Whether the program's own line tells how it goes on; what it raised and let go does not."""
    said = INSTEAD.search(event.text) or BESIDE.search(event.beside)
    return event.error is None and event.signature.kind != "verdict" and said is not None


def long_past(event: Event) -> bool:
    """Whether much of a run came after it; where ranks are told apart, that of the same ranks."""
    return event.own_progress or (event.rank is None and event.progress_after >= LONG)
