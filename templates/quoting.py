"""The one way in which text gets into a shell script, by what it is there: a shell line, an argument, a literal.

A step before or after the program is a shell line: it stands as the person wrote it, once it was read as a whole
(graph/planning/steps.py). An argument or a value is one word in which variables are expanded and nothing is run. A
literal is that very text.
"""

from __future__ import annotations

import re
import shlex

from knowledge.types import Variable

# A variable, or one with a plain word for when it is not set, or a piece of it: nothing in the braces can run.
EXPANSION = re.compile(
    r"\$(?:[A-Za-z_]\w*|\{#?[A-Za-z_]\w*(?:(?::?[-+]|\#\#?|%%?)[\w./:@%+,=*?-]*|:\d+(?::\d+)?)?\})", re.ASCII
)
# An argument that is a variable and nothing else; written without quotes it is as many words as its value has.
WHOLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})", re.ASCII)


class SplitWords(str):
    """A variable that stood without quotes in a command line: its value is split at blanks, as a shell does."""

    __slots__ = ()


def literal(text: str) -> str:
    """One word of bash that is this very text."""
    # NAME==value reads like a comparison, to people and to shellcheck.
    return f"'{text}'" if text.startswith("=") and shlex.quote(text) == text else shlex.quote(text)


def shell_word(text: str) -> str:
    """One word of bash that means exactly this text, except that variables ($SCRATCH, ${TAG:-x}) are expanded.

    Nothing in the text can end the word or start a command: inside double quotes only $, `, \\ and " are special, and
    all of them are escaped but the $ of a variable. A leading ~/ becomes "$HOME"/, as a person means it.
    """
    if isinstance(text, SplitWords) and WHOLE.fullmatch(text):
        return str(text)
    if text.startswith("~/"):
        text = "$HOME" + text[1:]
    if not EXPANSION.search(text):
        return literal(text)
    parts, end = [], 0
    for match in EXPANSION.finditer(text):
        parts += [escaped(text[end : match.start()]), match[0]]
        end = match.end()
    return '"' + "".join(parts) + escaped(text[end:]) + '"'


def escaped(text: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", text)


def variable_value(variable: Variable) -> str:
    """A variable's value as a word; shell text of the facts (expand) goes into double quotes as it is."""
    return f'"{variable.value}"' if variable.expand else shell_word(variable.value)
