"""The statements of a script with their lines, taken apart as far as the training stands inside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from graph.extraction.script import ReadScript
from graph.extraction.shell_tree import parse, text_of

# What holds other statements. Of one that holds the training, the head and each statement count by themselves.
HOLDERS = frozenset(
    {
        "for_statement", "while_statement", "c_style_for_statement", "if_statement", "case_statement", "case_item",
        "function_definition", "compound_statement", "subshell", "do_group", "else_clause", "elif_clause",
    }
)  # fmt: skip
LOOPS = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
BRANCHES = frozenset({"if_statement", "case_statement", "case_item", "else_clause", "elif_clause"})


@dataclass(frozen=True, slots=True)
class Statement:
    """first, last: lines from 1, both in. holds: what kind of head it is, for one that holds the training."""

    first: int
    last: int
    text: str
    kind: str
    background: bool = False
    holds: str = ""

    @property
    def shown(self) -> str:
        text = " ".join(self.text.split())
        return text if len(text) <= 70 else text[:69] + "…"


def statements(script: ReadScript, training: int) -> Iterator[Statement]:
    """Every statement that is no comment; `training` is the line on which the training command begins."""
    if script.language != "bash":
        yield from by_line(script)
        return
    yield from of_node(parse(script.text).root_node, training, 0)


def by_line(script: ReadScript) -> Iterator[Statement]:
    """Scripts of other shells: each line by itself."""
    for number, line in enumerate(script.text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith(("#", "REM ", "::")):
            yield Statement(number, number, line.strip(), "line")


def of_node(node: Node, training: int, shift: int) -> Iterator[Statement]:
    """The statements below a node; shift is added to its line numbers."""
    children = [child for child in node.children if child.is_named and child.type != "comment"]
    for child in children:
        first, last = lines_of(child, shift)
        after = child.next_sibling
        inside = first <= training <= last
        if inside and child.type in HOLDERS:
            yield from opened(child, training, shift)
        elif inside and (body := heredoc_around(child, training, shift)) is not None:
            yield Statement(
                first, body.start_point[0] + shift, text_of(child).split("\n")[0], child.type, holds="heredoc"
            )
            yield from of_node(parse(text_of(body)).root_node, training, body.start_point[0] + shift)
        elif child.type not in ("word", "variable_name", "heredoc_body", "heredoc_end"):
            background = after is not None and after.type == "&"
            yield Statement(first, last, text_of(child).strip(), child.type, background)


def opened(node: Node, training: int, shift: int) -> Iterator[Statement]:
    """The head of a statement that holds the training, then what stands in it."""
    first, last = lines_of(node, shift)
    if node.type not in ("do_group", "compound_statement"):
        holds = "loop" if node.type in LOOPS else "branch" if node.type in BRANCHES else "function"
        holds = "subshell" if node.type == "subshell" else holds
        yield Statement(first, first, text_of(node).split("\n")[0].strip(), node.type, holds=holds)
    yield from (one for one in of_node(node, training, shift) if one.first > first or one.last > first or first == last)


def heredoc_around(node: Node, training: int, shift: int) -> Node | None:
    """The body of a heredoc in which the training stands: a worker script, or a job that the script submits."""
    left = [node]
    while left:
        one = left.pop()
        first, last = lines_of(one, shift)
        if one.type == "heredoc_body" and first <= training <= last:
            return one
        left += [child for child in one.children if lines_of(child, shift)[1] >= training]
    return None


def lines_of(node: Node, shift: int) -> tuple[int, int]:
    first, last = node.start_point[0] + 1, node.end_point[0] + 1
    if node.end_point[1] == 0 and last > first:
        last -= 1
    return first + shift, last + shift
