"""A page cut into pieces that are found and cited as one.

Along its headings, each piece with the headings above it. MiniLM reads 256 tokens, headings included: a piece ends
before that where a paragraph ends. A code block is torn only when it is far longer, a table between its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from knowledge.documents import Chunk
from knowledge.ingest.page import Block, Page, one_line

MOST = 200
MOST_CODE = 4 * MOST
ALONE = 40
SMALL = 60
TITLE_WORDS = 6
MOST_HEADING = 120
# About what WordPiece makes of it: short words are one token, long ones several, each sign one.
TOKEN = re.compile(r"[A-Za-z]{1,8}|\d{1,3}|[^\sA-Za-z\d]")
SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
WORD = re.compile(r"[^\W_]{2,}")
ITEM = re.compile(r" *(?:- |\d+[.)] )")
Section = tuple[tuple[str, ...], list[Block]]


def chunks(page: Page) -> tuple[Chunk, ...]:
    """All pieces of a page, in order, each once. A heading with nothing below it is told by the headings of others."""
    made: dict[Chunk, None] = {}
    for path, blocks in together(sections(page)):
        for text in packed(blocks):
            if WORD.search(text) and tokens(text) > 1:
                made[Chunk(text, path)] = None
    return tuple(made)


def tokens(text: str) -> int:
    """How many tokens a text is, about."""
    return len(TOKEN.findall(text))


def sections(page: Page) -> Iterator[Section]:
    """The blocks between two headings, with the headings above them. The page's own title is not repeated."""
    above: list[tuple[int, str]] = []
    blocks: list[Block] = []
    for block in page.blocks:
        if block.kind != "heading":
            blocks.append(block)
            continue
        if blocks:
            yield names(above, page.title), blocks
            blocks = []
        above = [(level, text) for level, text in above if level < block.level]
        above.append((block.level, one_line(block.text)[:MOST_HEADING]))
    if blocks:
        yield names(above, page.title), blocks


def together(parts_: Iterator[Section]) -> Iterator[Section]:
    """Small neighbours under the same heading as one: the options of a manual page, the questions of a list."""
    held: list[Section] = []
    for path, blocks in parts_:
        small = len(path) > 1 and sum(tokens(block.text) for block in blocks) < SMALL
        if held and not (small and held[0][0][:-1] == path[:-1]):
            yield merged(held)
            held = []
        if small:
            held.append((path, blocks))
        else:
            yield path, blocks
    if held:
        yield merged(held)


def merged(held: list[Section]) -> Section:
    if len(held) == 1:
        return held[0]
    return held[0][0][:-1], [block for path, blocks in held for block in (Block("text", f"{path[-1]}:"), *blocks)]


def names(above: list[tuple[int, str]], title: str) -> tuple[str, ...]:
    texts = [text for _, text in above if text]
    return tuple(texts[1:] if texts[:1] == [title] else texts)


def packed(blocks: Iterable[Block]) -> Iterator[str]:
    """Blocks put together up to the size; a line that announces what follows stays with it."""
    held: list[str] = []
    size = 0
    for block in blocks:
        for part in parts(block):
            grows = tokens(part)
            if held and size + grows > MOST:
                leads = [held.pop()] if is_lead(held[-1]) else []
                if held:
                    yield joined(held)
                held, size = leads, sum(map(tokens, leads))
            held.append(part)
            size += grows
    if held:
        yield joined(held)


def is_lead(text: str) -> bool:
    """Whether it announces what follows: `Then submit it:`, or a box's title."""
    if text.endswith(":"):
        return tokens(text) <= ALONE
    return len(text.split()) <= TITLE_WORDS and text[-1:] not in ".!?`" and not ITEM.match(text)


def joined(parts_: list[str]) -> str:
    """Paragraphs with an empty line between them; the items of a list without."""
    text = parts_[0]
    for before, part in pairwise(parts_):
        text += ("\n" if ITEM.match(before) and ITEM.match(part) else "\n\n") + part
    return text


def parts(block: Block) -> Iterator[str]:
    """One block, torn where it is too long: code between lines, a table between rows, prose between sentences."""
    size = tokens(block.text)
    if block.kind == "code":
        yield from torn_code(block.text) if size > MOST_CODE else [fenced(block.text)]
    elif size <= MOST:
        yield block.text
    elif block.kind == "table":
        head, *rows = block.text.split("\n")
        yield from grouped(rows, MOST, head)
    else:
        yield from (text.replace("\n", " ") for text in grouped(SENTENCE.split(block.text), MOST))


def fenced(text: str) -> str:
    return f"```\n{text}\n```"


def torn_code(text: str) -> Iterator[str]:
    return map(fenced, grouped(text.split("\n"), MOST_CODE))


def grouped(lines: Iterable[str], most: int, head: str = "") -> Iterator[str]:
    """Lines put together up to a size, each group under the same head. A line longer than that is cut."""
    held: list[str] = []
    size = 0
    for line in (piece for whole in lines for piece in cut(whole, most)):
        grows = tokens(line)
        if held and size + grows > most:
            yield "\n".join([head, *held] if head else held)
            held, size = [], 0
        held.append(line)
        size += grows
    if held or head:
        yield "\n".join([head, *held] if head else held)


def cut(line: str, most: int) -> Iterator[str]:
    """A line in pieces of a size; almost always the line itself."""
    if tokens(line) <= most:
        yield line
        return
    ends = [found.end() for found in TOKEN.finditer(line)]
    starts = [0, *ends[most - 1 :: most]]
    for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
        if line[start:end].strip():
            yield line[start:end]
