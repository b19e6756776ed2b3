"""The requests that led to a script: what a refused change leaves standing, and what `undo` goes back to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields

from graph.state import State
from knowledge.types import JobRequest, Say

MOST_REMEMBERED = 20
UNDO = re.compile(
    r"\W*(?:(?:please|no|ok|okay|actually|wait|hm+|oh|sorry|never ?mind|nah)[,.!]* )*"
    r"(?:undo|revert|roll ?back|go back|take (?:that|it) back|"
    r"(?:go )?back to (?:the )?(?:last|previous|old|earlier|one before)(?: one| script| version)?|"
    r"restore (?:the )?(?:last|previous|old)(?: one| script| version)?)"
    r"(?: (?:that|it|this|the last (?:change|one|step)|my last (?:change|message)))?(?:,? please)?\W*",
    re.I,
)
NOTHING = "There is no earlier script to go back to."
UNTOLD = frozenset({"heard", "setup", "variables"})


def agree(earlier: Sequence[JobRequest], request: JobRequest) -> tuple[JobRequest, ...]:
    """The request led to a script."""
    same = earlier and earlier[-1] == request
    return tuple(earlier) if same else (*earlier, request)[-MOST_REMEMBERED:]


def undo(state: State) -> State | None:
    """The request before the newest script; None where the message does not ask for it."""
    agreed = tuple(state.get("agreed", ()))
    if not UNDO.fullmatch(state["text"].strip()):
        return None
    if not agreed:
        return State(intent="smalltalk", said=(Say(NOTHING),))
    if state.get("refused") is not None or len(agreed) < 2:
        return State(intent="generate", request=agreed[-1], refused=None, question=None, said=(Say(NOTHING),))
    return State(
        intent="generate",
        request=agreed[-2],
        source=carried_by(agreed[-2], agreed[-1], state.get("source", "")),
        agreed=agreed[:-1],
        refused=None,
        question=None,
        offered=None,
    )


def carried_by(request: JobRequest, before: JobRequest, source: str) -> str:
    """The script that a request carries over: none, where the request before did and this one holds nothing of it."""
    was, now = (any(one.origin == "script" for one in each.heard) for each in (before, request))
    return "" if was and not now else source


def stands(state: State) -> tuple[JobRequest, JobRequest | None, tuple[Say, ...]]:
    """After a refusal: the request that stands, the one that was refused, and what to say of it.

    The newest script's request stands, where the change was one of that same machine.
    """
    agreed, refused = state.get("agreed", ()), state.get("request") or JobRequest()
    if not agreed or state["intent"] == "port" or agreed[-1] == refused or agreed[-1].machine != refused.machine:
        return refused, None, ()
    left_out = ", ".join(
        f"{name.replace('_', ' ')} {getattr(refused, name)}" for name in differing(agreed[-1], refused)
    )
    words = f"Until then the script stays as it was, without *{left_out}*." if left_out else ""
    return agreed[-1], refused, (Say(words),) if words else ()


def differing(one: JobRequest, other: JobRequest) -> tuple[str, ...]:
    names = (field.name for field in fields(JobRequest) if field.name not in UNTOLD)
    return tuple(n for n in names if getattr(one, n) != getattr(other, n) and getattr(other, n) is not None)


def corrects(agreed: JobRequest, refused: JobRequest, heard: JobRequest) -> bool:
    """Whether a message speaks of what was refused: then it goes on from there, else that is forgotten."""
    return any(getattr(heard, name) != getattr(refused, name) for name in differing(agreed, refused))
