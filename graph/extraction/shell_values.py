"""Values of shell variables, and how they appear where they are used."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field

from graph.extraction.amounts import LOOP
from graph.extraction.shell_words import Field, Piece, is_computed, is_known, literal, plain


@dataclass(frozen=True, slots=True)
class Scalar:
    field: Field


@dataclass(frozen=True, slots=True)
class Array:
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class AssociativeArray:
    """An associative array."""

    entries: tuple[tuple[str, Field], ...]


@dataclass(frozen=True, slots=True)
class BranchValue:
    """A value that depends on a branch not decided by the text, or on the turn of a loop."""

    options: tuple[Field, ...]
    loop: bool = False


Value = Scalar | Array | AssociativeArray | BranchValue


@dataclass(slots=True)
class FieldBuilder:
    """Puts pieces together into fields, splitting unquoted values at blanks."""

    finished: list[Field] = field(default_factory=list)
    current: list[Piece] = field(default_factory=list)
    started: bool = False

    def text(self, text: str, quoted: bool) -> None:
        self.current.append(Piece(text, quoted=quoted))
        self.started = True

    def close(self) -> None:
        if self.started:
            self.finished.append(tuple(p for p in self.current if p.text) or literal("", True))
        self.current, self.started = [], False

    def fields(self, made: list[Field], quoted: bool) -> None:
        for number, one in enumerate(made):
            if number:
                self.close()
            if quoted:
                self.current += one
                self.started = True
            else:
                self.split(one)

    def split(self, one: Field) -> None:
        for piece in one:
            if piece.open:
                self.current.append(piece)
                self.started = True
                continue
            for part in re.split(r"(\s+)", piece.text):
                if part.isspace():
                    self.close()
                elif part:
                    self.current.append(Piece(part))
                    self.started = True

    def done(self) -> list[Field]:
        self.close()
        return self.finished


def field_amount(one: Field) -> str:
    """The number in a field as arithmetic over facts; empty where it is none."""
    if all(not p.open for p in one):
        text = "".join(p.text for p in one).strip()
        return text if re.fullmatch(r"\d+", text) else ""
    if len(one) == 1 and one[0].amount:
        return f"({one[0].amount})"
    return ""


def chosen(value: BranchValue, as_written: Piece) -> Field:
    """A value with several possibilities: the last where it is a piece of a command, else the name as written.

    A loop over numbers counts as its largest: that is what the job must hold.
    """
    texts = [plain(f) for f in value.options]
    if value.loop:
        numbers = [int(t) for t in texts if t.isdigit()]
        amount = f"{max(numbers)}+{LOOP}" if len(numbers) == len(texts) and numbers else ""
        return (Piece(as_written.text, True, as_written.quoted, amount),)
    if worked_out := next((field_amount(f) for f in value.options if is_computed(f)), ""):
        return (Piece(as_written.text, True, as_written.quoted, worked_out),)
    known = [f for f in value.options if is_known(f) and f]
    if len(known) == 1 and len(value.options) > 1:
        return known[0]
    if any(re.search(r"\S\s+\S", t) for t in texts):
        return next(f for f in reversed(value.options) if f)
    return (as_written,)


def edited(text: str, sign: str, word: str) -> Field:
    """The text after prefix or suffix removal, replacement, a slice or a change of case."""
    if sign in ("#", "##", "%", "%%"):
        return literal(trimmed(text, sign, word))
    if sign in ("/", "//"):
        old, _, new = word.partition("/")
        return literal(text.replace(old, new, -1 if sign == "//" else 1) if old else text)
    if sign in (",,", ","):
        return literal(text.lower())
    if sign in ("^^", "^"):
        return literal(text.upper())
    start, _, count = word.strip().partition(":")
    if not re.fullmatch(r"-?\d+", start.strip()) or (count and not count.strip().isdigit()):
        return literal(text)
    cut = text[int(start) :]
    return literal(cut[: int(count)] if count else cut)


def trimmed(text: str, sign: str, pattern: str) -> str:
    prefix, longest = sign[0] == "#", len(sign) == 2
    ends = range(len(text) + 1)
    for end in reversed(ends) if prefix == longest else ends:
        part = text[:end] if prefix else text[end:]
        if fnmatch.fnmatchcase(part, pattern):
            return text[end:] if prefix else text[:end]
    return text
