"""What does this person want? A message, and what was said before, become an intent and a request."""

from __future__ import annotations

from collections.abc import Sequence

from graph.extraction.sentences import choose, reading
from graph.extraction.sentences.dialogue import Turn, reply
from graph.extraction.sentences.intents import has
from graph.extraction.sentences.lexicon import fold
from knowledge.types import JobRequest, Understood

ASKED_FOR = ("machine", "framework", "strategy", "nodes", "gpus_per_node")


def understand(text: str, before: JobRequest | None, asked: str | None, options: Sequence[str] | None) -> Understood:
    """Read one message of a conversation. Pure; never raises on any text; the work is bounded for any length.

    before: the request so far (None: a first message). asked, options: the field that was just asked for and the
    choices that were offered, or None.
    """
    intent, request = reply(Turn(text, before, asked, tuple(options or ())))
    goes_on = intent in ("generate", "port") or (before is not None and before != JobRequest())
    return Understood(intent, request, missing(request) if goes_on else ())


def is_not_ours(text: str) -> bool:
    """Whether a message is an order to the assistant itself, or about something that is not done here."""
    return any(has(group, fold(text)) for group in ("orders", "off_topic", "other_work"))


def is_order(text: str) -> bool:
    """Whether a message orders an act that is not done here: to submit, to cancel, to delete."""
    return has("orders", fold(text))


def is_about_us(text: str) -> bool:
    """Whether a message asks what the assistant is or does."""
    return any(has(group, fold(text)) for group in ("about_you", "about_service")) and not machines_in(text)


def machines_in(text: str) -> tuple[str, ...]:
    """The machines that a message names, in its order."""
    line = reading.read(text, JobRequest()).line
    return tuple(dict.fromkeys(m.value for _, m in choose.meant(line, "machine")))


def missing(request: JobRequest) -> tuple[str, ...]:
    """The fields that a careful assistant still asks for, most telling first."""
    return tuple(name for name in ASKED_FOR if getattr(request, name) is None)
