"""The one place where private text gets another name before it leaves the process.

mask() finds credentials and personal names (accounts, users, hosts, addresses, folders) and puts a named placeholder
for each, the same one wherever the same thing stands: <USER_1>, <HOST_2>. What is public stays: modules, queues,
clusters, library folders, job ids. The tables are in masking_keys.py, masking_names.py, masking_outside.py and
masking_paths.py.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import re2

from knowledge.masking_keys import CREDENTIALS, PRIVATE_KEY
from knowledge.masking_names import COMMON, PERSONAL
from knowledge.masking_outside import OUTSIDE, columns
from knowledge.masking_paths import owner, private_folders

HIDDEN = "<hidden>"
# What is never put back: an answer need not repeat a key to be useful.
NEVER_BACK = "KEY"
PLACEHOLDER = re.compile(r"<?\b([A-Z]{2,8}_\d{1,5})\b>?")
# Names found once are looked for everywhere in the text; a list of nodes may hold many.
MOST_LEARNED = 400
DIGIT = re.compile(r"\d")
WORD = re.compile(r"[^\W_][\w-]*(?:\.[\w-]+)*")
RULES = (*CREDENTIALS, *PERSONAL, *OUTSIDE)
Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text fit to leave the process, and what its placeholders (without brackets) stand for."""

    text: str
    names: Mapping[str, str]

    def restore(self, text: str) -> str:
        """The text with the names put back; a credential becomes <hidden>."""

        def back(found: re.Match[str]) -> str:
            name = found[1]
            if name not in self.names:
                return found[0]
            return HIDDEN if name.startswith(NEVER_BACK) else self.names[name]

        return PLACEHOLDER.sub(back, text)


@dataclass(slots=True)
class Masker:
    """Masks several texts of one exchange alike. known: names that need no finding, such as the request's account."""

    known: Mapping[str, str] = field(default_factory=dict)
    placeholders: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)

    def mask(self, text: str) -> Masked:
        """The text with placeholders. Linear in the text's length for any text."""
        spans = Spans()
        for start, end, kind in found(text):
            spans.add(start, end, kind)
        for start, end, kind in again(text, {**learned(text, spans), **self.known}):
            spans.add(start, end, kind)
        taken = set(PLACEHOLDER.findall(text)) - set(self.names)
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], f"<{self._name(kind, text[start:end], taken)}>"]
            last = end
        return Masked("".join([*parts, text[last:]]), dict(self.names))

    def _name(self, kind: str, value: str, taken: set[str]) -> str:
        """The placeholder of a value: a new number, and none that the text itself holds."""
        if (kind, value) not in self.placeholders:
            self.numbers[kind] += 1
            while f"{kind}_{self.numbers[kind]}" in taken:
                self.numbers[kind] += 1
            name = f"{kind}_{self.numbers[kind]}"
            self.placeholders[kind, value], self.names[name] = name, value
        return self.placeholders[kind, value]


def mask(text: str, known: Mapping[str, str] | None = None) -> Masked:
    """One text masked. known: value -> kind (USER, ACCOUNT, HOST ...) of names that the caller has."""
    return Masker(known or {}).mask(text)


def hide(text: str) -> str:
    """The text with credentials replaced by <hidden>, for what is shown to the person it belongs to."""
    spans = Spans()
    for start, end, kind in by_rules(text, len(CREDENTIALS)):
        spans.add(start, end, kind)
    parts, last = [], 0
    for start, end, _ in spans:
        parts += [text[last:start], HIDDEN]
        last = end
    return "".join([*parts, text[last:]])


class Spans:
    """Parts of a text, none overlapping: what comes first stays, later ones get what is left of them."""

    def __init__(self) -> None:
        self._all: list[Span] = []

    def __iter__(self) -> Iterator[Span]:
        return iter(self._all)

    def add(self, start: int, end: int, kind: str) -> None:
        at = bisect_right(self._all, (start, 1 << 60, ""))
        before = self._all[at - 1] if at else None
        if before and before[1] > start:
            start = before[1]
        while start < end:
            following = self._all[at] if at < len(self._all) else None
            stop = min(end, following[0]) if following else end
            if stop > start:
                insort(self._all, (start, stop, kind))
                at += 1
            if following is None:
                return
            start, at = max(stop, following[1]), at + 1


def found(text: str) -> Iterator[Span]:
    """Every private part: keys first, then folders, then names."""
    named = list(by_rules(text, len(RULES)))
    yield from (span for span in named if span[2] == "KEY")
    yield from ((start, end, "PATH") for start, end in private_folders(text))
    yield from (span for span in named if span[2] != "KEY")
    yield from columns(text)


def by_rules(text: str, first: int) -> Iterator[Span]:
    """What the first rules of the table find, line by line; RE2 tells which rules a line is worth."""
    for match in PRIVATE_KEY.finditer(text) if "PRIVATE KEY-----" in text else ():
        yield match.start(), match.end(), "KEY"
    spans: list[tuple[int, int, int, str]] = []
    start = 0
    for line in text.split("\n"):
        for number in looked_for().Match(line.encode("ascii", "replace").lower()) or ():
            if number < first:
                rule = RULES[number]
                for match in rule.pattern.finditer(line):
                    if rule.holds is None or rule.holds(match["v"]):
                        spans.append((number, start + match.start("v"), start + match.end("v"), rule.kind))
        start += len(line) + 1
    yield from (span[1:] for span in sorted(spans))


@cache
def looked_for() -> Any:
    """All loose patterns as one automaton."""
    together = re2.Set.SearchSet()
    for rule in RULES:
        together.Add(rule.looks)
    together.Compile()
    return together


def learned(text: str, spans: Spans) -> dict[str, str]:
    """Names worth looking for elsewhere in the text: users, accounts and hosts; never a common word."""
    names: dict[str, str] = {}
    for start, end, kind in spans:
        value = text[start:end]
        if kind == "PATH":
            kind, value = "USER", owner(value)
        if kind in ("USER", "ACCOUNT", "HOST") and len(value) > 2 and value.lower() not in COMMON:
            names[value] = kind
        if len(names) == MOST_LEARNED:
            break
    return names


def again(text: str, names: Mapping[str, str]) -> Iterator[Span]:
    """The same names wherever they stand as whole words, and hosts numbered as one that was found: h36n04, h36n05."""
    if not names:
        return
    alike = {shape(name) for name, kind in names.items() if kind == "HOST"} - {""}
    for match in WORD.finditer(text):
        if kind := names.get(match[0]):
            yield match.start(), match.end(), kind
        elif alike and shape(match[0]) in alike:
            yield match.start(), match.end(), "HOST"


def shape(name: str) -> str:
    """A host's name without its numbers' values; empty where it has too few of them to be told from another word."""
    return DIGIT.sub("0", name) if name[0].isalpha() and sum(map(str.isdigit, name)) >= 3 else ""
