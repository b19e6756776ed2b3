"""HTML: the main part of a page, without navigation. Read by beautifulsoup4 with Python's own parser."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
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
NOT_TEXT_TAGS = "script style noscript template svg iframe form button input select nav aside footer dialog head"
NOT_TEXT = frozenset(NOT_TEXT_TAGS.split())
NOT_TEXT_ROLES = frozenset({"navigation", "search", "banner", "contentinfo"})
CLASSES = """
headerlink toctree-wrapper toc md-sidebar sphinxsidebar breadcrumb breadcrumbs skip-link md-source-file md-feedback
prev-next-area related linenos sr-only visually-hidden cookie-banner mw-editsection edit-this-page pagination
cookie-notice
"""
NOT_TEXT_CLASSES = frozenset(CLASSES.split())
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
COMMENT_END = re.compile(r"--\s*>")
# A tag so deep in others is taken for one beside them: what looks through all that a tag holds stays linear.
DEEPEST = 100


def read_html(text: str) -> Page:
    """The main part of a page. A page without one is taken whole, less what is plainly navigation."""
    soup = parsed(text)
    title, date = title_of(soup), date_of(soup)
    leave_text(soup)
    blocks = tuple(blocks_in(main_part(soup)))
    heading = next((block.text for block in blocks if block.kind == "heading" and block.level == 1), "")
    return Page(heading or title, blocks, date)


def leave_text(soup: BeautifulSoup) -> None:
    """Take out what is no text of the page. One look at each tag: forty selectors, each asked of all, take seconds."""
    inside: set[int] = set()
    unwanted: list[Tag] = []
    for tag in tags_in(soup):
        if id(tag.parent) in inside:
            inside.add(id(tag))
        elif not is_text(tag):
            inside.add(id(tag))
            unwanted.append(tag)
    for tag in unwanted:
        tag.decompose()


def is_text(tag: Tag) -> bool:
    said = tag.attrs
    if tag.name in NOT_TEXT or "hidden" in said or said.get("aria-hidden") == "true" or said.get("id") == "toc":
        return False
    return said.get("role") not in NOT_TEXT_ROLES and NOT_TEXT_CLASSES.isdisjoint(tag.get_attribute_list("class"))


def main_part(soup: BeautifulSoup) -> Tag:
    """The part that the first name of MAIN has which stands for any words; else the whole."""
    first: dict[str, Tag] = {}
    for tag in tags_in(soup):
        for name in names_of(tag):
            first.setdefault(name, tag)
    named = (first[name] for name in MAIN if name in first)
    return next((tag for tag in named if tag.get_text(strip=True)), soup.body or soup)


def names_of(tag: Tag) -> Iterator[str]:
    """How a selector names a tag."""
    yield tag.name
    if tag.name == "article" and tag.find_parent("main"):
        yield "main article"
    if said := tag.attrs:
        yield f"#{said.get('id')}"
        yield f"[role={said.get('role')}]"
        yield from (f".{name}" for name in tag.get_attribute_list("class"))


def tags_in(root: Tag, name: str = "") -> list[Tag]:
    """All tags below one, or those of a name. Ten times as fast as find_all."""
    from bs4 import Tag

    return [one for one in root.descendants if isinstance(one, Tag) and (not name or one.name == name)]


def parsed(text: str) -> BeautifulSoup:
    """The page as a tree of at most DEEPEST tags in each other."""
    from bs4.exceptions import ParserRejectedMarkup

    text = closed(text)
    try:
        return shallow()(text, "html.parser")
    except ParserRejectedMarkup:  # Python's parser gives up on `<![x[`: then what starts like that is text
        return shallow()(text.replace("<!", "&lt;!"), "html.parser")


def closed(text: str) -> str:
    """The text without marks that are never closed: for each, Python's parser looks through all that follows."""
    end = text.rfind(">") + 1
    shut = max((found.end() for found in COMMENT_END.finditer(text, 0, end)), default=0)
    return text[:shut] + text[shut:end].replace("<!--", "&lt;!--") + text[end:].replace("<", "&lt;")


