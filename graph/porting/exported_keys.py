"""Keys that stand in a script's own lines: a script that is written anew has none, it takes them from the shell; and
one that is shown again shows none. Only a variable that is called so and holds what looks like a key is one: any other
line has to be right as it stands."""

from __future__ import annotations

import re
from collections.abc import Callable

from knowledge.masking import hide
from knowledge.masking_table import HIDDEN

ASSIGNS = re.compile(
    r"(?P<head>(?P<indent>[^\S\n]*)(?:export\s+)?(?P<name>[A-Za-z_]*(?i:token|key|secret|passw|credential)\w*)=)(?P<value>.+)"
)
STANDS_FOR = re.compile(r"<hidden>|<KEY_\d+>")
FROM_SHELL = '{}: "${{{}:?export it in your shell before you submit}}"'
ASKED = re.compile(r'(?m)^[^\S\n]*: "\$\{(\w+):\?export it in your shell before you submit\}"$')
SAYS = "{0} comes from your shell: `export {0}=...` before you submit (no key is written into a script)"
NOT_SHOWN = (
    "`<hidden>` stands for a key, which is not shown: better take it out, and export it in the shell before you submit."
)


def keys_from_shell(text: str) -> tuple[str, tuple[str, ...]]:
    """The text that asks the shell for each of its keys in the place where it sets them, and what is told of that."""
    names = dict[str, None]()

    def ask_shell(found: re.Match[str]) -> str:
        names[found["name"]] = None
        return FROM_SHELL.format(found["indent"], found["name"])

    return changed(text, ask_shell), tuple(map(SAYS.format, names))


def asked_of_shell(text: str) -> frozenset[str]:
    """The keys that a script asks the shell for."""
    return frozenset(ASKED.findall(text))


def without_keys(text: str) -> str:
    """The text as it is shown."""
    return changed(text, lambda found: f"{found['head']}{HIDDEN}")


def is_key(value: str, row: str) -> bool:
    """Whether a value is a key, or stands for one; a variable is none."""
    return not value.startswith("$") and (STANDS_FOR.fullmatch(value) is not None or hide(row) != row)


def changed(text: str, put: Callable[[re.Match[str]], str]) -> str:
    """The text with something in the place of each row that sets a key. Linear in the text."""
    rows = text.split("\n")
    for at, row in enumerate(rows):
        found = ASSIGNS.fullmatch(row.rstrip("\r"))
        if found and is_key(found["value"].strip().strip("\"'"), row):
            rows[at] = put(found)
    return "\n".join(rows)
