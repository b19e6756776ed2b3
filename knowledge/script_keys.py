"""Keys that stand in a script's own lines. A script that is written anew or shown again has none: it asks the shell for
them. Only a variable that is called so and holds what looks like a key is one: any other line has to be right as it
stands."""

from __future__ import annotations

import re

from knowledge.errors import InputError
from knowledge.masking import hide

ASSIGNS = re.compile(
    r"(?P<indent>[^\S\n]*)(?:export\s+)?(?P<name>[A-Za-z_]*(?i:token|key|secret|passw|credential)\w*)=(?P<value>.+)"
)
STANDS_FOR_KEY = re.compile(r"<hidden>|<KEY_\d+>")
"""What a model is told in the place of a key."""
BESIDE_KEY = re.compile(rf"(?P<word>\S+ +|\S*[=:\"'])(?:{STANDS_FOR_KEY.pattern})")
NOT_KNOWN = "line {} has a hidden value that the script has nowhere behind the same word: leave that line out; `{}`"
FROM_SHELL = '{}: "${{{}:?export it in your shell before you submit}}"'
ASKED = re.compile(r'(?m)^[^\S\n]*: "\$\{(\w+):\?export it in your shell before you submit\}"$')
ASKED_HERE = "${{{}:?export it in your shell before you submit}}"
SAYS = "{0} comes from your shell: `export {0}=...` before you submit (no key is written into a script)"


def keys_from_shell(text: str) -> tuple[str, tuple[str, ...]]:
    """The text that asks the shell for each of its keys in the place where it sets them, and what is told of that.
    Linear in the text."""
    rows, names = text.split("\n"), dict[str, None]()
    for at, row in enumerate(rows):
        found = ASSIGNS.fullmatch(row.rstrip("\r"))
        if found and is_key(found["value"].strip().strip("\"'"), row):
            rows[at] = FROM_SHELL.format(found["indent"], found["name"])
            names[found["name"]] = None
    return "\n".join(rows), tuple(map(SAYS.format, names))


def all_keys_from_shell(text: str) -> tuple[str, tuple[str, ...]]:
    """The text in which also keys that stand in other lines (an argument, a login) are asked of the shell, under names
    of their own, and what is told of that. A remark and a file of a
    private key keep the mark of what was hidden."""
    rows, told = text.split("\n"), list[str]()
    for at, row in enumerate(rows):
        hidden = hide(row)
        if hidden == row or "<hidden>" not in hidden or row.lstrip().startswith("#"):
            rows[at] = hidden if row.lstrip().startswith("#") else row
            continue
        parts = hidden.split("<hidden>")
        if len(parts) == 2 and re.search(r"\s", row[len(parts[0]) : len(row) - len(parts[1])]):
            continue  # words of a sentence: a key has no blanks
        rows[at] = parts[0]
        for part in parts[1:]:
            name = f"KEY_{len(told) + 1}"
            asked = ASKED_HERE.format(name)
            rows[at] += (f"'\"{asked}\"'" if rows[at].count("'") % 2 else asked) + part
            told.append(SAYS.format(name))
    made = "\n".join(rows)
    return hide(made) if "PRIVATE KEY" in made else made, tuple(told)


def is_key(value: str, row: str) -> bool:
    """Whether a value is a key, or stands for one; a variable is none."""
    return not value.startswith("$") and (STANDS_FOR_KEY.fullmatch(value) is not None or hide(row) != row)


def with_its_keys(text: str, source: str) -> str:
    """A changed text of a script with the keys that it had where they still stand: behind the same word. Raises
    InputError for a line with one that the script has not there."""
    if not STANDS_FOR_KEY.search(text):
        return text
    rows = text.split("\n")
    for at, row in enumerate(rows):
        rows[at] = row if ASSIGNS.fullmatch(row.rstrip("\r")) else BESIDE_KEY.sub(lambda one: its_key(one, source), row)
        if STANDS_FOR_KEY.search(rows[at]) and not ASSIGNS.fullmatch(rows[at].rstrip("\r")):
            raise InputError(NOT_KNOWN.format(at + 1, row.strip()[:80]))
    return "\n".join(rows)


def its_key(found: re.Match[str], source: str) -> str:
    """What the script has behind the word before a hidden key, where that is one thing."""
    held = {one[1] for one in re.finditer(rf"(?<!\S){re.escape(found['word'])}(\S+)", source)}
    return found["word"] + held.pop() if len(held) == 1 else found[0]


def asked_of_shell(text: str) -> frozenset[str]:
    """The keys that a script asks the shell for."""
    return frozenset(ASKED.findall(text))


def without_old_keys(diff: str) -> str:
    """A difference whose removed and unchanged rows show no key; what is new has to be right as it is."""
    return "\n".join(row if row.startswith("+") else hide(row) for row in diff.splitlines())
