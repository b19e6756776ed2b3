"""A bash script by its places: a tree whose offsets are the text's own, and spans of it that are replaced.

The tree of shell_tree.py is made of a text that is respelt for the parser; here every character keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node as Node

from graph.extraction.shell_tree import HEREDOC, PARSER

ASSIGNMENTS = frozenset({"variable_assignment", "variable_assignments", "declaration_command"})
# What holds statements that can be looked at one by one.
HOLDERS = frozenset(
    {
        "for_statement", "while_statement", "c_style_for_statement", "if_statement", "case_statement", "case_item",
        "function_definition", "compound_statement", "subshell", "do_group", "else_clause", "elif_clause",
    }
)  # fmt: skip
# Of these only what holds statements itself is looked at: the rest is a list of words or of sums.
LISTS = frozenset({"for_statement", "c_style_for_statement", "case_statement", "function_definition"})
HEADS = ("condition", "value", "name", "variable", "redirect")
NOT_STATEMENTS = frozenset({"comment", "heredoc_body", "heredoc_end", "word", "variable_name", "heredoc_start"})


@dataclass(frozen=True, slots=True)
class Change:
    """text[start:end] becomes `text`."""

    start: int
    end: int
    text: str


def tree_of(text: str) -> Node:
    """The root of the tree; start_byte and end_byte count the text's characters."""
    return PARSER.parse(as_parsed(text).encode("ascii")).root_node


def as_parsed(text: str) -> str:
    """The text in as many characters, of which none misleads the parser: heredocs' bodies are letters."""
    rows, end = re.sub(r"[^\x00-\x7f]", "x", text).split("\n"), ""
    for at, row in enumerate(rows):
        if end and row.strip() == end:
            end = ""
        elif end:
            rows[at] = "x" * len(row)
        elif not row.lstrip().startswith("#") and (found := HEREDOC.search(row)):
            end = found[2]
    return "\n".join(rows)


def bodies(node: Node) -> Iterator[Node]:
    """The statements of a holder's body, without what decides or names it."""
    heads = {one.id for field in HEADS for one in node.children_by_field_name(field)}
    for one in node.named_children:
        if one.id not in heads and one.type not in NOT_STATEMENTS and (node.type not in LISTS or one.type in HOLDERS):
            yield one


def within(node: Node, kinds: Iterable[str]) -> Iterator[Node]:
    """The nodes of these kinds in a statement, in order; what a command substitution holds is not looked at."""
    wanted = frozenset(kinds)
    left = [node]
    while left:
        one = left.pop()
        if one.type in wanted:
            yield one
        if one.type not in ("command_substitution", "process_substitution"):
            left += reversed(one.children)


def words_of(command: Node) -> list[Node]:
    """The words of a simple command, the variables in front of it and its redirections left out."""
    return [
        one
        for one in command.named_children
        if one.type != "variable_assignment" and "redirect" not in one.type and not one.type.startswith("here")
    ]


def line_of(node: Node) -> int:
    return node.start_point[0] + 1


def gone(text: str, node: Node) -> Change:
    """The statement taken out, with its separator, and its lines where nothing else stands on them."""
    start, end = node.start_byte, node.end_byte
    more = re.compile(r"[ \t]*(;(?!;)|&(?!&))?").match(text, end)
    end = more.end() if more else end
    before = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(#[^\n]*)?(\n|$)").match(text, end)
    if not text[before:start].strip() and rest:
        return Change(before, rest.end(), "")
    return Change(start, end, "")


def changed(text: str, changes: Iterable[Change], kept: Callable[[str], str] = str) -> str:
    """The text with all changes, what stays of it passed through `kept`. Of two that overlap the earlier one counts; at
    one place they stand in the given order."""
    out, at = [], 0
    for one in sorted(changes, key=lambda change: (change.start, change.end != change.start)):
        if one.start < at:
            continue
        out += [kept(text[at : one.start]), one.text]
        at = one.end
    return "".join((*out, kept(text[at:])))