@cache
def shallow() -> type[BeautifulSoup]:
    """BeautifulSoup, which puts what is too deep beside its parent's other tags."""
    from bs4 import BeautifulSoup

    class Shallow(BeautifulSoup):
        def pushTag(self, tag: Tag) -> None:  # noqa: N802
            super().pushTag(tag)
            if len(self.tagStack) > DEEPEST:
                self.popTag()

    return Shallow


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a piece of HTML."""
    soup = parsed(text)
    leave_text(soup)
    yield from blocks_in(soup)


def title_of(soup: BeautifulSoup) -> str:
    """What the page calls itself, without the site's name behind it."""
    meta = soup.find("meta", property="og:title")
    said = str(meta.get("content") or "") if meta else ""
    title = said or (soup.title.get_text() if soup.title else "")
    return ENDS_TITLE.sub("", one_line(title)[:MOST_TITLE].replace("¶", ""))


def date_of(soup: BeautifulSoup) -> str:
    """The day that the page says it was changed on, the best source first; else its latest time."""
    days: dict[str, str] = {}
    for meta in tags_in(soup, "meta"):
        named = {str(meta.get(key, "")).lower() for key in ("property", "name", "http-equiv", "itemprop")}
        for name in named.intersection(DATES) - days.keys():
            if day := iso_date(str(meta.get("content", ""))):
                days[name] = day
    times = (iso_date(str(tag.get("datetime", ""))) for tag in tags_in(soup, "time"))
    return next((days[name] for name in DATES if name in days), "") or max(times, default="")


def blocks_in(root: Tag) -> Iterator[Block]:
    """The blocks below a tag, in order. Words between two blocks are a paragraph."""
    yield from blocks_below(root, around(root, BREAKS), around(root, {"pre"}))


def around(root: Tag, names: Collection[str]) -> set[int]:
    """The tags (by id) in which such a tag stands, found once for all of them."""
    found: set[int] = set()
    for tag in tags_in(root):
        if tag.name not in names:
            continue
        for parent in tag.parents:
            if id(parent) in found:
                break
            found.add(id(parent))
    return found


def blocks_below(root: Tag, with_blocks: set[int], with_code: set[int]) -> Iterator[Block]:
    from bs4.element import NavigableString, PreformattedString, Tag

    words: list[str] = []
    for child in root.children:
        if isinstance(child, Tag) and (child.name in BREAKS or id(child) in with_blocks):
            yield from paragraph(words)
            words = []
            yield from block(child, with_blocks, with_code)
        elif isinstance(child, Tag):
            words.append(inline(child))
        elif isinstance(child, NavigableString) and not isinstance(child, PreformattedString):
            words.append(str(child))
    yield from paragraph(words)


def paragraph(words: list[str]) -> Iterator[Block]:
    text = one_line("".join(words))
    if text:
        yield Block("text", text)


def block(tag: Tag, with_blocks: set[int], with_code: set[int]) -> Iterator[Block]:
    """One tag that stands on its own lines."""
    if tag.name in HEADINGS:
        yield Block("heading", one_line(tag.get_text()).replace("¶", ""), int(tag.name[1]))
    elif tag.name == "pre":
        if tag.get_text(strip=True):
            yield code(tag.get_text())
    elif tag.name == "table" and id(tag) not in with_code:
        yield from filter(None, [table(rows_of(tag))])
    elif tag.name in ("li", "dt"):
        for at, one in enumerate(blocks_below(tag, with_blocks, with_code)):
            yield Block("text", f"- {one.text}") if at == 0 and one.kind == "text" else one
    else:
        yield from blocks_below(tag, with_blocks, with_code)


def rows_of(tag: Tag) -> list[list[str]]:
    """The words of a table's own rows; a table within a cell is part of that cell's."""
    own = [line for line in tag.find_all("tr") if line.find_parent(["table", "tr"]) is tag]
    return [[cell.get_text(" ") for cell in line.find_all(["td", "th"], recursive=False)] for line in own]


def inline(tag: Tag) -> str:
    """The words of a tag inside a line; code between backticks."""
    if tag.name == "br":
        return " "
    if tag.name == "img":
        return ""
    text = tag.get_text()
    return f"`{text}`" if tag.name in ("code", "tt", "kbd") and text.strip() and "\n" not in text else text
