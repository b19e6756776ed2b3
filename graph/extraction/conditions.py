"""Decides shell conditions from the text: true, false, or None where only the run can tell.

A variable that the script never sets counts as empty: that is how the script runs when nothing is given from outside.
"""

from __future__ import annotations

import fnmatch
import operator
import re

from graph.extraction.amounts import arithmetic
from graph.extraction.expansion import GIVEN, Environment
from graph.extraction.shell_words import Field, Piece, is_known, plain, split_words

COMPARE = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-gt": operator.gt,
    "-ge": operator.ge,
    "-lt": operator.lt,
    "-le": operator.le,
}


def decide(text: str, env: Environment) -> bool | None:
    """The truth of a `[ ]`, `[[ ]]`, `test` or `(( ))` in an environment."""
    text = text.strip()
    if text.startswith("((") and text.endswith("))"):
        known = arithmetic(env.amount(text[2:-2]), {})
        return None if known is None else bool(known)
    inner = re.fullmatch(r"\[\[?\s(.*)\s\]\]?", text, re.S) or re.fullmatch(r"test\s+(.*)", text, re.S)
    return None if not inner else decide_words(split_words(inner[1]), env)


def decide_words(words: list[str], env: Environment) -> bool | None:
    """The truth of a condition given as words, `||` binding least."""
    for sign, default in (("||", True), ("-o", True), ("&&", False), ("-a", False)):
        if sign in words:
            at = words.index(sign)
            parts = [decide_words(words[:at], env), decide_words(words[at + 1 :], env)]
            return default if default in parts else (None if None in parts else not default)
    if any(w in ("(", ")") for w in words):
        return None
    if words and words[0] == "!":
        inner = decide_words(words[1:], env)
        return None if inner is None else not inner
    if len(words) == 1:
        text = settled(words[0], env)
        return None if text is None else bool(text)
    if len(words) == 2:
        return unary(words[0], words[1], env)
    return binary(words[0], words[1], " ".join(words[2:]), env) if len(words) >= 3 else None


def unary(sign: str, word: str, env: Environment) -> bool | None:
    if sign not in ("-z", "-n"):
        return None
    text = settled(word, env)
    if text is not None:
        return (text == "") is (sign == "-z")
    field = env.expand_whole(word)
    if len(field) == 1 and GIVEN.fullmatch(field[0].text.strip("${}")):
        return sign == "-n"
    return None


def binary(left: str, sign: str, right: str, env: Environment) -> bool | None:
    """A comparison of two words; None for what only the run can compare."""
    if sign in ("=~", "<", ">", "-nt", "-ot", "-ef"):
        return None
    a, b = settled(left, env), settled(right, env)
    if a is None or b is None:
        return None
    if sign in COMPARE:
        left_number, right_number = arithmetic(a or "0", {}), arithmetic(b or "0", {})  # [[ ]] takes empty as zero
        if left_number is None or right_number is None:
            return None
        return bool(COMPARE[sign](left_number, right_number))
    if sign in ("=", "==", "!="):
        return fnmatch.fnmatchcase(a, b) is (sign != "!=")
    return None


def settled(word: str, env: Environment) -> str | None:
    """The text of a word with unset variables as empty; None where the run decides it."""
    field = env.resolved().expand_whole(word)
    return None if any(not is_unset(piece, env) for piece in field if piece.open) else plain(tuple(closed(field)))


def is_unset(piece: Piece, env: Environment) -> bool:
    name = re.fullmatch(r"\$\{?([A-Za-z_]\w*)(?::?[-+][^}]*)?\}?", piece.text)
    return bool(name) and name is not None and name[1] not in env.values and not GIVEN.fullmatch(name[1])


def closed(field: Field) -> list[Piece]:
    return [piece for piece in field if not piece.open]


def matches(subject: Field, patterns: list[str], env: Environment) -> bool | None:
    """Whether a case's subject fits one of the patterns; None where it is not known."""
    if not is_known(subject):
        return None
    text = plain(subject)
    return any(fnmatch.fnmatchcase(text, plain(env.expand_whole(p))) for p in patterns)
