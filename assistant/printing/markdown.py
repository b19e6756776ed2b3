"""A document in Markdown: what the chat, the line mode, an exported conversation and Slack's words are made from."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from knowledge.document import Choices, Code, Diff, Document, Paragraph, Part, Quote, Source, Sources, Steps

OLD = "as of"


def print_markdown(document: Document) -> str:
    """Quotes that follow each other make one list."""
    text = ""
    for before, part in zip((None, *document.parts), document.parts, strict=False):
        shown = part_of(part)
        apart = "\n" if isinstance(before, Quote) and isinstance(part, Quote) else "\n\n"
        text = f"{text}{apart}{shown}" if text and shown else text or shown
    return text


def part_of(part: Part) -> str:
    match part:
        case Paragraph(text):
            return text
        case Quote(text, where):
            if "\n" in text:
                return fenced(where, text, "text")
            return f"- {where}: {code(text)}" if where else f"- {code(text)}"
        case Steps(items):
            return "\n".join(f"{at}. {step(one.text, one.command)}" for at, one in enumerate(items, 1))
        case Code(text, language, name):
            return fenced(name, text, language)
        case Diff(text, name):
            return fenced(name, text, "diff")
        case Choices(items):
            return numbered(f"{one.says}{f': {one.why}' if one.why else ''}{' (usual)' * one.usual}" for one in items)
        case Sources(items):
            return f"Source{'s' * (len(items) > 1)}: {', '.join(map(source_of, items))}" if items else ""


def step(text: str, command: str) -> str:
    """What to do, and the command that does it."""
    if not command:
        return text
    shown = f"`{command}`" if "\n" not in command else f"\n\n{fenced('', command, 'bash')}"
    return f"{text}: {shown}" if text else shown


def source_of(source: Source) -> str:
    dated = f" ({OLD} {source.date})" if source.date else ""
    host = urlsplit(source.address).hostname
    if host and " " not in source.address:
        return f"[{source.title or host}]({source.address}){dated}"
    return f"{source.title or source.address}{dated}"


def numbered(options: Iterable[str]) -> str:
    return "\n".join(f"{place}. {option}" for place, option in enumerate(options, 1))


def code(text: str) -> str:
    """Text as it is, in a line that may wrap; the ticks around it are more than any inside."""
    ticks = "`"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{text}{ticks}" if len(ticks) == 1 else f"{ticks} {text} {ticks}"


def fenced(name: str, text: str, language: str) -> str:
    """A block of code, its name above it; the fence is longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    title = f"`{name}`\n\n" if name else ""
    return f"{title}{fence}{language}\n{text.rstrip()}\n{fence}"
