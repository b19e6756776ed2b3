"""Small helpers over tree-sitter's bash tree."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Tree

PARSER = Parser(Language(tree_sitter_bash.language()))
# tree-sitter-bash 0.25 asks libc's isalpha() about characters above U+00FF, which reads outside its table: `{` before
# U+2D6BA ends the process. Such characters are parsed as letters that spell their number, and read back as themselves.
WIDE = re.compile("[\u00ff-\U0010ffff]+")
SPELT = re.compile("\u00ff([0-9a-f]+)\u00ff")
HEREDOC = re.compile(r"(?<!<)<<-?[ \t]*(['\"]?)\\?([A-Za-z_]\w*)\1")
# In a heredoc's body the parser is misled by expansions and by a last line of blanks; in a condition that ends its line
# it may look for the closing bracket further down.
MISLEADING = re.compile(r"[$`\\\]]|^[ \t]+$")
# `${NAME%\'}` opens a string that never ends.
IN_BRACES = re.compile(r"(?<=[%#])\\'(?=\})")
# A dollar sign that names nothing (`sed -n $=`), which the grammar takes for the begin of a name.
NAMELESS = re.compile(r"\$(?=[=,:%])")
# Bytes that cost little whatever they are; seconds of the processor for more (an honest script of 100 kB takes 0.01).
SHORT, PARSE_S, PARSE_S_A_MB = 5_000, 0.04, 1.0
# Of a tree, which is walked again and again; an honest script of 100 kB has 40,000.
MOST_NODES = 60_000
# A loop is two; of these a tree costs the square, and its rules more.
MOST_DEPTH = 200
BETWEEN_WORDS = re.compile(rb"[\s;&|()]")
CONDITION = re.compile(r"[ \t]*(?:while|until|if|elif)[ \t].*\][ \t]*")


def parse(text: str) -> Tree:
    """The tree of a text; its nodes are read with text_of()."""
    return parse_affordable(text)[0]


@lru_cache(maxsize=1)
def parse_affordable(text: str) -> tuple[Tree, int]:
    """The tree of as many lines as can be parsed in time, and how many they are; of a script that is all of them."""
    data = "\n".join(parsable(WIDE.sub(spell, text).split("\n"))).encode()
    most = SHORT
    while most < len(data) and is_affordable(data[:most]):
        most *= 2
    if most < len(data):
        data = data[: data.rfind(b"\n", 0, most) + 1]
    whole, tree = most >= len(data), PARSER.parse(data + b"\n\n")
    if len(data) > SHORT and (deep := nested_from(tree.root_node)):
        whole, data = False, data[: data.rfind(b"\n", 0, deep) + 1]
        tree = PARSER.parse(data + b"\n\n")
    return tree, data.count(b"\n") + whole


def nested_from(root: Node) -> int:
    """The byte from which a tree is nested too deeply to be walked up and down again and again; 0 for nowhere."""
    cursor = root.walk()
    while cursor.depth <= MOST_DEPTH:
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return 0
    return cursor.node.start_byte if cursor.node is not None else 0


def is_affordable(data: bytes) -> bool:
    """Whether twice as much is parsed in time. What is no shell at all costs the square of its length, in memory, too;
    a parse that is stopped half-way would leak what it holds.
    """
    began = time.thread_time()
    nodes = PARSER.parse(data).root_node.descendant_count
    return nodes < MOST_NODES and time.thread_time() - began < max(PARSE_S, PARSE_S_A_MB * len(data) / 1e6)


def parsable(lines: list[str]) -> Iterator[str]:
    """The lines without what the grammar stumbles over. Heredocs are told by their first and last lines alone."""
    last = {line.strip(): number for number, line in enumerate(lines)}
    end = ""
    for number, line in enumerate(lines):
        if end:
            end = "" if line.strip() == end else end
            yield MISLEADING.sub(spell, line) if end else line
            continue
        opened = HEREDOC.search(line)
        if opened and not line.lstrip().startswith("#") and last.get(opened[2], 0) > number:
            end = opened[2]
        line = NAMELESS.sub(spell, IN_BRACES.sub(spell, line))
        yield f"{line};" if CONDITION.fullmatch(line) else line


def spell(found: re.Match[str]) -> str:
    return "".join(f"\u00ff{ord(char):x}\u00ff" for char in found[0])


def original(data: bytes) -> str:
    """A piece of what was parsed, as it stood in the text."""
    text = data.decode("utf-8", "replace")
    return SPELT.sub(lambda found: chr(int(found[1], 16)), text) if "\u00ff" in text else text


def text_of(node: Node) -> str:
    return original(node.text) if node.text is not None else ""


def faulty(node: Node) -> Iterator[Node]:
    if node.type == "ERROR" or node.is_missing:
        yield node
        return
    for child in node.children:
        if child.has_error or child.is_missing:
            yield from faulty(child)


def if_parts(node: Node) -> Iterator[tuple[list[Node], list[Node]]]:
    """(condition, body) of the if, each elif and the else (whose condition is empty)."""
    condition: list[Node] = []
    body: list[Node] = []
    target = condition
    for child in node.children:
        if child.type == "then":
            target = body
        elif child.type in ("elif_clause", "else_clause"):
            continue
        elif child.type not in ("if", "elif", "fi"):
            target.append(child)
    yield condition, body
    for child in node.named_children:
        if child.type == "elif_clause":
            yield from if_parts(child)
        elif child.type == "else_clause":
            yield [], child.children[1:]


def adjacent_words(nodes: Iterable[Node], parent: Node | None = None) -> list[str]:
    """The raw words of nodes: those with no blank between them are one word.

    The grammar loses a dollar sign behind a hyphen (`a-$B`): with the parent, what stands in such gaps is kept.
    """
    parts: list[list[str]] = []
    end = -1
    source = parent.text or b"" if parent is not None else b""
    offset = parent.start_byte if parent is not None else 0
    for node in nodes:
        begin = node.start_byte
        gap = source[end - offset : begin - offset] if end >= offset else b" "
        if parts and (begin == end or (gap and not BETWEEN_WORDS.search(gap))):
            parts[-1] += [original(gap), text_of(node)]
        else:
            parts.append([text_of(node)])
        end = node.end_byte
    return ["".join(one) for one in parts]


def descendants(node: Node, kind: str) -> Iterator[Node]:
    """Every node of a kind below one."""
    for child in node.children:
        if child.type == kind:
            yield child
        yield from descendants(child, kind)
