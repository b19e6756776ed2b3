"""HTML: the main part of a page, without navigation. Read by beautifulsoup4 with Python's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowledge.ingest.page import MOST_TITLE, Block, Page, code, iso_date, one_line, table

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

MAIN = (
    "main article",
    "[role=main]",
    "main",
    "article",
    "#main-content",
    "#content",
    "#mw-content-text",
    ".document",
    ".markdown-body",
    ".entry-content",
    ".post-content",
)
NOT_TEXT = (
    "script, style, noscript, template, svg, iframe, form, button, input, select, nav, aside, footer, dialog, head,"
    " [role=navigation], [role=search], [role=banner], [role=contentinfo], [aria-hidden=true], [hidden],"
    " .headerlink, .toctree-wrapper, .toc, #toc, .md-sidebar, .sphinxsidebar, .breadcrumb, .breadcrumbs, .skip-link,"
    " .md-source-file, .md-feedback, .prev-next-area, .related, .linenos, .sr-only, .visually-hidden, .cookie-banner,"
    " .mw-editsection, .edit-this-page, .pagination, .cookie-notice"
)
BLOCK_TAGS = """
p div section article main ul ol dl dt dd li table figure figcaption blockquote details summary header center body
html td th tr tbody thead h1 h2 h3 h4 h5 h6 pre fieldset hr address
"""
BREAKS = frozenset(BLOCK_TAGS.split())
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
DATES = (
    "article:modified_time",
    "og:updated_time",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "date",
    "article:published_time",
    "dcterms.date",
)
ENDS_TITLE = re.compile(
    r"\s+[|·»\u2013\u2014]\s+.*$| - [^-]*(?:docs?|documentation|guide|wiki|manual)[^-]*$", re.IGNORECASE
)
DEEPEST = 200


def read_html(text: str) -> Page:
    """The main part of a page. A page without one is taken whole, less what is plainly navigation."""
    soup = parsed(text)
    title, date = title_of(soup), date_of(soup)
    for part in soup.select(NOT_TEXT):
        part.decompose()
    found = [main for selector in MAIN if (main := soup.select_one(selector)) and main.get_text(strip=True)]
    root = found[0] if found else soup.body or soup
    blocks = tuple(blocks_in(root))
    heading = next((block.text for block in blocks if block.kind == "heading" and block.level == 1), "")
    return Page(heading or title, blocks, date)


def parsed(text: str) -> BeautifulSoup:
    from bs4 import BeautifulSoup
    from bs4.exceptions import ParserRejectedMarkup

    try:
        return BeautifulSoup(text, "html.parser")
    except ParserRejectedMarkup:  # Python's parser gives up on `<![x[`: then what starts like that is text
        return BeautifulSoup(text.replace("<!", "&lt;!"), "html.parser")


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a piece of HTML."""
    soup = parsed(text)
    for part in soup.select(NOT_TEXT):
        part.decompose()
    yield from blocks_in(soup)


def title_of(soup: BeautifulSoup) -> str:
    """What the page calls itself, without the site's name behind it."""
    meta = soup.select_one('meta[property="og:title"]')
    said = str(meta.get("content") or "") if meta else ""
    title = said or (soup.title.get_text() if soup.title else "")
    return ENDS_TITLE.sub("", one_line(title)[:MOST_TITLE].replace("¶", ""))


def date_of(soup: BeautifulSoup) -> str:
    for name in DATES:
        for meta in soup.select("meta"):
            keys = (meta.get("property"), meta.get("name"), meta.get("http-equiv"), meta.get("itemprop"))
            if name in (str(key).lower() for key in keys if key) and (found := iso_date(str(meta.get("content", "")))):
                return found
    times = [iso_date(str(tag.get("datetime", ""))) for tag in soup.select("time[datetime]")]
    return max(times, default="")


def blocks_in(root: Tag, deep: int = 0) -> Iterator[Block]:
    """The blocks below a tag, in order. Words between two blocks are a paragraph."""
    from bs4.element import NavigableString, PreformattedString, Tag

    words: list[str] = []
    for child in root.children:
        if isinstance(child, Tag) and (child.name in BREAKS or holds_blocks(child)):
            yield from paragraph(words)
            words = []
            yield from block(child, deep)
        elif isinstance(child, Tag):
            words.append(inline(child))
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            words.append(str(child))
    yield from paragraph(words)


def paragraph(words: list[str]) -> Iterator[Block]:
    text = one_line("".join(words))
    if text:
        yield Block("text", text)


def holds_blocks(tag: Tag) -> bool:
    return tag.find(list(BREAKS)) is not None


def block(tag: Tag, deep: int) -> Iterator[Block]:
    """One tag that stands on its own lines."""
    if tag.name in HEADINGS:
        yield Block("heading", one_line(tag.get_text()).replace("¶", ""), int(tag.name[1]))
    elif tag.name == "pre":
        if tag.get_text(strip=True):
            yield code(tag.get_text())
    elif tag.name == "table" and not tag.find("pre"):
        rows = [[cell.get_text(" ") for cell in line.find_all(["td", "th"])] for line in tag.find_all("tr")]
        yield from filter(None, [table(rows)])
    elif tag.name in ("li", "dt"):
        inner = list(blocks_in(tag, deep + 1)) if deep < DEEPEST else []
        for at, one in enumerate(inner):
            yield Block("text", f"- {one.text}") if at == 0 and one.kind == "text" else one
    elif deep < DEEPEST:
        yield from blocks_in(tag, deep + 1)
    else:
        yield from paragraph([tag.get_text(" ")])


def inline(tag: Tag) -> str:
    """The words of a tag inside a line; code between backticks."""
    if tag.name == "br":
        return " "
    if tag.name == "img":
        return ""
    text = tag.get_text()
    return f"`{text}`" if tag.name in ("code", "tt", "kbd") and text.strip() and "\n" not in text else text
