"""A step around the program: a line of the person's own shell, which stands in the script as it was written."""

from __future__ import annotations

import re

from graph.extraction.shell_tree import descendants, faulty, parse, text_of
from graph.planning.fields import check_text, shown
from knowledge.errors import InputError

NOT_WHOLE = "{} {} is no whole line of shell; close what it opens, or put it into a file and name that: bash prepare.sh"
# Words that close or go on with what an earlier line would have opened.
CLOSING = re.compile(r"done|fi|esac|then|else|elif|do|[})]|;;")


def shell_line(name: str, text: str) -> str:
    """The step as a line that ends where it ends. Raises InputError where it opens what a later line would close."""
    line = text.strip()
    check_text(name, line)
    root = parse(line).root_node
    if not root.named_children or root.named_children[0].type == "comment":
        raise InputError(f"{name} {shown(text)} is no command")
    commands = [text_of(one) for one in descendants(root, "command_name")]
    goes_on = line.endswith("\\") or any(descendants(root, "heredoc_redirect"))
    if goes_on or root.has_error or list(faulty(root)) or any(CLOSING.fullmatch(one) for one in commands):
        raise InputError(NOT_WHOLE.format(name, shown(line)))
    return line
