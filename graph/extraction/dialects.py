"""Scripts that are not bash: csh, fish and Windows batch files are turned into bash line for line; others are refused.

The translation serves reading only: it keeps line numbers, variables, loops and commands, not every detail.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

from knowledge.errors import InputError

# Characters and lines that are read; honest scripts have a few thousand and some hundred.
LONGEST, MOST_LINES = 150_000, 10_000
# Characters of a `#!` line; Linux heeds no more.
SHEBANG = 256
NOT_SHELL = {"python": "python", "perl": "perl", "ruby": "ruby", "julia": "julia", "rscript": "R", "node": "JavaScript"}


def checked(text: str) -> str:
    """The text with Unix line ends. Raises InputError on what is no script at all."""
    if not text.strip():
        raise InputError("the script is empty; give the job script's text")
    if len(text) > LONGEST:
        raise InputError(f"the script has {len(text):,} characters, more than {LONGEST:,}; give the job script alone")
    odd = sum(1 for char in text[:20_000] if char == "\ufffd" or (ord(char) < 32 and char not in "\t\n\r\f\x1b\x0b"))
    if "\x00" in text or odd > len(text[:20_000]) / 50:
        raise InputError("this is a binary file, not a script; give the job script's text")
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if (lines := text.count("\n")) > MOST_LINES:
        raise InputError(f"the script has {lines:,} lines, more than {MOST_LINES:,}; give the job script alone")
    return text


def shebang_of(text: str) -> str:
    """The first `#!` line, which need not be the first line of the file; empty where there is none."""
    return next((line.strip()[:SHEBANG] for line in text.splitlines()[:200] if line.startswith("#!")), "")


def language_of(text: str) -> str:
    """bash (also for sh, zsh and ksh), csh, fish, batch, or the name of a language that is no shell."""
    words = shebang_of(text)
    pbs_shell = re.search(r"^#(?:PBS|\$)\s+-S\s+(\S+)", text, re.M)
    names = re.findall(r"[A-Za-z]+", f"{words} {pbs_shell[1] if pbs_shell else ''}".lower())
    if "csh" in names or "tcsh" in names:
        return "csh"
    if "fish" in names:
        return "fish"
    for name, language in NOT_SHELL.items():
        if name in names:
            return language
    if not words and is_python(text):
        return "python"
    if re.match(r"\s*@echo off|\s*setlocal\b|\s*rem\s", text, re.I):
        return "batch"
    if (
        not words
        and re.search(r"^[^\S\n]*setenv \w+ \S", text, re.M)
        and not re.search(r"^[^\S\n]*export \w+=", text, re.M)
    ):
        return "csh"
    return "bash"


def is_python(text: str) -> bool:
    """Whether a text without `#!` is a Python program; a shell script that holds one does not parse as such."""
    imports = re.search(r"^(import \w[\w., ]*|from [\w.]+ import .+)$", text, re.M)
    if not imports or not re.search(r"^(def \w+\(|class \w+|if __name__ ==|\w[\w.]* = \w+.*\()", text, re.M):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def to_bash(text: str, language: str) -> str:
    """The script as bash, line for line; nothing for a language that is no shell.

    Two slips are read as they are meant: a blank behind a backslash at a line's end, and `NAME=<fill this in>`, also
    with an example behind it in round brackets, on the same line or the next.
    """
    if language == "bash":
        text = re.sub(r"(?m)\\[ \t]+$", r"\\", text)
        text = re.sub(
            r"(?m)^([^\S\n]*(?:export\s+)?\w+=<[^<>\n(]*>)[ \t]*(?:\\(\n))?([ \t]*\(.*\)[ \t]*)$", r"\1\2 #\3", text
        )
        return re.sub(r"(?m)^([^\S\n]*(?:export\s+)?\w+=)(<[^<>\n(][^<>\n]*>)(?=\s*(?:#.*)?$)", r"\1'\2'", text)
    translate = TRANSLATIONS.get(language)
    return translate(text) if translate else ""


def csh_to_bash(text: str) -> str:
    return "\n".join(csh_line(line) for line in text.split("\n"))


def csh_line(line: str) -> str:
    for pattern, made in CSH_RULES:
        found = re.fullmatch(pattern, line.strip())
        if found:
            return found.expand(made)
    return re.sub(r">&\s*(?=[\w./$])", "> ", line)


CSH_RULES: tuple[tuple[str, str], ...] = (
    (r"setenv\s+(\w+)\s*", r"export \1="),
    (r"setenv\s+(\w+)\s+(.+)", r"export \1=\2"),
    (r"set\s+(\w+)\s*=\s*(.*)", r"\1=\2"),
    (r"@\s*(\w+)\s*=\s*(.+)", r"\1=$((\2))"),
    (r"unsetenv\s+(\w+)", r"unset \1"),
    (r"foreach\s+(\w+)\s*\((.*)\)\s*", r"for \1 in \2; do"),
    (r"while\s*\((.*)\)\s*", r"while true; do"),
    (r"else\s+if\s*\((.*)\)\s*then\s*", r"elif csh_condition; then"),
    (r"if\s*\((.*)\)\s*then\s*", r"if csh_condition; then"),
    (r"if\s*\(.*?\)\s+(\S.*)", r"\1"),
    (r"endif", "fi"),
    (r"end", "done"),
    (r"(limit|unlimit|switch|case|default|breaksw|endsw|rehash|onintr)\b.*", ":"),
)


def fish_to_bash(text: str) -> str:
    """Fish closes every block with `end`: which block it was is kept on a stack."""
    out: list[str] = []
    open_blocks: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        opened = re.match(r"(for|if|while|function|begin|switch)\b", bare)
        if opened:
            open_blocks.append(FISH_ENDS[opened[1]])
        if bare == "end" and open_blocks:
            out.append(open_blocks.pop())
            continue
        for pattern, made in FISH_RULES:
            line = re.sub(pattern, made, line)
        out.append(re.sub(r"(?<![$\w\"'])\((?=[a-z])", "$(", line))
    return "\n".join(out)


FISH_ENDS = {"for": "done", "while": "done", "if": "fi", "function": "}", "begin": "}", "switch": ":"}
FISH_RULES: tuple[tuple[str, str], ...] = (
    (r"^(\s*)set\s+(?:-\w*x\w*|--export|-gx|-Ux)(?:\s+-\w+)*\s+(\w+)\s+(.+)$", r"\1export \2=\3"),
    (r"^(\s*)set\s+(?:-\w+\s+)*(\w+)\s+(\S+)\s*$", r"\1\2=\3"),
    (r"^(\s*)set\s+(?:-\w+\s+)*(\w+)\s+(\S+\s.+)$", r"\1\2=(\3)"),
    (r"^(\s*)for\s+(\w+)\s+in\s+(.+)$", r"\1for \2 in \3; do"),
    (r"^(\s*)else if\s+(.+)$", r"\1elif \2; then"),
    (r"^(\s*)if\s+(.+)$", r"\1if \2; then"),
    (r"^(\s*)while\s+(.+)$", r"\1while \2; do"),
    (r"^(\s*)function\s+(\w+).*$", r"\1\2() {"),
    (r"^(\s*)begin\s*$", r"\1{"),
    (r"^(\s*)(?:and|or)\s+", r"\1"),
    (r"^(\s*)(?:switch|case)\b.*$", r"\1:"),
)


def batch_to_bash(text: str) -> str:
    return "\n".join(batch_line(line) for line in text.split("\n"))


def batch_line(line: str) -> str:
    """One line of a Windows batch file as bash."""
    line = re.sub(r"\^\s*$", r"\\", line)
    line = re.sub(r"%(\w+)%", r"${\1}", line)
    bare = line.strip()
    if re.match(r"(?i)@?echo off|setlocal|endlocal|goto\b|:\w|pause", bare):
        return ":"
    if re.match(r"(?i)rem\b|::", bare):
        return "# " + bare
    found = re.fullmatch(r"(?i)set\s+\"?(\w+)=(.*?)\"?", bare)
    if found:
        return f"{found[1]}='{found[2]}'" if "$" not in found[2] else f'{found[1]}="{found[2]}"'
    return (
        re.sub(r"(?i)^\s*(@|call\s+|start\s+/b\s+)", "", line).replace("\\", "/") if not line.endswith("\\") else line
    )


TRANSLATIONS: dict[str, Callable[[str], str]] = {"csh": csh_to_bash, "fish": fish_to_bash, "batch": batch_to_bash}
