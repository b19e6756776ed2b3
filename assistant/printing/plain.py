"""Markdown as plain text, for a pipe, a dumb terminal and a screen reader."""

from __future__ import annotations

import re

from assistant.printing.documents import diagnosis_document
from assistant.printing.markdown import print_markdown
from assistant.printing.marks import EMPHASIS, STRONG
from assistant.printing.terminal import BOLD, NORMAL
from knowledge.document import Document
from knowledge.types import Diagnosis

LINK = re.compile(r"\[[^\]\n]+\]\((https?://[^)\s]+)\)")
CODE = re.compile(
    r"^(?P<fence>`{3,})\w*\n(?P<block>.*?)\n(?P=fence)$|(?P<ticks>`+)(?P<inline>[^\n]+?)(?P=ticks)", re.M | re.S
)
LINE_BEGINS = re.compile(r"(?:.*:)?\s*(?:[-*]|\d+\.)?\s*")


def print_plain(document: Document) -> str:
    return emphasis(print_markdown(document), bold=False)


def as_text(diagnosis: Diagnosis) -> str:
    """A diagnosis as a command prints it."""
    return print_plain(diagnosis_document(diagnosis))


def emphasis(text: str, bold: bool) -> str:
    """Strong words and code in bold where the terminal can. Elsewhere strong words are plain, and code in a sentence
    keeps a tick at each side, which tells a command from the words around it. A block loses its fences."""
    parts, place = [], 0
    for found in CODE.finditer(text):
        parts += [words(text[place : found.start()], bold), found["block"] or in_line(found, bold)]
        place = found.end()
    return "".join([*parts, words(text[place:], bold)])


def in_line(found: re.Match[str], bold: bool) -> str:
    """A span of code in its line; what is all of a line, or all behind a colon, needs no ticks."""
    code = found["inline"].strip()
    if bold:
        return f"{BOLD}{code}{NORMAL}"
    text, begin = found.string, found.string.rfind("\n", 0, found.start()) + 1
    alone = LINE_BEGINS.fullmatch(text, begin, found.start()) and text[found.end() : found.end() + 1] in ("", "\n")
    return code if alone or "`" in code else f"`{code}`"


def words(text: str, bold: bool) -> str:
    text = STRONG.sub(rf"{BOLD}\1{NORMAL}" if bold else r"\1", LINK.sub(r"\1", text))
    return EMPHASIS.sub(r"'\1'", text)
