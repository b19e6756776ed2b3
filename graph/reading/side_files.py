"""Files that lie beside a script and came with a message: a container's .toml, a .json, a host file, a program.

In a fence they are known by its tag, by the name above it or by their form; else by the name at the end of the line
above them, and they go on as long as their lines do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

TAGS = frozenset(("json", "toml", "yaml", "yml", "ini", "cfg", "python", "py"))
FILE_NAME = re.compile(
    r"(?<![\w/.${-])(?P<path>[\w./~$-]*/)?(?P<name>[\w.-]*\w\.(?:json|toml|ya?ml|ini|cfg|conf|hosts?|py)"
    r"|[\w-]*(?:host|machine|node)s?_?file(?:\.\w+)?)\b(?![\w/])",
    re.I,
)
# What may stand behind the name in the line above: `ds.json:`, `my ngc.toml looks like this:`
LEADS = re.compile(r"\W*(?:(?:is|are|says|has|holds|looks?|like|reads|this|here|file|config\w*|content\w*)\W+)*", re.I)
OPENS, CLOSES = "{[", "}]"
JSON_KEY = re.compile(r'"[^"\n]*"\s*:')
SECTION = re.compile(r"\[{1,2}[\w.\"' -]+\]{1,2}\s*(?:#.*)?")
SETTING = re.compile(r"[\w.\"-]+\s*=\s*\S.*")
PAIR = re.compile(r"(?:-\s+)?[\w.\"'/-]+:(?:\s+\S.*)?|-\s+\S.*")
HOST = re.compile(r"(?=[^\s\d:]*\d)[\w.-]{1,255}(?:\s+(?:slots|max_slots|ncpus)=\d+)*(?::\d+)?")
FORMS = (SETTING, PAIR, HOST)
CODE = re.compile(r"(?:import|from|def|class)\s+\w|@\w+")
REMARK = re.compile(r"#(?![!]).*")
SHELL_SIGNS = re.compile(r"[=$<>|;&(){}\"'`]")
LEAST_ROWS, MOST_ROWS = 2, 400
# Brackets within brackets; what has more of them open is no such file, and not looked at from each of its lines again.
DEEPEST = 20


def is_file(rows: Sequence[str], tag: str, above: str, printed: Callable[[str], object]) -> bool:
    """Whether a fenced block is such a file. printed: whether a program prints a line that begins so."""
    told = [row for row in rows if row.strip()]
    if not told or any(printed(row) for row in told if not row[0].isspace()):
        return False
    marked = tag.lower().partition(" ")[0] in TAGS or is_json(told) or any(map(is_section, told))
    return marked or (bool(leading_name(above)) and is_formed(told))


def is_config(name: str, rows: Sequence[str], printed: Callable[[str], object]) -> bool:
    """Whether an attached file is one by its name and form; what a program dumps as .json is a log."""
    of_name = leading_name(name) and (not name.endswith((".json", ".py")) or "config" in name)
    return bool(of_name) and is_file(rows, "", name, printed)


def is_formed(rows: Sequence[str]) -> bool:
    """Whether all lines have the form of a file's, or one only a program's: what a program prints has neither."""
    return any(map(CODE.match, rows)) or any(all(is_of(row, form) for row in rows) for form in FORMS)


def is_section(row: str) -> bool:
    return SECTION.fullmatch(row.strip()) is not None


def is_json(rows: Sequence[str]) -> bool:
    """Whether the lines are an object or a list with keys."""
    text = "\n".join(rows).strip()
    whole = len(rows) >= LEAST_ROWS and text[:1] in OPENS and text[-1:] in CLOSES
    return whole and JSON_KEY.search(text) is not None


def leading_name(line: str) -> str:
    """The file's name where the line leads to its text; empty where it does not, as where a command goes on below."""
    if line.rstrip().endswith("\\"):
        return ""
    found = [one for one in FILE_NAME.finditer(line) if LEADS.fullmatch(line[one.end() :])]
    return found[-1]["name"] if found else ""


def name_of(above: str, rows: Sequence[str]) -> str:
    """What the file is called: as the line above it says, or a remark in its first line, else by its form."""
    named = leading_name(above) or (leading_name(rows[0]) if rows[0].lstrip().startswith(("#", "//")) else "")
    return named or ("pasted.json" if is_json(rows) else "pasted.toml" if any(map(is_section, rows)) else "pasted file")


def stretches(rows: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """The lines outside of fences: those of such files, and the others."""
    others, at, above, in_script = list[str](), 0, "", False
    while at < len(rows):
        in_script = in_script or rows[at].startswith("#!")
        begins = rows[at].lstrip()[:1] in tuple(OPENS) or bool(leading_name(above))
        begins = begins and (not in_script or is_said(above))
        size = rows_of_file(rows[at : at + MOST_ROWS], above) if begins else 0
        if size:
            yield False, others
            yield True, list(rows[at : at + size])
            others, at, above, in_script = [], at + size, "", False
        else:
            others.append(rows[at])
            above, at = rows[at] if rows[at].strip() else above, at + 1
    yield False, others


def is_said(line: str) -> bool:
    """Whether a line behind a script's first one is the person's again, who leads to a file: `ds.json:`."""
    name = leading_name(line)
    return bool(name) and (line.rstrip().endswith(":") or line.strip() == name) and not SHELL_SIGNS.search(line)


def rows_of_file(rows: Sequence[str], above: str) -> int:
    """How many lines, from the first one on, are of one file."""
    first, named = rows[0].strip(), leading_name(above)
    if first[:1] in OPENS and not is_section(first):
        size = rows_of_json(rows)
        return size if size and is_json(rows[:size]) else 0
    if not named or not first:
        return 0
    form = next((one for one in FORMS if one.fullmatch(first)), SETTING if is_section(first) else None)
    if form is None:
        return 0
    own = list(takewhile(lambda row: is_of(row, form), rows))
    while own and not own[-1].strip():
        own.pop()
    return len(own) if len(own) >= LEAST_ROWS else 0


def is_of(row: str, form: re.Pattern[str]) -> bool:
    """Whether a line goes on with a file whose lines have that form."""
    text = row.strip()
    return not text or bool(form.fullmatch(text) or REMARK.fullmatch(text)) or is_section(text)


def rows_of_json(rows: Sequence[str]) -> int:
    """The lines up to the bracket that closes the first one; 0 where none does."""
    depth = 0
    for at, row in enumerate(rows, 1):
        plain = re.sub(r'"[^"\n]*"', "", row)
        depth += sum(one in OPENS for one in plain) - sum(one in CLOSES for one in plain)
        if depth <= 0 or depth > DEEPEST:
            return at if depth <= 0 else 0
    return 0
