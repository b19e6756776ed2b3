"""Places in the shell's tree: the statement of a command, what stands before it, what is at work beside it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tree_sitter import Node

from graph.extraction.shell_tree import adjacent_words, text_of
from graph.verification.checks.subject import walk

BLOCKS = frozenset(
    {"program", "do_group", "compound_statement", "subshell", "if_statement", "else_clause", "elif_clause", "case_item"}
)
LOOPS = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
# What a shell of its own runs: nothing that is set there comes back.
SET_APART = frozenset({"command_substitution", "process_substitution", "function_definition"})
VARIABLE = re.compile(r"[A-Za-z_]\w*=")
# Words that start the command behind them.
WRAPPERS = frozenset({"time", "nohup", "command", "env", "exec", "nice", "stdbuf", "timeout", "!"})


def lines_of(node: Node) -> tuple[int, int]:
    """First and last line, from 1."""
    return node.start_point[0] + 1, node.end_point[0] + 1


def ancestors(node: Node) -> Iterator[Node]:
    one = node.parent
    while one is not None:
        yield one
        one = one.parent


def is_within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte


def found(root: Node, *kinds: str) -> list[Node]:
    """Every node of the kinds, in the order of the text."""
    if root.parent is None:  # many rules ask for the same tree
        nodes = [one for kind in kinds for one in nodes_by_kind(root).get(kind, ())]
    else:
        nodes = [one for one in walk(root) if one.type in kinds]
    return sorted(nodes, key=lambda one: one.start_byte)


@lru_cache(maxsize=1)
def nodes_by_kind(root: Node) -> Mapping[str, Sequence[Node]]:
    kinds: defaultdict[str, list[Node]] = defaultdict(list)
    for one in walk(root):
        kinds[one.type].append(one)
    return kinds


@lru_cache(maxsize=32)
def words_of(node: Node) -> Sequence[str]:
    """The words of a simple command as they are written, with its variables before it; redirections off."""
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        return words_of(body) if body is not None else []
    if node.type not in ("command", "declaration_command"):
        return []
    return adjacent_words([one for one in node.children if not one.type.endswith("_redirect")], node)


def program_of(node: Node) -> str:
    """The name of the program that a simple command starts, behind `time`, `env A=b`, `timeout 5` and their like."""
    wrapped = False
    for word in words_of(node):
        name = word.rsplit("/", 1)[-1]
        if name in WRAPPERS:
            wrapped = True
        elif not (VARIABLE.match(word) or (wrapped and (word.startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", word)))):
            return name
    return ""


def redirects_of(node: Node) -> list[Node]:
    """The redirections that stand at a node itself."""
    return [one for one in node.children if one.type.endswith("_redirect")]


def takes_input(node: Node) -> bool:
    """Whether a redirection at this node is its standard input."""
    return any(
        one.type in ("heredoc_redirect", "herestring_redirect") or re.match(r"0?<(?!&\d)", text_of(one))
        for one in redirects_of(node)
    )


def statement_of(node: Node) -> Node:
    """The whole statement that a command is part of: with its pipe, its `&&`, its redirections."""
    one = node
    while one.parent is not None and one.parent.type not in BLOCKS | SET_APART:
        one = one.parent
    return one


def in_background(statement: Node) -> bool:
    after = statement.next_sibling
    return after is not None and after.type == "&"


def before(statement: Node) -> Node | None:
    """The statement that runs before this one in its block."""
    one = statement.prev_named_sibling
    while one is not None and one.type == "comment":
        one = one.prev_named_sibling
    return one


def later(statement: Node) -> Iterator[Node]:
    """The statements of its block that stand behind it."""
    one = statement.next_named_sibling
    while one is not None:
        if one.type != "comment":
            yield one
        one = one.next_named_sibling
