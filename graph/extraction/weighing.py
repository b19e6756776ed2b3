"""A change of the job that stands, by two readers: the rules, and the tagger of wishes.

Where they read the same it is done. Where they differ the tagger's reading is done if it is sure of the whole line and
passes nothing over; else both are said, and done on a yes. Of 1,445 annotated changes of three voices that its fit had
not seen, 462 were read otherwise: the tagger was right in 46 percent of them, the rules in 11.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.extraction.sentences.choose import IMPLIED
from graph.reading.account import DIRECTIVE, places
from graph.reading.edits import FIELDS, Edit, Set, apply_edits
from graph.reading.parts import AT_LIMIT
from graph.reading.wishes.tagger import Span
from graph.reading.wishes.taking import meant_spans, meant_wishes, orders_of
from knowledge.job_parts import LimitSignal
from knowledge.types import Heard, JobRequest, Understood
from knowledge.word_lists import word_set

# How sure the tagger must be that a message orders, and of a tag.
ORDERED, LEAST = 0.9, 0.3
# From this probability of the whole line its reading is done; below the other, one that both share is asked about too.
SURE_OF_WHOLE, DOUBTFUL = 0.6, 0.2
# `Make it 16`: what was spoken of before says of what.
FEW_WORDS, SHORT = 3, 8
# Words that may be a value: others only say what is wished, where all values are read.
VALUE = re.compile(r"(?<!\S)-|\d|/|[\u3400-\u9fff]")
# A job on another machine, a job anew and the way back: their readers know what goes along.
ELSEWHERE = word_set("machine source_machine reset undo redo")
# What the rules read better: an argument by what people call it, a further program's own sizes, the layout of a total,
# when a mail is sent, and fields that no tag sets.
LEFT_TO_RULES, OF_RULES = word_set("arg_name then beside total_gpus mail"), ("modules_only", "account")
READ_BY_RULES = word_set("machine nodes")  # and so is what a tag seldom tells
SERVED = word_set("vllm sglang")  # a program of its own, which the rules start
# What is compared: the rest follows from it, or only tells where it was heard.
COMPARED = FIELDS - {"heard", "site_words", "patches", "total_gpus"}
HEARD = word_set("walltime queue account environment container")
DERIVED = word_set("strategy framework walltime node_type")  # may follow from other fields, with no word of their own


@dataclass(frozen=True, slots=True)
class TaggedChange:
    """request: the job after it; edits that made it; open: spans of which no edit came; whole: how sure it is, 0 to 1,
    that nothing of the message is read wrong or missing; slots: what its spans are."""

    request: JobRequest
    edits: tuple[Edit, ...]
    open: tuple[Span, ...]
    whole: float
    slots: frozenset[str] = frozenset()


def weigh(read: Understood, before: JobRequest, text: str) -> Understood:
    """The rules' reading of a change, or the tagger's where it reads otherwise; doubtful where neither is sure."""
    begun = before.entry is None  # a first request in parts: its sizes and names stand in many ways
    if begun or read.intent == "port" or read.notes or len(text.split()) <= FEW_WORDS:
        return read
    tagged = tagged_change(text, before)
    if tagged is None or tagged.slots & LEFT_TO_RULES:
        return read
    ruled = read.request if read.intent == "generate" else before
    now = with_fields_of_rules(tagged, ruled, before)
    if not differing(ruled, now) or (tagged.open and is_part(now, ruled, before)):
        return agreed(read, tagged, before, text)
    if not differing(now, before):
        return read
    more = {name for name in COMPARED if getattr(ruled, name) != getattr(now, name)}
    if more <= READ_BY_RULES and is_part(now, ruled, before):
        return read  # what the tagger passes over there is no other reading
    doubtful = tagged.whole < SURE_OF_WHOLE or reads_more(ruled, now, before)
    if doubtful and differing(ruled, before):
        if shared := evidenced(ruled, now, before, text):
            return replace(read, request=shared, left=still_left(read, shared, before, tagged))
        return replace(read, left=still_left(read, now, before, tagged), doubtful=True, rival=now)
    left = (*still_left(read, now, before, tagged), *(one.text for one in tagged.open if one.sure >= SURE_OF_WHOLE))
    return Understood("generate", now, (), tuple(dict.fromkeys(left)), (), doubtful)


def evidenced(ruled: JobRequest, now: JobRequest, before: JobRequest, text: str) -> JobRequest | None:
    """What both read, with names that one alone read and that stand in the text: `2 nodes and dev-g first`.

    None where they read a field differently, share nothing, or a number of the text is in neither's share.
    """
    ours, theirs = (
        {name: getattr(one, name) for name in COMPARED if getattr(one, name) != getattr(before, name)}
        for one in (ruled, now)
    )
    shared = {name: value for name, value in ours.items() if theirs.get(name) == value}
    alone = {name: value for name, value in {**theirs, **ours}.items() if name not in shared}
    if not shared or any(name in ours and name in theirs for name in alone):
        return None
    named: dict[str, Any] = {
        name: value for name, value in alone.items() if isinstance(value, str) and stands_in(value, text)
    }
    numbers = set(re.findall(r"\d+", " ".join(map(str, (*shared.values(), *named.values())))))
    if set(re.findall(r"\d+", text)) - numbers or alone.keys() - named.keys() - DERIVED:
        return None
    kept: dict[str, Any] = {name: getattr(before, name) for name in alone if name not in named}
    return replace(ruled, **kept, **named)


def stands_in(value: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text, re.I) is not None


def agreed(read: Understood, tagged: TaggedChange, before: JobRequest, text: str) -> Understood:
    """What both read alike: without words that are no values where the tagger is sure of the whole."""
    if read.request == before:
        return read
    if tagged.whole < DOUBTFUL and (read.left or len(text.split()) > SHORT):
        return replace(read, doubtful=True)
    sure = tagged.whole >= SURE_OF_WHOLE
    return replace(read, left=still_left(read, read.request, before, tagged)) if sure else read


def still_left(read: Understood, now: JobRequest, before: JobRequest, tagged: TaggedChange) -> tuple[str, ...]:
    """What the rules left of the words, without pieces whose value was read, or that only name what was changed
    (`make it an array`)."""
    values = [words for edit in tagged.edits if (words := getattr(edit, "words", ""))]
    names = {part for name in COMPARED if getattr(now, name) != getattr(before, name) for part in name.split("_")}
    kept = (one for one in read.left if not any(places(one, words) for words in values))
    return tuple(one for one in kept if VALUE.search(one) or names.isdisjoint(one.lower().split()))


def is_part(some: JobRequest, whole: JobRequest, before: JobRequest) -> bool:
    """Whether all changes of the one are among those of the other."""
    for name in COMPARED:
        was, less, more = (getattr(one, name) for one in (before, some, whole))
        among = isinstance(less, tuple) and isinstance(more, tuple) and set(less) <= set(more)
        if less not in (was, more) and not among:
            return False
    return True


def reads_more(ruled: JobRequest, tagged: JobRequest, before: JobRequest) -> bool:
    """Whether the rules change a field that the tagger leaves as it was: what it passes over is not dropped."""
    return any(
        getattr(ruled, name) != getattr(before, name) and getattr(tagged, name) == getattr(before, name)
        for name in COMPARED
    )


def with_fields_of_rules(tagged: TaggedChange, ruled: JobRequest, before: JobRequest) -> JobRequest:
    """The tagger's reading with what the rules read of fields that it left as they were, and that they know better."""
    now, told = tagged.request, any(one.startswith("mail_") and one != "mail_to" for one in tagged.slots)
    if now.mail and ruled.mail and now.mail.address == ruled.mail.address and not told:
        now = replace(now, mail=ruled.mail)  # no event is tagged: the words of the whole tell
    new = {name: getattr(ruled, name) for name in OF_RULES if getattr(ruled, name) != getattr(before, name)}
    return replace(now, **{name: value for name, value in new.items() if getattr(now, name) == getattr(before, name)})


