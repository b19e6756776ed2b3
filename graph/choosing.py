"""Short answers that pick from what was offered, and what to take when a person leaves a choice to us."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from knowledge.types import Alternative, JobRequest, Question

YES = re.compile(r"(y|yes|yep|yeah|ok|okay|sure|please|do (it|that)|go ahead|fine|ja|oui|si|sí)[.! ]*", re.I)
NUMBER = re.compile(
    r"(?:option |number |no\.? ?|the )?(\d|first|second|third|fourth|last)(?: one| option)?[.) ]*", re.I
)
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
LEFT_TO_US = re.compile(
    r"\b(you (choose|pick|decide)|up to you|your (choice|call)|((do ?n[o']?t|no) (know|idea|care|preference|mind))|"
    r"dunno|idk|not sure|unsure|whatever|whichever|any(thing)? (is fine|will do)|surprise me|"
    r"(what|which)( one)? (do|would) you (recommend|suggest|advise)|(you )?(recommend|suggest))\b|"
    r"^\W*((use|take) )?(the |your )?(default|any|either)s?\W*$",
    re.I,
)
MOST_WORDS = 12
# What to take where a person leaves a field to us, and why.
ADVICE: dict[str, tuple[str | int, str]] = {
    "framework": ("pytorch", "plain PyTorch is the least to install"),
    "strategy": ("ddp", "the simplest; right whenever the model fits on one GPU"),
    "nodes": (1, "one node starts soonest; it is easy to grow afterwards"),
}


def chosen(text: str, offered: Sequence[Alternative]) -> Alternative | None:
    """Which of the ways round a refusal the message picks: by its number, its words, or a bare yes to the first."""
    words = text.strip()
    if not offered or len(words) > 200:
        return None
    number = NUMBER.fullmatch(words)
    if number:
        name = number[1].lower()
        place = len(offered) if name == "last" else ORDINALS.get(name) or int(name)
        return offered[place - 1] if 1 <= place <= len(offered) else None
    if YES.fullmatch(words):
        return offered[0]
    return next((way for way in offered if way.says.lower() == words.lower()), None)


def apply(request: JobRequest, way: Alternative) -> JobRequest:
    """The request changed that way. A total no longer binds once nodes or GPUs a node were chosen."""
    change = dict(way.change)
    if {"nodes", "gpus_per_node"} & change.keys():
        change.setdefault("total_gpus", None)
    return changed(request, change)


def changed(request: JobRequest, change: Mapping[str, str | int | None]) -> JobRequest:
    return replace(request, **change)  # type: ignore[arg-type]


def recommended(text: str, question: Question) -> tuple[str | int, str] | None:
    """The value to take, and why, where the answer leaves the choice to us; None where it does not."""
    if question.field not in ADVICE or len(text.split()) > MOST_WORDS or not LEFT_TO_US.search(text):
        return None
    value, why = ADVICE[question.field]
    if question.options and value not in question.options:
        return question.options[0], "the first that this framework offers"
    return value, why
