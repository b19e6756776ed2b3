"""From bytes to a page: one table of what can be read, by the ending of a name or by what a server says it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from knowledge.ingest.page import Block, NoTextError, Page, UnreadableError, one_line, visible

MOST_BYTES = 20_000_000
MOST_PDF_BYTES = 100_000_000
# ending -> form, and what a server calls it.
ENDINGS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mkd": "markdown",
    ".rst": "restructured",
    ".rest": "restructured",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".txt": "text",
    ".text": "text",
}
CONTENT_TYPES = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-rst": "restructured",
    "text/plain": "text",
    "application/pdf": "pdf",
}
# A line costs a reader of Markdown as much as some marks do.
NOISY_FROM, MOST_MARKS, MARKS_A_LINE = 50_000, 0.35, 3
WORDS = re.compile(r"[^\W_]+|\s+")
UNDERLINE = re.compile(r"^([=\-~#*^\"+])\1{3,}$")


def form_of(name: str) -> str:
    """The form of a file by its name; empty for one that is not read."""
    return ENDINGS.get("." + name.lower().rsplit(".", 1)[-1], "")


def read(data: bytes, form: str, name: str) -> Page:
    """The page in some bytes. name: what it is called where it has no title. Raises UnreadableError."""
    if len(data) > (MOST_PDF_BYTES if form == "pdf" else MOST_BYTES):
        raise UnreadableError(f"too large ({len(data) // 1_000_000} MB)")
    called = PurePosixPath(name).stem.replace("-", " ").replace("_", " ")
    if form == "pdf":
        from knowledge.ingest.pdf import read_pdf

        page = read_pdf(data)
        # Its headings are page numbers: no title.
        page = replace(page, title=page.title.strip() or called)
    else:
        text = decoded(data)
        page = readers("text" if form != "html" and is_noise(text) else form)(text)
    page = page.titled(called)
    if not any(block.kind != "heading" and block.text.strip() for block in page.blocks):
        raise NoTextError("no text in it")
    return page


def readers(form: str) -> Callable[[str], Page]:
    """The reader of a form; docutils and the others are imported when first needed (60 to 200 ms each)."""
    if form == "markdown":
        from knowledge.ingest.markdown import read_markdown

        return read_markdown
    if form == "restructured":
        from knowledge.ingest.restructured import read_restructured

        return read_restructured
    if form == "html":
        from knowledge.ingest.html import read_html

        return read_html
    return read_text


def is_noise(text: str) -> bool:
    """Whether a long text is mostly marks and line ends: as Markdown it takes seconds, and its words are the same.

    Of pages of documentation a tenth to a fifth is marks; of a large table without words a quarter.
    """
    if len(text) <= NOISY_FROM:
        return False
    return len(WORDS.sub("", text)) + MARKS_A_LINE * text.count("\n") > MOST_MARKS * len(text)


def decoded(data: bytes) -> str:
    """Text of bytes: UTF-8, UTF-16 with its mark, or else Windows-1252. Raises UnreadableError for what is no text."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if b"\x00" in data:
        raise UnreadableError("binary, no text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_text(text: str) -> Page:
    """Plain text: paragraphs between empty lines; a line that is underlined is a heading."""
    blocks: list[Block] = []
    for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = paragraph.strip("\n").split("\n")
        if len(lines) > 1 and UNDERLINE.match(lines[1].strip()) and lines[0].strip():
            blocks.append(Block("heading", one_line(lines[0]), 1 if lines[1].strip()[0] == "=" else 2))
            lines = lines[2:]
        if any(line.strip() for line in lines):
            blocks.append(Block("text", "\n".join(visible(line).rstrip() for line in lines)))
    return Page("", tuple(blocks))