def tagged_change(text: str, before: JobRequest) -> TaggedChange | None:
    """What the tagger reads of a message that surely orders a change; None where it orders nothing of the request."""
    wishes = orders_of(text, stands=True, least=ORDERED)
    if wishes is None or ("\n" in text and DIRECTIVE.search(text)):  # lines of a script, for who reads those
        return None
    spans = meant_spans(text, wishes, lambda slot: LEAST)
    if any(one.slot in ELSEWHERE or one.text.lower() in SERVED for one in spans):
        return None
    meant = meant_wishes(text, wishes, spans, before)
    edits = tuple(edit for one in meant for edit in one.edits)
    request = apply_edits(before, edits).request
    if request.requeue and not (before.requeue or request.signal) and AT_LIMIT.search(text):
        request = replace(request, signal=LimitSignal())
    request = with_heard(followed_up(request, before), before, edits)
    slots = frozenset(one.slot for one in spans)
    return TaggedChange(request, edits, tuple(one.span for one in meant if not one.edits), wishes.whole, slots)


def differing(one: JobRequest, other: JobRequest) -> bool:
    return any(getattr(one, name) != getattr(other, name) for name in COMPARED)


def followed_up(now: JobRequest, was: JobRequest) -> JobRequest:
    """The request with what follows from its changes: of counts that exclude each other the new ones stay."""
    if now.cpu_only and not was.cpu_only:
        return replace(now, gpus_per_node=None, total_gpus=None, node_type=None)
    sized = (now.nodes, now.gpus_per_node) != (was.nodes, was.gpus_per_node)
    if now.total_gpus != was.total_gpus and now.total_gpus and not sized:
        each = now.gpus_per_node if now.total_gpus % (now.gpus_per_node or 1) == 0 else None
        now = replace(now, nodes=None if now.nodes != 1 or each else 1, gpus_per_node=each)
    elif sized and now.total_gpus == was.total_gpus:
        now = replace(now, total_gpus=None)
    if now.strategy != was.strategy and now.framework == was.framework and was.framework in (None, *IMPLIED.values()):
        brought: Any = IMPLIED.get(str(now.strategy), now.framework)
        now = replace(now, framework=brought)
    degrees = (now.tensor_parallel, now.pipeline_parallel)
    split = degrees != (was.tensor_parallel, was.pipeline_parallel) and min(one or 1 for one in degrees) > 1
    return replace(now, strategy="3d") if split and now.strategy == was.strategy else now


def with_heard(request: JobRequest, before: JobRequest, edits: Sequence[Edit]) -> JobRequest:
    """The request with the words of what changed, where these are kept."""
    told = [one for one in edits if isinstance(one, Set) and one.field in HEARD and one.words]
    new = [Heard(e.field, "said", e.words) for e in told if getattr(request, e.field) != getattr(before, e.field)]
    kept = tuple(one for one in request.heard if one.field not in {e.field for e in new} or one not in before.heard)
    return replace(request, heard=(*kept, *new)) if new else request
