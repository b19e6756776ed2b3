"""The tree of an HTML page: elements, their words and their order, and no more than a reader of pages needs.

Python's own parser tells of the tags. Half a second a megabyte goes to it and about as much to the tree, whatever the
page holds: an element is looked at once, when it opens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser

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
