"""HTML: the main part of a page, without navigation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.ingest.html_tree import Element, Tree, read_tree
from knowledge.ingest.page import MOST_TITLE, Block, Page, code, iso_date, one_line, table

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
NAMED = frozenset({"main", "article", "body"})
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
# What a tag tells of those around it: that a block stands in them, or a block of code.
BLOCK, CODE = 1, 2
MARKING = {**dict.fromkeys(BREAKS, BLOCK), "pre": BLOCK | CODE}


def read_html(text: str) -> Page:
    """The main part of a page. A page without one is taken whole, less what is plainly navigation."""
    tree = read_tree(text, is_text, MARKING)
    blocks = tuple(blocks_below(main_part(tree)))
    heading = next((block.text for block in blocks if block.kind == "heading" and block.level == 1), "")
    return Page(heading or title_of(tree), blocks, date_of(tree))


def is_text(tag: Element) -> bool:
    said = tag.attributes
    if not said:
        return tag.name not in NOT_TEXT
    if tag.name in NOT_TEXT or "hidden" in said or said.get("aria-hidden") == "true" or said.get("id") == "toc":
        return False
    return said.get("role") not in NOT_TEXT_ROLES and NOT_TEXT_CLASSES.isdisjoint(tag.classes())


def main_part(tree: Tree) -> Element:
    """The part that the first name of MAIN has which stands for any words; else the whole."""
    first: dict[str, Element] = {}
    for tag in tree.elements:
        if tag.shown and (tag.attributes or tag.name in NAMED):
            for name in names_of(tag):
                first.setdefault(name, tag)
    named = (first[name] for name in (*MAIN, "body") if name in first)
    return next((tag for tag in named if tag.name == "body" or tag.has_words()), tree.root)


def names_of(tag: Element) -> Iterator[str]:
    """How a selector names a tag."""
    if tag.name in NAMED:
        yield tag.name
    if tag.name == "article" and tag.within("main"):
        yield "main article"
    if said := tag.attributes:
        yield f"#{said.get('id')}"
        yield f"[role={said.get('role')}]"
        yield from (f".{name}" for name in tag.classes())


def blocks_of(text: str) -> list[Block]:
    """The blocks of a piece of HTML."""
    return blocks_below(read_tree(text, is_text, MARKING).root)


def title_of(tree: Tree) -> str:
    """What the page calls itself, without the site's name behind it."""
    named = (one for one in tree.elements if one.name == "meta" and one.attributes.get("property") == "og:title")
    meta = next((one.attributes.get("content", "") for one in named), "")
    title = meta or next((one.text() for one in tree.elements if one.name == "title"), "")
    return ENDS_TITLE.sub("", one_line(title)[:MOST_TITLE].replace("¶", ""))


def date_of(tree: Tree) -> str:
    """The day that the page says it was changed on, the best source first; else its latest time."""
    days: dict[str, str] = {}
    times: list[str] = []
    for tag in tree.elements:
        said = tag.attributes
        if tag.name == "time":
            times.append(iso_date(said.get("datetime", "")))
        elif tag.name == "meta":
            named = {said.get(key, "").lower() for key in ("property", "name", "http-equiv", "itemprop")}
            for name in named.intersection(DATES) - days.keys():
                if day := iso_date(said.get("content", "")):
                    days[name] = day
    return next((days[name] for name in DATES if name in days), "") or max(times, default="")


def blocks_below(root: Element) -> list[Block]:
    """The blocks below a tag, in order. Words between two blocks are a paragraph."""
    blocks: list[Block] = []
    put_below(root, blocks)
    return blocks


def put_below(root: Element, blocks: list[Block]) -> None:
    """Into one list, not from generator to generator: with a hundred tags in each other that would cost most."""
    words: list[str] = []
    for child in root.children:
        if isinstance(child, str):
            words.append(child)
        elif child.name in BREAKS or child.holds:
            put_paragraph(words, blocks)
            words = []
            put(child, blocks)
        else:
            words.append(inline(child))
    put_paragraph(words, blocks)


def put_paragraph(words: list[str], blocks: list[Block]) -> None:
    if words and (text := one_line("".join(words))):
        blocks.append(Block("text", text))


def put(tag: Element, blocks: list[Block]) -> None:
    """One tag that stands on its own lines."""
    if tag.name in HEADINGS:
        blocks.append(Block("heading", one_line(tag.text()).replace("¶", ""), int(tag.name[1])))
    elif tag.name == "pre":
        if tag.has_words():
            blocks.append(code(tag.text()))
    elif tag.name == "table" and not tag.holds & CODE:
        blocks += filter(None, [table(list(rows_of(tag)))])
    else:
        first = len(blocks)
        put_below(tag, blocks)
        if tag.name in ("li", "dt") and len(blocks) > first and blocks[first].kind == "text":
            blocks[first] = Block("text", f"- {blocks[first].text}")


def rows_of(tag: Element) -> Iterator[list[str]]:
    """The words of a table's own rows; a table within a cell is part of that cell's."""
    for child in tag.children:
        if isinstance(child, str) or child.name == "table":
            continue
        if child.name == "tr":
            cells = (one for one in child.children if isinstance(one, Element))
            yield [cell.text(" ") for cell in cells if cell.name in ("td", "th")]
        else:
            yield from rows_of(child)


def inline(tag: Element) -> str:
    """The words of a tag inside a line; code between backticks."""
    if tag.name == "br":
        return " "
    if tag.name == "img":
        return ""
    text = tag.text()
    return f"`{text}`" if tag.name in ("code", "tt", "kbd") and text.strip() and "\n" not in text else text
