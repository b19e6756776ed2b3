"""PDF, read by pypdf: the words of each page, less the lines that every page repeats."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator

from knowledge.ingest.page import Block, Page, UnreadableError, one_line

MOST_PAGES = 3000
ENOUGH_TO_COMPARE = 4
HYPHEN = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
NUMBER = re.compile(r"\d+")
PASSWORD = "it is protected by a password; remove that first (qpdf --decrypt), then add it"


def read_pdf(data: bytes) -> Page:
    """Each page under a heading `page N`, so that a citation leads there. Raises UnreadableError."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if locked := reader.is_encrypted and not reader.decrypt(""):
            texts, facts = [], None
        else:
            texts, facts = [page.extract_text() for page in reader.pages[:MOST_PAGES]], reader.metadata
        title = str(facts.title or "") if facts else ""
        date = facts.modification_date or facts.creation_date if facts else None
    except Exception as error:  # on broken files pypdf lets through what it meets: KeyError, zlib.error, RecursionError
        raise UnreadableError(f"no PDF that pypdf can read ({type(error).__name__}: {str(error)[:80]})") from error
    if locked:
        raise UnreadableError(PASSWORD)
    if not any(text.strip() for text in texts):
        raise UnreadableError("it holds pictures of pages and no text; run OCR on it first (ocrmypdf)")
    return Page(title, tuple(blocks(texts)), date.date().isoformat() if date else "")


def blocks(texts: list[str]) -> Iterator[Block]:
    pages = [text.split("\n") for text in texts]
    repeated = running_lines(pages)
    for number, lines in enumerate(pages, 1):
        kept = "\n".join(line.rstrip() for line in lines if same(line) not in repeated)
        paragraphs = [one_line(text) for text in re.split(r"\n\s*\n", HYPHEN.sub("", kept))]
        if any(paragraphs):
            yield Block("heading", f"page {number}", 1)
            yield from (Block("text", text) for text in paragraphs if text)


def running_lines(pages: list[list[str]]) -> set[str]:
    """Headers and footers: the first or last lines that more than half of the pages share, numbers aside."""
    if len(pages) < ENOUGH_TO_COMPARE:
        return set()
    seen = Counter(line for lines in pages for line in {same(text) for text in (*lines[:2], *lines[-2:])})
    return {line for line, count in seen.items() if line and count > len(pages) / 2}


def same(line: str) -> str:
    return NUMBER.sub("0", line.strip())
