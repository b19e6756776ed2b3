"""reStructuredText as Sphinx sites write it, read by docutils.

Sphinx is not needed: its directives and roles that docutils does not know are read by their words. Nothing is
included, fetched or run (docutils' file insertion and raw input are off), and nothing is written to stderr.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from knowledge.ingest.page import Block, Page, UnreadableError, code, iso_date, one_line, table
from knowledge.ingest.reading import read_text

if TYPE_CHECKING:
    from docutils.nodes import Element, Node

DIRECTIVE = re.compile(r"^[ \t]*\.\. +(?:\|[^|\n]+\| +)?([A-Za-z][\w:+.-]*)::", re.MULTILINE)
ROLE = re.compile(r":([A-Za-z][\w+.-]{0,40}(?::[A-Za-z][\w+.-]{0,40}){0,3}):`")
# What is no text for a reader, and what shows code.
DROPPED_NAMES = """
toctree include literalinclude image figure contents raw index meta graphviz mermaid plot video youtube highlight
currentmodule module automodule autoclass autofunction autosummary sectnum tabularcolumns rst-class cssclass
target-notes program role default-role
"""
DROPPED = frozenset(DROPPED_NAMES.split())
# Boxes that say what they are; tabs, grids and cards do not.
NAMED_BOXES = "note warning tip important caution hint danger attention error seealso deprecated todo"
NAMED = frozenset(NAMED_BOXES.split())
CODE = ("code-block", "code", "sourcecode", "prompt", "parsed-literal", "literal", "console", "ipython", "doctest")
# Read by docutils itself although we look at all names: their body has a form of its own.
OWN_FORM = frozenset({"list-table", "csv-table", "table", "replace", "unicode", "date", "class", "container", "title"})
SKIPPED = frozenset({"comment", "system_message", "substitution_definition", "target", "raw", "image", "pending"})
TARGET = re.compile(r"^(.*?)\s*<[^<>]*>$", re.DOTALL)
LONGEST_PARAGRAPH = 50_000
SETTINGS: dict[str, Any] = {
    "report_level": 5,
    "halt_level": 5,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "doctitle_xform": False,
    "_disable_config": True,
    "smart_quotes": False,
    "line_length_limit": 1_000_000,
}


def read_restructured(text: str) -> Page:
    """A page of reStructuredText. Raises UnreadableError where docutils gives up on it.

    docutils goes back over a paragraph for each mark in it (50,000 characters can take seconds, more take hours): a
    text with a longer one is read as plain text.
    """
    from docutils.core import publish_doctree

    if any(len(paragraph) > LONGEST_PARAGRAPH for paragraph in text.split("\n\n")):
        return read_text(text)
    register(frozenset(DIRECTIVE.findall(text)), frozenset(ROLE.findall(text)))
    try:
        tree = publish_doctree(text, settings_overrides={**SETTINGS, "warning_stream": io.StringIO()})
    except Exception as error:  # docutils' own faults on odd input: IndexError, RecursionError and more
        raise UnreadableError(f"docutils cannot read it ({type(error).__name__}: {str(error)[:80]})") from error
    date = next((found for name in ("date", "revdate") if (found := field_date(text, name))), "")
    return Page("", tuple(blocks(tree, 0)), date)


def field_date(text: str, name: str) -> str:
    found = re.search(rf"^:{name}:[ \t]*(.+)$", text[:2000], re.MULTILINE | re.IGNORECASE)
    return iso_date(found[1]) if found else ""


@cache
def register(directives: frozenset[str], roles: frozenset[str]) -> None:
    """Teach docutils the names of this page: ours where it matters, and one for all where it knows none."""
    from docutils.parsers.rst import directives as known
    from docutils.parsers.rst import roles as known_roles

    shown, dropped, worded = readers()
    for name in directives:
        lower = name.lower()
        if lower in DROPPED:
            known.register_directive(lower, dropped)
        elif lower in CODE:
            known.register_directive(lower, shown)
        elif lower not in OWN_FORM:
            known.register_directive(lower, worded)
    for name in roles:
        known_roles.register_local_role(name, as_words)


def as_words(name: str, raw: str, text: str, *_: object, **__: object) -> tuple[list[Node], list[Node]]:
    """Any role: its words, without the target behind them."""
    from docutils import nodes

    found = TARGET.match(text)
    words = (found[1] if found and found[1] else text).lstrip("~!")
    return [nodes.inline(raw, f"`{words}`" if name in ("code", "file", "command", "envvar", "option") else words)], []


@cache
def readers() -> tuple[Any, Any, Any]:
    """Three directives that take any argument and any option: show code, drop it, read it."""
    from docutils import nodes
    from docutils.parsers.rst import Directive
    from docutils.parsers.rst.directives import unchanged

    class Options(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return unchanged

    class Anything(Directive):  # type: ignore[misc]
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = Options({"class": unchanged})

        def run(self) -> list[Any]:
            return []

    class Shown(Anything):
        def run(self) -> list[Any]:
            text = "\n".join(self.content)
            return [nodes.literal_block(text, text)] if text.strip() else []

    class Worded(Anything):
        def run(self) -> list[Any]:
            made: list[Any] = []
            title = " ".join(self.arguments) or (self.name.capitalize() if self.name in NAMED else "")
            if title and not title.startswith(("/", ":")):
                made.append(nodes.paragraph(title, title))
            body = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, body, match_titles=False)
            return [*made, *body.children] if body.children or self.arguments else []

    return Shown, Anything, Worded


def blocks(node: Element, level: int, mark: str = "") -> Iterator[Block]:
    """The blocks below a node, in order. mark: what the first paragraph starts with (a list's bullet)."""
    from docutils import nodes

    for child in node.children:
        kind = child.__class__.__name__
        if kind in SKIPPED or not isinstance(child, nodes.Element):
            continue
        if kind == "section":
            yield from blocks(child, level + 1)
        elif kind == "title":
            yield Block("heading", words(child), max(level, 1))
        elif isinstance(child, nodes.literal_block | nodes.doctest_block | nodes.math_block):
            yield code(child.astext())
        elif kind == "table":
            yield from table_blocks(child)
        elif kind in ("list_item", "definition_list_item", "field", "option_list_item"):
            yield from blocks(child, level, "- ")
        elif isinstance(child, nodes.TextElement):
            if text := words(child):
                yield Block("text", mark + text)
                mark = ""
        else:
            yield from blocks(child, level, mark)
            mark = "" if kind in ("definition", "field_body") else mark


def table_blocks(node: Element) -> Iterator[Block]:
    from docutils import nodes

    rows = [[words(cell) for cell in line.findall(nodes.entry)] for line in node.findall(nodes.row)]
    made = table(rows)
    if made:
        yield made


def words(node: Element) -> str:
    """A paragraph's words, code between backticks; what docutils complains of is left out."""
    from docutils import nodes

    parts = []
    for part in node.findall(nodes.Text):
        above = part.parent
        if isinstance(above, nodes.system_message):
            continue
        parts.append(f"`{part.astext()}`" if isinstance(above, nodes.literal) else part.astext())
        if isinstance(node, nodes.entry):
            parts.append(" ")
    return one_line("".join(parts)).replace("``", "`")
