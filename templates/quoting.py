"""The one way in which text becomes a word of a shell script."""

from __future__ import annotations

import re
import shlex

from knowledge.types import Variable

PLAIN_VARIABLE = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})")


def shell_word(text: str) -> str:
    """One word of bash that means exactly this text, except that plain variables ($SCRATCH, ${HOME}) are expanded.

    Nothing in the text can end the word or start a command: inside double quotes only $, `, \\ and " are special, and
    all of them are escaped but the $ of a plain variable. A leading ~/ becomes "$HOME"/, as a person means it.
    """
    if text.startswith("~/"):
        text = "$HOME" + text[1:]
    if not PLAIN_VARIABLE.search(text):
        return shlex.quote(text)
    parts, end = [], 0
    for match in PLAIN_VARIABLE.finditer(text):
        parts += [escaped(text[end : match.start()]), match[0]]
        end = match.end()
    return '"' + "".join(parts) + escaped(text[end:]) + '"'


def escaped(text: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", text)


def variable_value(variable: Variable) -> str:
    """A variable's value as a word; shell text of the facts (expand) goes into double quotes as it is."""
    return f'"{variable.value}"' if variable.expand else shell_word(variable.value)
