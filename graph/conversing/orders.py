"""What a model gives as values: what of it the person ordered, what the person alone may say, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from graph.conversation.option_choice import AGREED
from graph.conversing.ground import stands
from graph.conversing.hand import Hand
from graph.conversing.said import CLOCK, SPOKEN, is_said, numbers_in, plain
from graph.extraction.request import understand
from graph.extraction.walltime import clock
from graph.planning.request_fields import FIELDS, with_fields
from knowledge.cluster import walltime_seconds
from knowledge.errors import InputError
from knowledge.types import Heard, JobRequest

MOST_AGREEING = 6
AGREES = re.compile(rf"\W*{AGREED}\b", re.I)
SPOKEN_TIME = re.compile(r"(?:(\d+(?:\.\d+)?) ?h(?:ours?)?)? ?(?:(\d+) ?m(?:in)?(?:utes)?)?")
SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
# Nobody but the person knows these.
OWN_TO_THEM = ("account",)
# What costs, or decides what the program has to be.
WEIGHTY = ("nodes", "gpus_per_node", "walltime", "queue", "strategy")
COUNTS = frozenset({"nodes", "gpus_per_node"})


def unsaid(hand: Hand, before: JobRequest, now: JobRequest, words: str = "") -> tuple[str, ...]:
    """The fields that were given a value which neither the person nor the rules' reading of the words has."""
    words = words or hand.words
    changed = [one.name for one in fields(JobRequest) if getattr(before, one.name) != getattr(now, one.name)]
    return tuple(
        name
        for name in changed
        if name in WEIGHTY
        and (value := getattr(now, name)) is not None
        and getattr(hand.read, name) != value
        and not is_said(str(value), words, grows=grows(getattr(before, name), value))
        and not ordered_before(hand, name, value)
        and not (name in COUNTS and all_gpus(now) in numbers_in(words))
    )


def all_gpus(request: JobRequest) -> int:
    """The GPUs of the whole job, which is how many people count them; 0 where one of the two is open."""
    return (request.nodes or 0) * (request.gpus_per_node or 0)


def ordered_before(hand: Hand, name: str, value: object) -> bool:
    """Whether the last sentence of the earlier turns that speaks of the field ordered that very value.

    A question orders nothing, and takes back what was ordered before it.
    """
    start = JobRequest(machine=hand.request.machine)
    sentences = [one for turn in hand.began.get("talk", ()) for one in SENTENCES.split(turn.said)]
    for sentence in reversed(sentences):
        read = getattr(understand(sentence, start, None, None).request, name)
        if name == "queue" and read is None and stands(str(value), sentence.lower()):
            read = value
        if read is not None:
            return bool(read == value) and "?" not in sentence
    return False


def grows(before: object, now: object) -> bool:
    """Whether a number or a time is more than before; where there was none, it is."""
    if isinstance(before, int) and isinstance(now, int):
        return now > before
    if before and CLOCK.fullmatch(str(before)) and CLOCK.fullmatch(str(now)):
        return walltime_seconds(str(now)) > walltime_seconds(str(before))
    return True


def ordered_now(hand: Hand) -> str:
    """What this message orders; one that agrees, or a few words, may mean what the answer before proposed."""
    words, talk = hand.turn.words, hand.began.get("talk", ())
    few = len(words.split()) <= MOST_AGREEING and "?" not in words
    return f"{words}\n{talk[-1].answered}" if talk and (few or AGREES.match(words)) else words or "-"


def with_values(hand: Hand, request: JobRequest, values: Mapping[str, Any]) -> JobRequest:
    """The request with these values; an account that the person never named is refused. Raises InputError."""
    for name, value in values.items():
        text = str(value)
        refuse_value(hand, request, name, text)
        if name == "walltime" and (found := SPOKEN_TIME.fullmatch(text.strip())):
            text = clock(3600 * float(found[1] or 0) + 60 * float(found[2] or 0))
        if name == "walltime" and text and not CLOCK.fullmatch(text):
            raise InputError(f"walltime '{text[:40]}' is not HH:MM:SS")
        if text == "" or text.startswith("="):
            empty = () if isinstance(getattr(request, name), tuple) else None
            request, text = replace(request, **{name: empty}), text[1:]  # type: ignore[arg-type]
        if text:
            request = with_fields(without_same(request, name, text), [f"{name}={text}"])
    if COUNTS & values.keys() and "total_gpus" not in values:
        request = replace(request, total_gpus=None)
    return as_counted(hand, request) if values.get("gpus_per_node") else request


def as_counted(hand: Hand, request: JobRequest) -> JobRequest:
    """The request with the words in which the person counted GPUs: cards, or the tiles of which a card is several."""
    count = request.gpus_per_node
    numbers = "|".join([str(count), *(word for word, value in SPOKEN.items() if value == count)])
    said = re.search(
        rf"(?i)\b(?:{numbers})\b[^.;\n\d]{{0,25}}?\b(?:gcds?|tiles?|cards?|mi\d+x?|modules?)\b", hand.words
    )
    others = tuple(one for one in request.heard if one.field != "gpus_per_node")
    return replace(request, heard=(*others, Heard("gpus_per_node", "said", said[0])) if said else others)


def refuse_value(hand: Hand, request: JobRequest, name: str, text: str) -> None:
    """Raises InputError for a value that no model may give."""
    if name == "machine":
        raise InputError("another machine is a port: call port_script")
    if name not in FIELDS:
        raise InputError(f"no field '{name}'; there are {', '.join(sorted(FIELDS))}")
    if text and name in OWN_TO_THEM and plain(text) not in plain(hand.words):
        raise InputError(f"{name} '{text[:40]}' was not said: leave it out, a placeholder stands for it")
    cluster = hand.context.cluster(request)
    if name == "queue" and text and cluster and cluster.queue(text) is None and not is_said(text, hand.words):
        raise InputError(f"{cluster.title} has no queue '{text[:40]}': {', '.join(q.id for q in cluster.queues)}")


def without_same(request: JobRequest, name: str, text: str) -> JobRequest:
    """The request without the variable that is set anew."""
    if name != "variables":
        return request
    same = text.partition("=")[0].strip()
    return replace(request, variables=tuple(one for one in request.variables if one.name != same))
