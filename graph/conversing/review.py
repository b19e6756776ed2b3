"""The one look at an answer before anybody sees it: what facts, checks and the thread hold against it, and what would
stand beneath it, goes back to the model once, and it answers anew.

A note printed beside somebody's words is read as a correction, whether it is right or not; who wrote them can tell
which of the notes matter. What is still against the second answer is printed as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graph.conversing.guard import Guard
from graph.conversing.hand import PRICE
from knowledge.types import Made, Said

# At the answer's end: the notes beneath it are wrong or needless.
NO_NOTES = "[[no notes]]"
PRICED = PRICE.partition("{")[0]
AGAINST = "Against it:"
BENEATH = "Beneath it would stand:"
ASKED = (
    "Nobody has seen this answer yet. {}\n\nAnswer again, whole: mend what is right in that, keep what you are sure of "
    "and say whose word it is (memory, their message). Call tools first where the script has to change. What stands "
    f"beneath and matters, say yourself, then it goes; where it is wrong or needless, end with {NO_NOTES}. No word of "
    "this look."
)


def objections(guard: Guard) -> Iterator[str]:
    """What is held against an answer that has ended."""
    yield from guard.taken_out
    yield from guard.facts
    yield from guard.against()


def notes_beneath(parts: Iterable[Said]) -> list[str]:
    """The notes beside scripts that were found by comparing texts, which their writer may know to be wrong."""
    return [note for part in parts if isinstance(part, Made) for note in part.notes if not note.startswith(PRICED)]


def asked_again(guard: Guard, beneath: Iterable[str]) -> str:
    """The request for a second answer; empty where nothing is against the first one. beneath: the notes under it."""
    parts = [(AGAINST, list(dict.fromkeys(objections(guard)))), (BENEATH, list(beneath))]
    told = [f"{name}\n" + "\n".join(f"- {row}" for row in rows) for name, rows in parts if rows]
    return ASKED.format("\n".join(told)) if told else ""
