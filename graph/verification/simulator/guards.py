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
COMMAND = re.compile(r"(!\s+)?\b(?:command\s+-v|which|hash|type(?:\s+-[pPt])?)\s+([A-Za-z][\w.+-]*)")
COUNT = re.compile(r"\$\{?#\}?[\"']?\s*(?:-(lt|ne|eq)|(<|!=|==))\s*(\d)")
EMPTY, NEEDED = re.compile(r"-z\s+[\"']?\$\{?([1-9])\b"), re.compile(r"\$\{([1-9]):?\?")
RUNS_SOMETHING = re.compile(r"\$\(|`|[<>]\(")


def guards(script: str) -> tuple[str, ...]:
    """`-OPERATOR WORD` of each such test, the word as the script has it; words that run a command are left out."""
    found = [
        f"-{operator} {word}"
        for condition, plain in endings(script)
        for outer, inner, operator, word in TEST.findall(condition)
        if (not outer and not inner) == plain and not RUNS_SOMETHING.search(word)
    ]
    return tuple(dict.fromkeys(found))


def commands_wanted(script: str) -> tuple[str, ...]:
    """Commands without which the script ends: `command -v X || exit`."""
    found = [name for text, plain in endings(script) for no, name in COMMAND.findall(text) if (not no) == plain]
    return tuple(dict.fromkeys(found))


def arguments_wanted(script: str) -> tuple[str, ...]:
    """Words in the place of the arguments without which the script ends; none where it chooses by what they say."""
    if re.search(r"\bcase\s+[\"']?\$", script):
        return ()
    negated = [text for text, plain in endings(script) if not plain]
    wanted = [int(one) for one in NEEDED.findall(script)]
    for text in negated:
        wanted += [int(number) + (word == "eq" or sign == "==") for word, sign, number in COUNT.findall(text)]
        wanted += [int(number) for number in EMPTY.findall(text)]
    return tuple(f"argument-{number}" for number in range(1, max(wanted, default=0) + 1))


def endings(script: str) -> Iterator[tuple[str, bool]]:
    """(condition, plain): the script ends where what it says fails (plain), or where it holds."""
    root = parse(script).root_node
    for node in descendants(root, "list"):  # `[ -d X ] || exit` and `[ ! -d X ] && exit`
        if len(node.children) == 3 and ends([node.children[2]]):
            yield text_of(node.children[0]), text_of(node.children[1]) == "||"
    for node in descendants(root, "if_statement"):  # `if [ ! -d X ]; then exit; fi`, and an else that ends the script
        before: list[Node] = []
        for condition, body in if_parts(node):
            if ends(body):
                yield from ((text_of(one), not condition) for one in (condition or before))
            before += condition


def ends(nodes: list[Node]) -> bool:
    return any(ENDING.fullmatch(text_of(name)) for node in nodes for name in names(node))


def names(node: Node) -> Iterator[Node]:
    """The names of the commands in a node."""
    if node.type == "command_name":
        yield node
    yield from descendants(node, "command_name")
