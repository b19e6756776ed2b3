"""A document as plain text for a terminal: paragraphs, numbered steps with their commands below."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.document import Choices, Code, Diff, Document, Paragraph, Part, Quote, Sources, Steps
from knowledge.printable import printable

EMPHASIS = re.compile(r"\*\*(.+?)\*\*", re.S)


def document_text(document: Document) -> str:
    """The parts, an empty line between them; control characters of what was pasted are dropped."""
    return printable("\n\n".join("\n".join(part_lines(part)) for part in document.parts))


def part_lines(part: Part) -> Iterator[str]:
    """The lines of one part."""
    if isinstance(part, Paragraph):
        yield EMPHASIS.sub(r"\1", part.text)
    elif isinstance(part, Steps):
        for item in part.items:
            yield f"- {item.text}" if item.text else f"    {item.command}"
            if item.text and item.command:
                yield f"    {item.command}"
    elif isinstance(part, Choices):
        for number, choice in enumerate(part.items, 1):
            yield f"{number}. {choice.says}{f': {choice.why}' if choice.why else ''}"
    elif isinstance(part, Sources):
        yield from (f"({source.title}, {source.address})" for source in part.items)
    elif isinstance(part, Quote | Code | Diff):
        yield part.text
