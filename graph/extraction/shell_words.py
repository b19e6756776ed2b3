"""Shell words as pieces: what is known for certain, and what only the run will tell.

A word such as `ds_${SLURM_JOB_ID}.json` becomes known pieces and an open one. Nothing is guessed: what cannot be
known keeps the text that stands in the script, so that it can be written back to the letter.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

AtomKind = Literal["text", "parameter", "command", "arithmetic"]
# What stands after a dollar sign without braces: a name, one digit, or a special parameter.
BARE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
# To the next character that means something to the shell.
PLAIN_RUN = re.compile(r"[^\\'\"$`]*")
ANSI_END = re.compile(r"(?<!\\)'")
CLOSERS = {"(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word. open: expanded at run time, text is then shell source. quoted: it does not split at blanks.

    amount is arithmetic over scheduler facts (`SLURM_NNODES*4`) where the open piece stands for a number.
    """

    text: str
    open: bool = False
    quoted: bool = False
    amount: str = ""


Field = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """What a lexer sees in a word: plain text, or an expansion with its inner text and its text as written."""

    kind: AtomKind
    text: str
    quoted: bool
    written: str = ""


def literal(text: str, quoted: bool = False) -> Field:
    return (Piece(text, quoted=quoted),)


def plain(field: Field, instead: str | None = None) -> str:
    """The word as one string; open pieces keep their shell text, or stand as `instead`."""
    if len(field) == 1 and not (field[0].open and instead is not None):
        return field[0].text
    return "".join(instead if piece.open and instead is not None else piece.text for piece in field)


def is_known(field: Field) -> bool:
    return not any(piece.open for piece in field)


def is_computed(field: Field) -> bool:
    """Whether a part of it comes out of a command, of arithmetic or of the script's own arguments."""
    return any(
        piece.open and (piece.text.startswith(("$(", "`")) or re.match(r"\$\{?[0-9@*#]|\$\{\w+\[", piece.text))
        for piece in field
    )


def to_shell(field: Field) -> str:
    """The word quoted for a shell: known text safely quoted, open pieces as they were written."""
    out: list[str] = []
    known = ""
    for piece in (*field, Piece("", True)):
        if not piece.open:
            known += piece.text
            continue
        if known:
            out.append(known if re.fullmatch(r"[\w@%+=:,./{}\[\]^-]+", known) else shlex.quote(known))
        out.append(f'"{piece.text}"' if piece.quoted else piece.text)
        known = ""
    return "".join(out) or "''"


def closing(text: str, at: int) -> int:
    """The index behind the bracket that closes the one at `at`, quotes and nesting minded; the end if none does."""
    stack = [CLOSERS[text[at]]]
    i = at + 1
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 1
        elif char == "'" and stack[-1] == ")":
            i = max(text.find("'", i + 1), i)
        elif char == stack[-1]:
            stack.pop()
            if not stack:
                return i + 1
        elif char in "({" and (char == "(" or text[i - 1] == "$"):
            stack.append(CLOSERS[char])
        i += 1
    return len(text)


def backtick_end(text: str, at: int) -> int:
    i = at + 1
    while i < len(text) and text[i] != "`":
        i += 2 if text[i] == "\\" else 1
    return min(i + 1, len(text))


def expansion(text: str, at: int, quoted: bool) -> tuple[Atom | None, int]:
    """The expansion that starts at `at` (a dollar sign or a backtick) and the index behind it."""
    if text[at] == "`":
        end = backtick_end(text, at)
        return Atom("command", text[at + 1 : end - 1].replace("\\`", "`"), quoted, text[at:end]), end
    if text.startswith("$((", at):
        end = closing(text, at + 1)
        if text[end - 2 : end] == "))":
            return Atom("arithmetic", text[at + 3 : end - 2], quoted, text[at:end]), end
    if text.startswith("$(", at):
        end = closing(text, at + 1)
        return Atom("command", text[at + 2 : end - 1], quoted, text[at:end]), end
    if text.startswith("${", at):
        end = closing(text, at + 1)
        return Atom("parameter", text[at + 2 : end - 1], quoted, text[at:end]), end
    bare = BARE.match(text, at)
    if bare:
        return Atom("parameter", bare[1], quoted, bare[0]), bare.end()
    return None, at


