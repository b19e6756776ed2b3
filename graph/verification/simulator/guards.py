"""What a script insists on finding before it goes on: tests for files whose failure ends it.

Files of the site are not here. A test that the script survives is left to run as it is; where it would end the script,
what is looked for is stood in for, and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from graph.extraction.shell_tree import descendants, if_parts, parse, text_of

ENDING = re.compile(r"exit|return|die|fail|abort|usage|error(?:_exit)?")
TEST = re.compile(
    r"(!\s+)?(?:\[\[?\s+|\btest\s+|&&\s+|\|\|\s+)?(!\s+)?-([defrsxLh])\s+(\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\]]+)"
)
RUNS_SOMETHING = re.compile(r"\$\(|`|[<>]\(")


def guards(script: str) -> tuple[str, ...]:
    """`-OPERATOR WORD` of each such test, the word as the script has it; words that run a command are left out."""
    root = parse(script).root_node
    found = [one for node in descendants(root, "list") for one in of_list(node)]
    found += [one for node in descendants(root, "if_statement") for one in of_if(node)]
    return tuple(dict.fromkeys(found))


def of_list(node: Node) -> Iterator[str]:
    """`[ -d X ] || exit` and `[ ! -d X ] && exit`."""
    if len(node.children) == 3 and ends([node.children[2]]):
        yield from looked_for(node.children[:1], text_of(node.children[1]) == "||")


def of_if(node: Node) -> Iterator[str]:
    """`if [ ! -d X ]; then exit; fi`, and an else that ends the script."""
    before: list[Node] = []
    for condition, body in if_parts(node):
        if ends(body):
            yield from looked_for(condition, False) if condition else looked_for(before, True)
        before += condition


def looked_for(conditions: list[Node], plain: bool) -> Iterator[str]:
    """The tests in conditions that stand plain, or those that are negated."""
    for condition in conditions:
        for outer, inner, operator, word in TEST.findall(text_of(condition)):
            if (not outer and not inner) == plain and not RUNS_SOMETHING.search(word):
                yield f"-{operator} {word}"


def ends(nodes: list[Node]) -> bool:
    return any(ENDING.fullmatch(text_of(name)) for node in nodes for name in names(node))


def names(node: Node) -> Iterator[Node]:
    """The names of the commands in a node."""
    if node.type == "command_name":
        yield node
    yield from descendants(node, "command_name")
