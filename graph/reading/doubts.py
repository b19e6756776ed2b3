"""Where a message has two readings that matter: the rules and the trained reader disagree, or a rival is named.

One short question at each would settle it; most messages have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph.extraction.sentences import choose
from graph.extraction.sentences.counts import find_counts
from graph.reading.mentions import find_mentions
from graph.reading.reader import read_as_one
from graph.reading.utterance import ThreadView
from knowledge.types import Intent, Understood

# From this probability on, a trained reading that differs is worth a question.
LIKELY = 0.7
INTENTS: dict[str, Intent] = {
    **dict.fromkeys(("write", "edit", "reply", "newjob"), "generate"),
    **dict.fromkeys(("diagnose", "pending"), "diagnose"),
    **dict.fromkeys(("ask", "plan"), "question"),
    **dict.fromkeys(("chat", "help", "quit"), "smalltalk"),
    "port": "port",
    "outside": "other",
}
# A field and the kind of mention that fills it; two of them named, and one taken.
RIVALS = (("machine", "machine"), ("strategy", "strategy"), ("account", "account"))


@dataclass(frozen=True, slots=True)
class Doubt:
    """A field and its readings: the one taken first (None: nothing), then the rival."""

    field: str
    readings: tuple[str | int | None, ...]


def find_doubts(text: str, understood: Understood) -> tuple[Doubt, ...]:
    """The doubts of a first message; of talk and questions only what they are for."""
    doubts = list(_of_intent(text, understood))
    if understood.intent in ("generate", "port"):
        doubts += _of_fields(text, understood)
    return tuple(doubts)


def _of_intent(text: str, understood: Understood) -> Iterator[Doubt]:
    """The whole message as one clause, to the trained reader."""
    clause = read_as_one(text, ThreadView())
    intent: Intent = "smalltalk" if clause.topic == "us.what" else INTENTS.get(clause.act, understood.intent)
    if intent != understood.intent and clause.share(clause.act) >= LIKELY:
        yield Doubt("intent", (understood.intent, intent))


def _of_fields(text: str, understood: Understood) -> Iterator[Doubt]:
    line, _ = find_mentions(text)
    request = understood.request
    for field, kind in RIVALS:
        taken = getattr(request, field)
        named = {m.value for _, m in choose.meant(line, kind)} - {request.source_machine}
        rivals = sorted(named - {taken})
        if taken and rivals and not {taken, *rivals} & {"3d"}:
            yield Doubt(field, (taken, *rivals[:2]))
    nodes = {c.value for c in find_counts(line) if c.field == "nodes" and not c.weak}
    if len(nodes) > 1:
        yield Doubt("nodes", (request.nodes, *sorted(nodes - {request.nodes})[:2]))
