"""Events as Slack blocks: what a person sees, within Slack's limits.

Limits: docs.slack.dev/reference/block-kit. A message holds 50 blocks and, by experience, about 13,200 characters
(slackapi/bolt-js#2509); both are kept well below. Log lines go into preformatted rich text, where nothing is live.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from assistant.drawing import assumed, files, headline, numbered, placeholder, reminder, so_far
from assistant.events import Answer, Asked, Diagnosed, Error, Event, Known, Refused, Script, Text
from assistant.printing.documents import diagnosis_document
from assistant.printing.markdown import part_of
from assistant.slack.text import cut, escape, pieces, sections, shortened
from assistant.slack.types import Block, SlackPart, Upload
from knowledge.document import Code, Diff, Document, Quote, Sources
from knowledge.masking import hide
from knowledge.printable import printable
from knowledge.script_keys import keys_from_shell, without_old_keys
from knowledge.types import Diagnosis, LogEvidence, Made, Question, Refusal

MOST_BLOCKS, MOST_CHARACTERS, LONGEST_SECTION = 40, 9_000, 2_900
LONGEST_LINE, LONGEST_LABEL, LONGEST_CONFIRM, MOST_BUTTONS, MOST_OPTIONS = 400, 75, 300, 10, 100
SHOWN_EVIDENCE, LONGEST_VALUE = 5, 120
FALLBACK = 300
# They show nothing, and cost six characters each on the way.
# A button's action id -> its words. What it belongs to is in the block id, behind a colon.
EVIDENCE, PERSON, FEEDBACK, CHOICE = "maple_evidence", "maple_person", "maple_feedback", "maple_choice"
NO_INCIDENT = "maple_no_incident"
TICKETS = {"maple_ticket_md": "Ticket (Markdown)", "maple_ticket_json": "Ticket (JSON)"}


def answer_parts(events: Sequence[Event], key: str, notes: Sequence[str] = (), confirm: str = "") -> list[SlackPart]:
    """An answer as messages and files. The last message has the buttons; the files follow it.

    confirm: what a person is to know before a summary goes elsewhere (empty: it stays in the thread).
    """
    blocks = [context(note) for note in notes]
    blocks += [block for event in events for block in drawn(event, key)]
    blocks += asking(events)
    if not blocks:
        return []
    more = any(isinstance(event, Diagnosed) and holds_more(event.diagnosis) for event in events)
    return [*posts([*blocks, *buttons(key, more, confirm)], gist(events, notes)), *uploads(events)]


def drawn(event: Event, key: str) -> Iterator[Block]:
    """One event. Known is drawn once, beside the question."""
    match event:
        case Text(text):
            yield from words(text)
        case Error(text):
            yield from words(f"**Problem.** {text}")
        case Answer(document):
            yield from document_blocks(document)
        case Asked(question):
            yield from asked(question, key)
        case Script(made):
            yield from script(made)
        case Diagnosed(diagnosis):
            yield from document_blocks(diagnosis_document(diagnosis))
        case Refused(refusal):
            yield from refused(refusal, key)


def words(markdown: str) -> Iterator[Block]:
    """Markdown as sections and preformatted text."""
    for piece in pieces(markdown):
        if piece.code:
            yield from preformatted(piece.text)
        else:
            yield from (section(text) for text in sections(piece.text, LONGEST_SECTION))


def section(text: str) -> Block:
    return {"type": "section", "text": mrkdwn_text(text)}


def context(markdown: str) -> Block:
    return {"type": "context", "elements": [mrkdwn_text(sections(markdown, LONGEST_SECTION)[0])]}


def mrkdwn_text(text: str) -> Block:
    """Text with Slack's marks. Verbatim: Slack makes no mentions, channels or links of its own out of it."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def preformatted(text: str) -> Iterator[Block]:
    """Text as it is. Nothing in it is read as a mark, a link or a mention."""
    for stretch in cut(printable(text).rstrip() or " ", LONGEST_SECTION):
        inner = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": stretch}]}
        yield {"type": "rich_text", "elements": [inner]}


def document_blocks(document: Document) -> Iterator[Block]:
    """A document: what is quoted stays as it is, the rest is words."""
    for part in document.parts:
        match part:
            case Quote(text, where):
                shown = shortened(hide(text), LONGEST_LINE)
                yield from preformatted(f"{where}: {shown}" if where else shown)
            case Code(text) | Diff(text):
                yield from preformatted(text)
            case Sources(items):
                yield context("Sources: " + ", ".join(linked(one.address) for one in items))
            case _:
                yield from words(part_of(part))


