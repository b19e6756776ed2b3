"""What answers said, statement by statement: kept with the turn, so that the next question can go on from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge.document import Code, Document, Paragraph, Quote, Sources, Steps
from knowledge.types import Diagnosis, Made, Question, Refusal, Said, Say, ToldStatement

MOST = 60  # statements that are kept, of some three answers
LONGEST = 400  # characters of one
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`\[])|\n+")
# What asks the person for something tells nothing.
ASKS = re.compile(r"\?$|^(?:Say|Paste|Tell me|Name|Send|Show me|Shall I|Try) |\bSay \*|\bas in \*", re.I)
HEAD = re.compile(r"^\*\*(.+?)\*\*")


def remembered(said: Sequence[Said], before: Sequence[ToldStatement]) -> tuple[ToldStatement, ...]:
    """The statements of this answer before those of the answers before it, as many as are kept."""
    new = tuple(dict.fromkeys(one for part in said for one in statements_of(part)))
    return (*new, *(one for one in before if one not in new))[:MOST]


def statements_of(part: Said) -> Iterator[ToldStatement]:
    """What one part of an answer says, each sentence with what it was said of."""
    match part:
        case Say(text=text):
            yield from in_sentences(text, head(text), "")
        case Document():
            yield from of_document(part)
        case Diagnosis():
            source = part.sources[0] if part.sources else ""
            yield ToldStatement(part.says, part.says, source)
            yield from (ToldStatement(step[:LONGEST], part.says, source) for step in (*part.fix, *part.noticed))
        case Made():
            about = part.bundle.name
            yield from (ToldStatement(note[:LONGEST], about) for note in part.notes)
            yield from (ToldStatement(f"{one.field} {one.value}: {one.why}", about) for one in part.assumptions)
        case Refusal():
            yield from (ToldStatement(text, part.says, part.source or "") for text in (part.says, part.why) if text)
        case Question():
            return


def of_document(document: Document) -> Iterator[ToldStatement]:
    pages = [one.address for part in document.parts if isinstance(part, Sources) for one in part.items]
    first = next((part.text for part in document.parts if isinstance(part, Paragraph)), "")
    about, source = head(first), pages[0] if pages else ""
    for part in document.parts:
        match part:
            case Paragraph(text=text):
                yield from in_sentences(text, about, source)
            case Steps(items=items):
                yield from (
                    ToldStatement(f"{one.text}: `{one.command}`" if one.command else one.text, about, source)
                    for one in items
                )
            case Quote() | Code():
                continue
            case _:
                continue


def in_sentences(text: str, about: str, source: str) -> Iterator[ToldStatement]:
    for sentence in SENTENCE.split(text):
        plain = " ".join(sentence.split())
        if len(plain.split()) > 2 and not ASKS.search(plain):
            yield ToldStatement(plain[:LONGEST], about, source)


def head(text: str) -> str:
    """What an answer is about: its headline, else its first sentence."""
    found = HEAD.match(text.strip())
    return found[1].rstrip(":.") if found else (SENTENCE.split(text.strip())[0][:120] if text.strip() else "")
