"""Scripts that are not bash: csh, fish and Windows batch files are turned into bash line for line; others are refused.

The translation serves reading only: it keeps line numbers, variables, loops and commands, not every detail.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from pathlib import Path

from knowledge.data_file import read_data
from knowledge.errors import InputError

# Characters and lines that are read; honest scripts have a few thousand and some hundred.
LONGEST, MOST_LINES = 150_000, 10_000
# Lines of other shells and the same in bash (dialects.yaml).
RULES: dict[str, list[tuple[str, str]]] = read_data(Path(__file__).with_name("dialects.yaml"))
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
    for pattern, made in RULES["csh"]:
        found = re.fullmatch(pattern, line.strip())
        if found:
            return found.expand(made)
    return re.sub(r">&\s*(?=[\w./$])", "> ", line)


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
        for pattern, made in RULES["fish"]:
            line = re.sub(pattern, made, line)
        out.append(re.sub(r"(?<![$\w\"'])\((?=[a-z])", "$(", line))
    return "\n".join(out)


FISH_ENDS = {"for": "done", "while": "done", "if": "fi", "function": "}", "begin": "}", "switch": ":"}


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
