"""Markdown as plain text, for a pipe, a dumb terminal and a screen reader."""

from __future__ import annotations

import re

from assistant.printing.documents import diagnosis_document
from assistant.printing.markdown import print_markdown
from assistant.printing.terminal import BOLD, NORMAL
from knowledge.document import Document
from knowledge.types import Diagnosis

STRONG = re.compile(r"\*\*(.+?)\*\*", re.S)
LINK = re.compile(r"\[[^\]\n]+\]\((https?://[^)\s]+)\)")
CODE = re.compile(
    r"^(?P<fence>`{3,})\w*\n(?P<block>.*?)\n(?P=fence)$|(?P<ticks>`+)(?P<inline>[^\n]+?)(?P=ticks)", re.M | re.S
)


def print_plain(document: Document) -> str:
    return emphasis(print_markdown(document), bold=False)


def as_text(diagnosis: Diagnosis) -> str:
    """A diagnosis as a command prints it."""
    return print_plain(diagnosis_document(diagnosis))


def emphasis(text: str, bold: bool) -> str:
    """Strong words in bold where the terminal can, plain elsewhere; code as it is, without its ticks and fences."""
    parts, place = [], 0
    for found in CODE.finditer(text):
        parts += [words(text[place : found.start()], bold), found["block"] or found["inline"].strip()]
        place = found.end()
    return "".join([*parts, words(text[place:], bold)])


def words(text: str, bold: bool) -> str:
    text = STRONG.sub(rf"{BOLD}\1{NORMAL}" if bold else r"\1", LINK.sub(r"\1", text)).replace("**", "")
    return re.sub(r"(?<![\w*])\*([^*\n]+)\*(?!\w)", r"'\1'", text)
