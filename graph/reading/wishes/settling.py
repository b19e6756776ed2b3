"""What the rules read of a message against the tagger's reading of the same words.

A number that the tagger gives to another slot (the lead time of a signal, the GPUs of a second program) is none of the
job's own sizes, and a program that is named beside the present one does not take its place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from graph.reading.edits import apply_edits
from graph.reading.wishes.tagger import Span, Wishes, read_wishes
from graph.reading.wishes.taking import LONGEST, MOST_LINES, meant_spans, orders_of
from graph.reading.wishes.values import SINGLE, edits_of
from knowledge.job_parts import Program
from knowledge.types import Heard, JobRequest, Understood
from knowledge.word_lists import word_set

ORDERED = 0.97  # from which a message is an order, whatever else is thought of it
# How sure a tag of another slot must be to take words from a size.
OTHER = 0.45
# Slots that speak of the same thing as a size, or of nothing that a job has.
SAME = word_set("nodes gpus_per_node total_gpus walltime strategy node_type least_nodes given was rank_setup deadline")
ADDED = ("then", "beside", "after", "before")
# What tells that a program comes beside the present one, in its languages.
BEHIND = re.compile(
    r"\b(?:also|after\w*|then|next|finally|danach|anschlie\w+|nachher|auch|aussi|apr[eè]s|ensuite|puis|despu[eé]s|luego"
    r"|tambi[eé]n|dopo|poi|anche|depois|tamb[eé]m|potem|nast[eę]pnie)\b|потом|затем|после|之后|以后|再|然后|後で",
    re.I,
)


# That sizes are those of the whole.
OF_THE_JOB = re.compile(
    r"\b(?:the|this|whole) (?:job|training|run|script)\b(?! (?:ends?|is over|has))|\b(?:der|den) job\b"
    r"|\ble (?:job|travail)\b|\bel trabajo\b",
    re.I,
)


def orders_change(text: str, least: float = ORDERED) -> bool:
    """Whether the tagger is so sure that a message orders something of the job that stands."""
    wishes = orders_of(text, stands=True, least=least)
    return wishes is not None and bool(wishes.spans)


def is_order(text: str, least: float = ORDERED) -> bool:
    """Whether the tagger is sure that a message orders something, whether or not it knows what."""
    return orders_of(text, stands=True, least=least) is not None


def settle(read: Understood, before: JobRequest, text: str) -> Understood:
    """The rules' reading of a change without what the tagger reads otherwise; what is taken out is named.

    before: the job that stands.
    """
    if len(text) > LONGEST or text.count("\n") > MOST_LINES:
        return read
    read = without_taken_words(read, before, text, read_wishes(text, ("stands",)))
    return with_own_sizes(with_both_programs(read, before, text), before, text)


def without_taken_words(read: Understood, was: JobRequest, text: str, wishes: Wishes) -> Understood:
    """The request without sizes whose words are a value of another slot; that slot's own edits take their place."""
    for heard in [one for one in read.request.heard if one not in was.heard and one.field == "walltime"]:
        span = other_slot(heard, text, wishes)
        if span is None:
            continue
        request = replace(read.request, **{heard.field: getattr(was, heard.field)})
        request = replace(request, heard=tuple(one for one in request.heard if one != heard))
        meant = [edit for one in edits_of([span], request) for edit in one.edits]
        left = () if meant else (span.text,)
        read = replace(read, request=apply_edits(request, meant).request, left=(*read.left, *left))
    return read


def other_slot(heard: Heard, text: str, wishes: Wishes) -> Span | None:
    """The tagged value of another slot that the words of a size lie in."""
    start = text.find(heard.words) if re.search(r"\d|\w{4}", heard.words) else -1
    inside = [s for s in wishes.spans if start >= 0 and s.start < start + len(heard.words) and start < s.end]
    other = [s for s in inside if s.slot not in SAME and SINGLE.get(s.slot, ("",))[0] != heard.field]
    sure = [s for s in meant_spans(text, wishes, lambda slot: OTHER) if s in other]
    return sure[0] if sure and len(inside) == 1 else None


def with_both_programs(read: Understood, was: JobRequest, text: str) -> Understood:
    """A second program behind the one that stands, where the message names both and asks for no exchange."""
    now = read.request
    both = (
        was.entry and now.entry and now.entry != was.entry and re.search(rf"(?<![\w/]){re.escape(was.entry)}\b", text)
    )
    if not both or not was.entry or not now.entry or not BEHIND.search(sentence_of(text, now.entry)):
        return read
    sizes: dict[str, Any] = {name: getattr(was, name) for name in ("entry", "args", "argument_edits", "strategy")}
    return replace(
        read,
        request=replace(now, **sizes, then=(*now.then, Program(now.entry, None if now.args == was.args else now.args))),
    )


def sentence_of(text: str, word: str) -> str:
    """The stretch between stops and commas that a word stands in; empty where it is not said."""
    return next((one for one in re.split(r"[;,\n\u3002]|[.!?]\s", text) if word in one), "")


def with_own_sizes(read: Understood, was: JobRequest, text: str) -> Understood:
    """Sizes that come with a further program as that one's own, and the job's as they were."""
    now = read.request
    if OF_THE_JOB.search(text):
        return read
    added = [name for name in ADDED if len(getattr(now, name)) > len(getattr(was, name))]
    sized = [name for name in ("nodes", "gpus_per_node", "total_gpus") if getattr(now, name) != getattr(was, name)]
    if len(added) != 1 or not sized:
        return read
    back: dict[str, Any] = {name: getattr(was, name) for name in (*sized, "strategy")}
    request = replace(now, **back)
    programs: tuple[Program, ...] = getattr(now, added[0]) if added[0] in ("then", "beside") else ()
    lone = programs[-1] if added[0] == "then" and now.gpus_per_node == 1 and "nodes" not in sized else None
    if lone and not request.container and lone.entry.endswith(".py"):
        # One process of the batch script: it does not join the ranks that the variables tell of.
        alone = " ".join(filter(None, ("env -u WORLD_SIZE python", lone.entry, lone.args)))
        request = replace(request, then=programs[:-1], after=(*now.after, alone))
    elif programs:
        own: dict[str, Any] = {name: getattr(now, name) for name in ("nodes", "gpus_per_node") if name in sized}
        changed: dict[str, Any] = {added[0]: (*programs[:-1], replace(programs[-1], **own))}
        request = replace(request, **changed)
    return replace(read, request=request)
