"""HTML: the main part of a page, without navigation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser

from knowledge.ingest.page import MOST_TITLE, Block, Page, code, iso_date, one_line, table
from knowledge.word_lists import in_order

# The tree of an HTML page: elements, their words and their order, and no more than a reader of pages needs.
#
# Python's own parser tells of the tags. Half a second a megabyte goes to it and about as much to the tree, whatever the
# page holds: an element is looked at once, when it opens.


# An element so deep in others is taken for one beside them: what looks through all that one holds stays linear.
DEEPEST = 100
# HTML's void elements: none of them holds anything.
VOID_TAGS = "area base br col embed hr img input link meta param source track wbr"
VOID = frozenset(VOID_TAGS.split())
COMMENT_END = re.compile(r"--\s*>")


class Element:
    """A tag with its attributes, and the words and elements in it, in order. shown: it and all around it are text."""

    __slots__ = ("attributes", "children", "holds", "name", "parent", "shown")

    def __init__(self, name: str, attributes: dict[str, str], parent: Element | None) -> None:
        self.name, self.attributes, self.parent = name, attributes, parent
        self.children: list[Element | str] = []
        # What stands somewhere in it, as bits: see `marking`.
        self.holds = 0
        self.shown = True

    def words(self) -> list[str]:
        """Every piece of text in it, in order."""
        found: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                found.append(one)
            else:
                waiting += reversed(one.children)
        return found

    def text(self, between: str = "") -> str:
        return between.join(self.words())

    def has_words(self) -> bool:
        return any(not piece.isspace() for piece in self.words())

    def within(self, name: str) -> bool:
        """Whether it stands in such an element."""
        return any(one.name == name for one in self.around())

    def around(self) -> Iterator[Element]:
        """What it stands in, the nearest first."""
        one = self.parent
        while one:
            yield one
            one = one.parent

    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


class Tree(HTMLParser):
    """Reads a page into `root`. elements: all of them as they open, also those that are not shown.

    is_text tells of a new element whether it is shown. marking: name -> bits that it adds to what each element holds
    that it stands in.
    """

    def __init__(self, is_text: Callable[[Element], bool], marking: Mapping[str, int]) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {}, None)
        self.elements: list[Element] = []
        self._is_text, self._marking = is_text, marking
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self._open[-1]
        one = Element(tag, {name: value or "" for name, value in attrs}, parent)
        one.shown = parent.shown and self._is_text(one)
        self.elements.append(one)
        if one.shown:
            parent.children.append(one)
            self._mark(parent, self._marking.get(tag, 0))
        if tag not in VOID and (len(self._open) < DEEPEST or (parent.shown and not one.shown)):
            self._open.append(one)

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].name == tag:
                del self._open[at:]
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def _mark(self, outer: Element | None, bits: int) -> None:
        while outer and bits & ~outer.holds:
            outer.holds |= bits
            outer = outer.parent


def read_tree(text: str, is_text: Callable[[Element], bool], marking: Mapping[str, int]) -> Tree:
    """The page as a tree of at most DEEPEST elements in each other. Takes any text."""
    text = closed(text)
    try:
        return fed(text, is_text, marking)
    except AssertionError:  # Python's parser gives up on `<![x[`: then what starts like that is text
        return fed(text.replace("<!", "&lt;!"), is_text, marking)


def fed(text: str, is_text: Callable[[Element], bool], marking: Mapping[str, int]) -> Tree:
    tree = Tree(is_text, marking)
    tree.feed(text)
    tree.close()
    return tree


def closed(text: str) -> str:
    """The text without marks that are never closed: for each, Python's parser looks through all that follows."""
    end = text.rfind(">") + 1
    shut = max((found.end() for found in COMMENT_END.finditer(text, 0, end)), default=0)
    return text[:shut] + text[shut:end].replace("<!--", "&lt;!--") + text[end:].replace("<", "&lt;")


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
DATES = in_order(
    "article:modified_time og:updated_time last-modified dcterms.modified dc.date.modified date "
    "article:published_time dcterms.date"
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