def ansi_text(text: str) -> str:
    """The text of $'...': only the escapes that people use in scripts."""
    for escape, char in (("\\n", "\n"), ("\\t", "\t"), ("\\'", "'"), ("\\\\", "\\")):
        text = text.replace(escape, char)
    return text


def atoms(text: str, heredoc: bool = False) -> Iterator[Atom]:
    """The parts of a word (or of a heredoc's body, where quotes mean nothing). Double quotes leave an empty text."""
    quoted, i = heredoc, 0
    while i < len(text):
        char = text[i]
        if char == "\\" and i + 1 < len(text):
            yield escaped(text[i + 1], quoted, heredoc)
            i += 2
            continue
        if char == '"' and not heredoc:
            yield Atom("text", "", True)
            quoted, i = not quoted, i + 1
            continue
        if not quoted and (char == "'" or text.startswith("$'", i)):
            inner, i = single_quoted(text, i)
            yield Atom("text", inner, True)
            continue
        atom, end = expansion(text, i, quoted) if char in "$`" else (None, i)
        if atom is None:
            end = PLAIN_RUN.match(text, i + 1).end()  # type: ignore[union-attr]
            atom = Atom("text", text[i:end], quoted)
        yield atom
        i = end


def escaped(char: str, quoted: bool, heredoc: bool) -> Atom:
    """The text of a backslash and a character; a backslash before a line end is nothing."""
    if char == "\n":
        return Atom("text", "", False)
    special = "$`\\" if heredoc else '$`"\\'
    return Atom("text", char if not quoted or char in special else f"\\{char}", True)


def single_quoted(text: str, at: int) -> tuple[str, int]:
    """The text between single quotes (or of $'...') and the index behind them; to the end where none closes."""
    if text[at] == "$":
        closing_quote = ANSI_END.search(text, at + 2)
        stop = closing_quote.start() if closing_quote else len(text)
        return ansi_text(text[at + 2 : stop]), stop + 1
    stop = text.find("'", at + 1)
    stop = len(text) if stop < 0 else stop
    return text[at + 1 : stop], stop + 1


def split_words(text: str) -> list[str]:
    """Raw words of a line of shell text: split at blanks outside quotes and brackets, comments left in."""
    words, i, start = [], 0, -1
    while i < len(text):
        char = text[i]
        if char.isspace():
            if start >= 0:
                words.append(text[start:i])
            start, i = -1, i + 1
            continue
        start = i if start < 0 else start
        if char == "\\":
            i += 2
        elif char == "'":
            i = text.find("'", i + 1) + 1 or len(text)
        elif char == '"':
            i = double_quote_end(text, i)
        elif char == "`" or (char == "$" and text[i + 1 : i + 2] in ("(", "{")):
            i = expansion(text, i, False)[1]
        else:
            i += 1
    if start >= 0:
        words.append(text[start:])
    return words


def double_quote_end(text: str, at: int) -> int:
    i = at + 1
    while i < len(text) and text[i] != '"':
        if text[i] == "\\":
            i += 2
        elif text[i] == "`" or (text[i] == "$" and text[i + 1 : i + 2] in ("(", "{")):
            i = expansion(text, i, True)[1]
        else:
            i += 1
    return min(i + 1, len(text))


def join_fields(fields: list[Field]) -> Field:
    """Several words as one text, a blank between them."""
    pieces: list[Piece] = []
    for number, one in enumerate(fields):
        pieces += ([Piece(" ")] if number else []) + list(one)
    return tuple(pieces)
