"""An answer in words, with no model: facts, then passages, each with the number of its source, and its date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from graph.answering.grounds import AnswerContext
from knowledge.types import Passage
from knowledge.wording import stems

OLD_MONTHS = 18
EXCERPT = 600
OURS = frozenset({"fact", "card"})
"""Texts of our own are told whole; of others' texts the part that fits best is quoted."""
KIND = {"web": "found on the web", "ticket": "ticket", "issue": "issue"}
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")


def answer_text(found: AnswerContext, today: date) -> str:
    """The whole answer in Markdown."""
    parts, sources = [], list[str]()
    if found.fact:
        pages = found.fact.sources or (
            "the facts of this machine" if found.machine else "the facts of the machines here",
        )
        numbers = [f"[{len(sources) + at}]" for at in range(1, len(pages) + 1)]
        sources += [dated(page, "as of", found.fact.as_of, today) for page in pages]
        parts.append(f"{found.fact.text} {' '.join(numbers)}")
    for passage in found.passages:
        sources.append(source_of(passage, today))
        parts.append(in_words(passage, found.question, f"[{len(sources)}]", alone=not found.fact))
    listed = "\n".join(f"- [{number}] {source}" for number, source in enumerate(sources, 1))
    return "\n\n".join([*parts, f"Sources:\n{listed}"])


def in_words(passage: Passage, question: str, number: str, *, alone: bool) -> str:
    """One passage: our own texts as they are (their first paragraph), others' as a quotation under the title."""
    ours = passage.text.partition("\n\n")[0]
    if passage.kind == "fact" and alone:
        return f"{ours} {number}"
    if passage.kind == "card":
        return f"Known issue: *{passage.title}*. {ours} {number}"
    if passage.kind in OURS:
        return f"**{passage.title}**: {ours} {number}"
    quoted = "\n".join(f"> {line}" for line in excerpt(passage.text, question).splitlines())
    return f"**{' > '.join((passage.title, *passage.path))}** {number}\n\n{quoted}"


def source_of(passage: Passage, today: date) -> str:
    """The address, what kind of text it is, and its date."""
    word = "checked" if passage.kind == "card" else "as of" if passage.kind == "fact" else "of"
    kind = f"{KIND[passage.kind]}, " if passage.kind in KIND else ""
    return dated(passage.source or passage.title, f"{kind}{word}", passage.date, today)


def dated(source: str, word: str, day: str, today: date) -> str:
    """`https://... (as of 2024-03, 20 months old: check it)`."""
    if not day:
        return source
    months = age(day, today)
    old = f", {months} months old: check it" if months >= OLD_MONTHS else ""
    return f"{source} ({word} {day}{old})"


def age(day: str, today: date) -> int:
    """Whole months between an ISO date (a year, a month or a day) and today; 0 where it is none."""
    found = re.match(r"(\d{4})(?:-(\d{2}))?", day)
    if not found:
        return 0
    return max(0, (today.year - int(found[1])) * 12 + today.month - int(found[2] or 12))


def excerpt(text: str, question: str) -> str:
    """The stretch of sentences that shares most words with the question, at most EXCERPT characters."""
    if len(text) <= EXCERPT:
        return text
    asked = stems(question)
    pieces = [piece for piece in SENTENCE.split(text) if piece.strip()]
    best = max(range(len(pieces)), key=lambda at: (len(asked & stems(" ".join(stretch(pieces, at)))), -at))
    chosen = "\n".join(stretch(pieces, best))[:EXCERPT]
    return f"{'... ' if best else ''}{chosen} ..."


def stretch(pieces: Sequence[str], start: int) -> list[str]:
    """The sentences from there on, as many as fit; at least one."""
    taken, length = [pieces[start]], len(pieces[start])
    for piece in pieces[start + 1 :]:
        length += len(piece) + 1
        if length > EXCERPT:
            break
        taken.append(piece)
    return taken
