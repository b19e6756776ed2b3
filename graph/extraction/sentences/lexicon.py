"""The meanings of words: words.yaml, made ready for looking up.

A meaning is the key that the rules see: `node`, `per`, `hour`; a number word's key is its value, `~0.5` is a length of
time in hours. Words are folded first: lower case, no accents, one kind of quote and hyphen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from knowledge.data_file import read_data

FOLDER = Path(__file__).parent
FILLER = ""
Entry = tuple[tuple[str, ...], str]

# What people call the fields of a job.
FIELD_WORDS = {
    "walltime": r"hours?|time|walltime|minutes|limit|zeit|stunden|heures?|temps|horas?|tiempo|ore|tempo",
    "nodes": r"nodes?|knoten|n[oœ]e?uds?|nodos?|nodi",
    "gpus_per_node": r"gpus?|cards?",
    "queue": r"queue|partition|qos",
    "account": r"account|project|konto|compte|cuenta",
    "strategy": r"strategy|method",
    "mail": r"e?-?mails?",
    "array": r"arrays?",
    "args": r"arg\w*",
    "environment": r"env\w*|conda|venv",
    "container": r"container|image",
    "job_name": r"name",
    "requeue": r"requeue",
    "output": r"output|logs?",
}
# A number; a word (letters with inner apostrophes, underscores, digits); a sign of a script without blanks; a mark.
IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
PIECE = re.compile(
    r"\n|-+>|=>|>>|\d{1,3},\d{3}(?!\d)|\d+(?:\.\d+)?"
    rf"|[{IDEOGRAPH}]|(?:(?![{IDEOGRAPH}])[^\W\d])(?:(?:(?![{IDEOGRAPH}])[\w'])*(?![{IDEOGRAPH}])\w)?|[^\w\s]"
)


def read_yaml(name: str) -> Any:
    """A data file beside this module."""
    return read_data(FOLDER / name)


@cache
def _words() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("words.yaml")
    return data


@cache
def _plain() -> Mapping[int, str]:
    return {ord(letter): plain for plain, letters in _words()["plain"].items() for letter in letters}


@cache
def _folding() -> Mapping[int, str]:
    table = dict(_plain())
    for code in range(0xC0, 0x250):
        base = unicodedata.normalize("NFKD", chr(code))[0]
        if base.isascii():
            table.setdefault(code, base.lower())
    return table


def fold(text: str) -> str:
    """Lower case without accents, of the same length."""
    return text.translate(_folding()).lower()


def lower(text: str) -> str:
    """Lower case with its accents, quotes and hyphens made plain, of the same length."""
    return text.replace("\u0130", "i").translate(_marks()).lower()


@cache
def _marks() -> Mapping[int, str]:
    return {code: plain for code, plain in _plain().items() if not chr(code).isalpha()}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Each table: first word -> (all words, meaning), longest first. exact: spellings with accents."""

    exact: Mapping[str, tuple[Entry, ...]]
    folded: Mapping[str, tuple[Entry, ...]]

    def match(self, exact: list[str], folded: list[str], at: int) -> tuple[str, int] | None:
        """The meaning of the longest phrase that begins at this word, and how many words it takes."""
        found = _longest(self.exact, exact, at)
        plain = _longest(self.folded, folded, at)
        return plain if plain and (not found or plain[1] > found[1]) else found

    def starts(self, word: str) -> bool:
        """Whether a phrase begins with this folded word."""
        return word in self.folded

    def knows(self, word: str) -> bool:
        """Whether a single folded word has a meaning."""
        return any(len(words) == 1 for words, _ in self.folded.get(word, ()))


def _longest(entries: Mapping[str, tuple[Entry, ...]], words: list[str], at: int) -> tuple[str, int] | None:
    for phrase, meaning in entries.get(words[at], ()):
        if tuple(words[at : at + len(phrase)]) == phrase:
            return meaning, len(phrase)
    return None


def _phrases(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for meaning, words in data["meanings"].items():
        yield from ((str(word), meaning) for word in words)
    for value, words in data["numbers"].items():
        yield from ((str(word), f"{value:g}") for word in words)
    for hours, words in data["spans"].items():
        yield from ((str(word), f"~{hours:g}") for word in words)
    yield from ((str(word), FILLER) for word in data["fillers"])
    for rule in data["compounds"]:
        for first, one in rule["first"].items():
            yield from ((first + rule["joint"] + then, f"{one + other}") for then, other in rule["then"].items())


def _table(phrases: Iterable[tuple[str, str]], plain: bool) -> Mapping[str, tuple[Entry, ...]]:
    entries: dict[str, dict[tuple[str, ...], str]] = {}
    for phrase, meaning in phrases:
        words = tuple(PIECE.findall(fold(phrase) if plain else lower(phrase)))
        entries.setdefault(words[0], {}).setdefault(words, meaning)
    return {first: tuple(sorted(found.items(), key=lambda e: -len(e[0]))) for first, found in entries.items()}


@cache
def lexicon() -> Lexicon:
    """The meanings, read once a process."""
    phrases = list(_phrases(_words()))
    accented = [entry for entry in phrases if fold(entry[0]) != lower(entry[0])]
    # A spelling without accents means what its own entry says ("no"), not what the accented one does ("nó", node).
    plain = [entry for entry in phrases if fold(entry[0]) == lower(entry[0])] + accented
    return Lexicon(_table(accented, plain=False), _table(plain, plain=True))


@cache
def number_words() -> Mapping[str, str]:
    """The number words of plain letters -> their value as a key: `four` -> "4"."""
    table = _words()["numbers"]
    return {word: f"{value:g}" for value, words in table.items() for word in words if word.isascii() and word.isalpha()}