def evidence(line: LogEvidence) -> str:
    place = f"{line.file}:{line.line}" if line.file else f"line {line.line}"
    rank = f", rank {line.rank}" if line.rank is not None else ""
    times = f" ({line.count} times)" if line.count > 1 else ""
    return f"{place}{rank}{times}: {shortened(hide(line.text), LONGEST_LINE)}"


def linked(source: str) -> str:
    """A link that says where it goes: the host and the page."""
    parts = urlsplit(source)
    if not parts.hostname or parts.scheme not in ("http", "https"):
        return source
    *above, page = [part for part in parts.path.split("/") if part] or [""]
    label = "/".join(filter(None, (parts.hostname, "…" if above else "", page)))
    return f"[{shortened(label, LONGEST_LABEL)}]({source})"


def holds_more(diagnosis: Diagnosis) -> bool:
    """Whether there is more than an answer shows."""
    return bool(len(diagnosis.evidence) > SHOWN_EVIDENCE or diagnosis.considered or diagnosis.captured)


def evidence_parts(diagnosis: Diagnosis) -> list[SlackPart]:
    """All the evidence, what else was weighed and why it is not the answer, and what the log told beside it."""
    blocks: list[Block] = []
    if diagnosis.evidence:
        blocks += [*words("**All the evidence**"), *preformatted("\n".join(map(evidence, diagnosis.evidence)))]
    for other in diagnosis.considered:
        blocks += words(f"**Also looked at:** `{other.cause}`. {other.why_not}")
        if other.evidence:
            blocks += preformatted(evidence(other.evidence))
    if diagnosis.captured:
        read = "\n".join(
            f"- {name.replace('_', ' ')}: `{shortened(hide(value), LONGEST_VALUE)}`"
            for name, value in diagnosis.captured
        )
        blocks += words(f"**Read from the log**\n{read}")
    return posts(blocks or [section("There is no more evidence than what stands above.")], "More evidence")


def script(made: Made) -> Iterator[Block]:
    """What to know about a script; its text comes as files."""
    account = placeholder(made)
    changed = f"Changed: {'; '.join(made.changes)}." if made.changes else ""
    submit = "" if made.submit_told or made.bundle.is_excerpt else f"Submit it yourself: `{made.bundle.submit}`"
    head = [reminder(account, made), headline(made), changed, submit]
    yield from words("\n\n".join(part for part in head if part))
    rest = [a for a in made.assumptions if a is not account]
    if rest:
        yield from words("**Assumed** (say otherwise to change)\n" + "\n".join(f"- {assumed(a)}" for a in rest))
    keys = [told for _, text in files(made.bundle) for told in keys_from_shell(text)[1]]
    if notes := [*made.notes, *keys]:
        yield from words("\n".join(f"- {note}" for note in notes))


def uploads(events: Iterable[Event]) -> Iterator[SlackPart]:
    """The scripts, the files beside them and what changed, as files of one message."""
    found: list[Upload] = []
    for made in (event.made for event in events if isinstance(event, Script)):
        found += [Upload(name, keys_from_shell(text)[0], name) for name, text in files(made.bundle)]
        if made.diff:
            found.append(
                Upload(f"{made.bundle.name}.diff", without_old_keys(made.diff), f"{made.bundle.name}: changes")
            )
    if found:
        yield SlackPart("files", files=tuple(found))


def as_text(uploaded: Iterable[Upload]) -> list[SlackPart]:
    """Files as messages, for where Slack takes no files."""
    blocks: list[Block] = []
    for file in uploaded:
        blocks += [section(f"*{escape(file.title)}*"), *preformatted(file.content)]
    return posts(blocks, "Files")


def asked(question: Question, key: str) -> Iterator[Block]:
    """The question and its choices: buttons while they are few, a list while Slack takes it, else words."""
    yield from words(f"**{question.text}**")
    options = question.options
    if question.help:
        yield context(question.help)
    if not options:
        return
    if len(options) > MOST_OPTIONS or max(map(len, options)) > LONGEST_LABEL:
        yield from words(", ".join(options))
    elif len(options) > MOST_BUTTONS:
        yield {"type": "actions", "block_id": f"choice:{key}", "elements": [select(options)]}
    else:
        yield choices([(option, option) for option in options], key)


def refused(refusal: Refusal, key: str) -> Iterator[Block]:
    yield from words(f"**{refusal.says}** {refusal.why}")
    if refusal.source:
        yield context(f"Source: {linked(refusal.source)}")
    if refusal.instead:
        yield from words("**What can be done instead**\n" + numbered(way.says for way in refusal.instead))
        numbers = [(f"{n}. {way.says}", str(n)) for n, way in enumerate(refusal.instead[:MOST_BUTTONS], 1)]
        yield choices(numbers, f"{key}/instead")


