"""Asking a person: a summary that holds all that was tried, and the same as a ticket.

A summary that leaves its thread, and every ticket, goes through knowledge/masking.py: people and keys are left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from assistant.attachments import worded
from assistant.drawing import so_far
from assistant.events import Asked, Diagnosed, Error, Event, Known, Refused, Script, Text
from assistant.slack.blocks import TICKETS, button, posts, section, words
from assistant.slack.settings import SlackSettings
from assistant.slack.text import shortened
from assistant.slack.types import Incoming, SlackPart, Upload
from assistant.turns import Turn
from knowledge.masking import Masker, hide

SCHEMA_VERSION = 1
LONGEST_SAID, MOST_LINES = 600, 5
NOBODY = "I am not set up to call anybody: show this to your support team."
ALONE = "This is a direct message: only you see it. Export it as a ticket and send that to your support team."
PASSED_ON = "I passed a summary on to your support team: <#{channel}>."


@dataclass(frozen=True, slots=True)
class HandoverTurn:
    """One turn: what the person said and sent, what was answered, and the log lines that the answer rests on."""

    at: str
    said: str
    sent: tuple[str, ...]
    answered: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ticket:
    """All that was tried in a thread. causes: in the order found; open: the question that nobody answered."""

    subject: str
    request: str
    causes: tuple[str, ...]
    steps: tuple[HandoverTurn, ...]
    open: str


def ticket_of(turns: Sequence[Turn]) -> Ticket:
    """The conversation as a ticket, unmasked."""
    events = [event for turn in turns for event in turn.answer or ()]
    diagnoses = [event.diagnosis for event in events if isinstance(event, Diagnosed)]
    known = [event for event in events if isinstance(event, Known)]
    last = turns[-1].answer or () if turns else ()
    questions = [event.question.text for event in last if isinstance(event, Asked)]
    first = next((shortened(turn.text, 80) for turn in turns if turn.text), "A job failed")
    request = so_far(known[-1]) if known and any(chip.value for chip in known[-1].chips) else ""
    return Ticket(
        subject=diagnoses[-1].says if diagnoses else first,
        request=request,
        causes=tuple(f"{d.cause} ({d.confidence:.0%})" for d in diagnoses),
        steps=tuple(map(step_of, turns)),
        open=questions[-1] if questions else "",
    )


def step_of(turn: Turn) -> HandoverTurn:
    diagnoses = [event.diagnosis for event in turn.answer or () if isinstance(event, Diagnosed)]
    return HandoverTurn(
        at=f"{turn.at:%Y-%m-%d %H:%M} UTC",
        said=shortened(turn.text, LONGEST_SAID),
        sent=tuple(map(worded, turn.attachments)),
        answered=tuple(line for event in turn.answer or () for line in answered(event)),
        evidence=tuple(f"line {e.line}: {e.text}" for d in diagnoses for e in d.evidence[:MOST_LINES]),
    )


def answered(event: Event) -> list[str]:
    """What one event told, in a line or a few."""
    match event:
        case Diagnosed(d):
            return [f"Cause {d.cause} ({d.confidence:.0%}): {d.says}", *(f"Proposed: {step}" for step in d.fix)]
        case Script(made):
            return [f"Wrote {made.bundle.name} for {made.title}; submit with {made.bundle.submit}"]
        case Refused(refusal):
            return [f"Refused: {refusal.says} {refusal.why}"]
        case Asked(question):
            return [f"Asked: {question.text}"]
        case Text(text) | Error(text):
            return [shortened(text, LONGEST_SAID)]
    return []


def masked(ticket: Ticket) -> Ticket:
    """The ticket with one set of placeholders."""
    masker = Masker()

    def hidden(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(masker.mask(text).text for text in texts)

    subject, request, left = hidden((ticket.subject, ticket.request, ticket.open))
    steps = [
        HandoverTurn(
            step.at, masker.mask(step.said).text, hidden(step.sent), hidden(step.answered), hidden(step.evidence)
        )
        for step in ticket.steps
    ]
    return Ticket(subject, request, ticket.causes, tuple(steps), left)


def as_markdown(ticket: Ticket) -> str:
    parts = [f"# {ticket.subject}"]
    if ticket.request:
        parts.append(f"Request so far: {ticket.request}")
    if ticket.causes:
        parts.append("Causes found: " + ", ".join(ticket.causes))
    parts += [step_markdown(number, step) for number, step in enumerate(ticket.steps, 1)]
    if ticket.open:
        parts.append(f"Still open: {ticket.open}")
    return "\n\n".join(parts) + "\n"


def step_markdown(number: int, step: HandoverTurn) -> str:
    said = f": {step.said}" if step.said else ""
    lines = [f"**{number}. {step.at}**{said}", *(f"- sent: {name}" for name in step.sent)]
    lines += [f"- {line}" for line in step.answered]
    if step.evidence:
        lines += ["", "```text", *(line.replace("```", "'''") for line in step.evidence), "```"]
    return "\n".join(lines)


def as_json(ticket: Ticket) -> str:
    return json.dumps({"schema": SCHEMA_VERSION, **asdict(ticket)}, ensure_ascii=False, indent=2) + "\n"


def ask_parts(incoming: Incoming, turns: Sequence[Turn], settings: SlackSettings) -> list[SlackPart]:
    """Call the configured people into the thread; from a direct message, tell their channel, where one is set."""
    summary, key = ticket_of(turns), incoming.about or incoming.key
    row = [button(action, label, key) for action, label in TICKETS.items()]
    exports = {"type": "actions", "block_id": f"ticket:{incoming.key}", "elements": row}
    asks = f"{mention(settings.support_group)}<@{incoming.user}> asks for a person."
    if not incoming.private:
        told = words(hide(as_markdown(summary)))
        asked = section(asks if settings.support_group else f"{asks} {NOBODY}")
        return posts([asked, *told, exports], "A person is asked for")
    if not settings.support_channel:
        told = words(hide(as_markdown(summary)))
        return posts([section(ALONE), *told, exports], "A summary for your support team")
    elsewhere = posts([section(asks), *words(as_markdown(masked(summary)))], "A person is asked for")
    there = [SlackPart(p.do, p.text, p.blocks, channel=settings.support_channel) for p in elsewhere]
    passed_on = section(PASSED_ON.format(channel=settings.support_channel))
    return [*there, *posts([passed_on, exports], "Passed on")]


def mention(group: str) -> str:
    """The live mention of the configured group or person; empty where none is set."""
    if not group:
        return ""
    return f"<!subteam^{group}> " if group.startswith("S") else f"<@{group}> "


def ticket_parts(incoming: Incoming, turns: Sequence[Turn]) -> list[SlackPart]:
    """The ticket as a file in the thread, masked. more["form"]: md or json."""
    ticket = masked(ticket_of(turns))
    form = incoming.more["form"]
    content = as_json(ticket) if form == "json" else as_markdown(ticket)
    return [SlackPart("files", files=(Upload(f"ticket-{incoming.thread_ts}.{form}", content, "Ticket, names masked"),))]
