"""Markdown as MkDocs, MyST and GitHub write it, read by markdown-it-py.

What they add to Markdown (admonitions, tabs, attribute lists, includes) is taken out before: markdown-it would take the
indented body of an admonition for code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from knowledge.data_file import parse_yaml
from knowledge.errors import FactsError
from knowledge.ingest.page import Block, Page, code, iso_date, one_line, row, scalar

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FRONT = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
# !!! note "Title"   ??? tip   === "Tab"   :::{note} Title   and the body, four blanks in (or until :::).
BOX = re.compile(r'^(?P<in> *)(?:!!!|\?\?\?\+?|===[!+]?) *(?P<kind>[\w-]*+)[^"\n]*+(?:"(?P<title>[^"\n]*)")?\s*$')
FENCE = re.compile(r"^ *(?P<mark>`{3,}|~{3,})")
COLONS = re.compile(r"^ *:{3,}\s*+(?:\{(?P<kind>[\w-]+)\})?\s*+(?P<title>[^{}\n]*)$")
OPTION = re.compile(r"^\s*:[\w-]+:.*$")
NOISE = re.compile(
    r"\{ *(?:[:.#%]|[\w-]+=[\"'])[^{}\n]*\}|^ *///.*$|\{\{[^{}\n]*\}\}|^\[\[?TOC\]?\]$"
    r"|:(?:material|fontawesome|octicons|simple)-[\w-]+:"
    r"|^-{1,2}8<-{1,2}.*$|^[ \t]*\[//\]:.*$|^\((?:[\w-]+)\)=$",
    re.MULTILINE,
)
TAGS = re.compile(r"<[^>\n]{1,500}>")
LIKE_TEXT = frozenset({"note", "warning", "tip", "important", "caution", "hint", "danger", "attention", "admonition"})
DROPPED = frozenset({"toctree", "include", "literalinclude", "image", "figure", "contents", "mermaid", "raw"})
MOST_FRONT = 50_000
DATE_KEYS = ("date", "updated", "last_updated", "lastmod", "last_modified_at", "last_reviewed", "modified")


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables. Importing it takes 60 ms."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def read_markdown(text: str) -> Page:
    """A page of Markdown. Nothing in it can break the reading: what is not understood is text."""
    facts, body = front_matter(text.replace("\r\n", "\n"))
    body = NOISE.sub("", without_comments("\n".join(plain_lines(body.split("\n")))))
    day = next((found for key in DATE_KEYS if (found := iso_date(scalar(facts.get(key))))), "")
    return Page(scalar(facts.get("title")), tuple(blocks(parser().parse(body))), day)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The facts above the text, between lines of dashes."""
    found = FRONT.match(text)
    if not found:
        return {}, text
    try:
        facts = parse_yaml(found[1]) if len(found[1]) <= MOST_FRONT else None
    except FactsError:
        facts = None
    return (facts if isinstance(facts, dict) else {}), text[found.end() :]


def without_comments(text: str) -> str:
    """The text without HTML comments; one that never ends hides nothing. A pattern would look for its end each time."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join([*kept, text[at:]])


def plain_lines(lines: list[str]) -> Iterator[str]:
    """Boxes and tabs as paragraphs: their title, then their body with its indentation taken off."""
    depth: list[int] = []
    fence = ""
    for line in lines:
        while depth and line.strip() and indentation(line) < depth[-1]:
            depth.pop()
        text = line[depth[-1] :] if depth else line
        marks = FENCE.match(text)
        if fence or marks:
            fence = after_fence(fence, marks["mark"] if marks else "")
            yield text
            continue
        box, colons = BOX.match(text), COLONS.match(text)
        if box and (box["kind"] or box["title"]):
            depth.append((depth[-1] if depth else 0) + len(box["in"]) + 4)
            yield from ("", box["in"] + heading_of(box["title"], box["kind"]), "")
        elif colons:
            yield from ("", heading_of(colons["title"], colons["kind"] or ""), "")
        else:
            yield text


def heading_of(title: str | None, kind: str) -> str:
    title = (title or "").strip()
    return f"**{title}**" if title else f"**{kind.capitalize()}**" if kind else ""


def after_fence(open_: str, found: str) -> str:
    """The fence that is open after a line."""
    if not open_:
        return found
    return "" if found.startswith(open_) else open_


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def blocks(tokens: list[Token]) -> Iterator[Block]:
    """The parser's flat tokens, as blocks. A list item is a line of text; a list inside it is indented."""
    heading, lists, quoted = 0, 0, ""
    rows: list[list[str]] = []
    for at, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                heading = int(token.tag[1:])
            case "bullet_list_open" | "ordered_list_open":
                lists += 1
            case "bullet_list_close" | "ordered_list_close":
                lists -= 1
            case "list_item_open":
                quoted = "  " * (lists - 1) + (f"{token.info}. " if token.info else "- ")
            case "table_open":
                rows = []
            case "table_close":
                yield Block("table", "\n".join(filter(None, map(row, rows))))
                rows = []
            case "tr_open":
                rows.append([])
            case "inline":
                text = inline(token)
                if tokens[at - 1].type in ("th_open", "td_open"):
                    rows[-1].append(text)
                elif heading:
                    yield Block("heading", one_line(text), heading)
                    heading = 0
                elif text:
                    yield Block("text", quoted + text)
                    quoted = ""
            case "fence" | "code_block":
                yield from fence_blocks(token)
            case "html_block":
                yield from html_blocks(token.content)


def inline(token: Token) -> str:
    """The text of a paragraph: code between backticks, links and pictures as their words."""
    words: list[str] = []
    for child in token.children or ():
        if child.type == "code_inline":
            words.append(f"`{child.content}`")
        elif child.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif child.type == "html_inline":
            words.append(" " if child.content.lower().startswith("<br") else "")
        elif child.type != "image":
            words.append(child.content)
    return one_line("".join(words))


def fence_blocks(token: Token) -> Iterator[Block]:
    """A code block; MyST writes directives as code blocks, and their body may be text."""
    info = token.info.strip()
    name = info[1:].split("}")[0].strip().lower() if info.startswith("{") else info.split(" ")[0].lower()
    if name in DROPPED:
        return
    if info.startswith("{") and name in LIKE_TEXT:
        body = "\n".join(line for line in token.content.split("\n") if not OPTION.match(line))
        yield from blocks(parser().parse(body))
    elif token.content.strip():
        content = token.content
        if info.startswith("{"):
            content = "\n".join(line for line in content.split("\n") if not OPTION.match(line))
        yield code(content)


def html_blocks(text: str) -> Iterator[Block]:
    """HTML inside Markdown: a table or details by the HTML reader, the rest by its words."""
    if re.search(r"<(?:table|details|pre|ul|ol|dl|h\d|p)\b", text, re.IGNORECASE):
        from knowledge.ingest.html import blocks_of

        yield from blocks_of(text)
        return
    words = one_line(TAGS.sub(" ", text))
    if words:
        yield Block("text", words)