def choices(options: Iterable[tuple[str, str]], key: str) -> Block:
    """Buttons of which one is the answer: (words, what is said)."""
    elements = [button(f"{CHOICE}_{n}", label, said) for n, (label, said) in enumerate(options)]
    return {"type": "actions", "block_id": f"choice:{key}", "elements": elements}


def select(options: Sequence[str]) -> Block:
    rows = [{"text": plain_text(option), "value": option} for option in options]
    return {"type": "static_select", "action_id": CHOICE, "placeholder": plain_text("Choose"), "options": rows}


def button(action: str, label: str, value: str) -> Block:
    return {"type": "button", "action_id": action, "text": plain_text(label), "value": value}


def plain_text(text: str, most: int = LONGEST_LABEL) -> Block:
    return {"type": "plain_text", "text": shortened(text, most), "emoji": False}


def asking(events: Sequence[Event]) -> list[Block]:
    """What is known so far, while something is asked."""
    known = [event for event in events if isinstance(event, Known) and any(chip.value for chip in event.chips)]
    asking_now = any(isinstance(event, Asked) for event in events)
    return [context(f"So far: {so_far(known[-1])}")] if known and asking_now else []


def buttons(key: str, more: bool, confirm: str = "") -> list[Block]:
    """Helpful or not, more evidence (where there is more), a person."""
    row = [button(EVIDENCE, "Show more evidence", key)] if more else []
    person = button(PERSON, "Ask a person", key)
    row.append(person | asked_first("Ask a person", confirm, "Send it") if confirm else person)
    sides = {
        "positive_button": {"text": plain_text("Helpful"), "value": "helpful"},
        "negative_button": {"text": plain_text("Not helpful"), "value": "wrong"},
    }
    feedback = {"type": "feedback_buttons", "action_id": FEEDBACK, **sides}
    return [
        {"type": "actions", "block_id": f"more:{key}", "elements": row},
        {"type": "context_actions", "block_id": f"feedback:{key}", "elements": [feedback]},
    ]


def dismissal(name: str) -> Block:
    """The team's button under an incident: it is none. name: the incident's."""
    says = "It is closed, and for two weeks the same has to come twice as often before I tell of it."
    pressed = button(NO_INCIDENT, "Not an incident", name) | asked_first("Not an incident?", says, "It is none")
    return {"type": "actions", "block_id": "incident", "elements": [pressed]}


def asked_first(title: str, says: str, yes: str) -> Block:
    """The window that asks before a button does what it says."""
    words = {"title": title, "text": says, "confirm": yes, "deny": "Cancel"}
    return {"confirm": {name: plain_text(text, LONGEST_CONFIRM) for name, text in words.items()}}


def posts(blocks: Sequence[Block], fallback: str) -> list[SlackPart]:
    """Blocks in as few messages as fit. fallback: what a notification shows, in plain words."""
    text = escape(shortened(fallback, FALLBACK)) or "maple-chat"
    messages: list[list[Block]] = [[]]
    size = 0
    for block in blocks:
        length = len(json.dumps(block, ensure_ascii=False))
        if messages[-1] and (len(messages[-1]) == MOST_BLOCKS or size + length > MOST_CHARACTERS):
            messages.append([])
            size = 0
        messages[-1].append(block)
        size += length
    return [SlackPart("post", text=text, blocks=tuple(message)) for message in messages]


def gist(events: Sequence[Event], notes: Sequence[str]) -> str:
    """The first thing that an answer says."""
    for event in events:
        match event:
            case Diagnosed(diagnosis):
                return diagnosis.says
            case Asked(question):
                return question.text
            case Script(made):
                return f"{made.bundle.name} for {made.title}"
            case Refused(refusal):
                return refusal.says
            case Text(text) | Error(text):
                return text
            case Answer(document) if document.parts and hasattr(document.parts[0], "text"):
                return document.parts[0].text
    return notes[0] if notes else ""


def in_words(blocks: Sequence[Block], most: int) -> str:
    """The words of blocks alone, for when Slack takes no blocks."""
    found = []
    for block in blocks:
        for inner in [block.get("text"), *block.get("elements", [])]:
            if isinstance(inner, dict) and inner.get("type") == "mrkdwn":
                found.append(inner["text"])
            elif isinstance(inner, dict) and inner.get("type") == "rich_text_preformatted":
                found.append(escape(inner["elements"][0]["text"]))
    return "\n".join(found)[:most]
