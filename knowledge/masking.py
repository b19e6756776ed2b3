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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import re2

from knowledge.masking_form import line_end, plain_forms
from knowledge.masking_keys import CREDENTIALS, cells_below, values_of_rows
from knowledge.masking_makers import PRIVATE_KEY
from knowledge.masking_names import COMMON, PERSONAL
from knowledge.masking_outside import OUTSIDE, columns
from knowledge.masking_paths import owner, private_folders
from knowledge.masking_rule import MaskingRule, compiled

HIDDEN = "<hidden>"
# What is never put back: an answer need not repeat a key to be useful.
NEVER_BACK = "KEY"
PLACEHOLDER = re.compile(r"<?\b([A-Z]{2,8}_\d{1,5})\b>?")
# Names found once are looked for everywhere in the text; a list of nodes may hold many.
MOST_LEARNED = 400
DIGIT = re.compile(r"\d")
WORD = re.compile(r"[^\W_][\w-]*(?:\.[\w-]+)*")
# A line that was wrapped is at least so wide; what goes on has letters and digits.
NARROWEST = 40
WRAP = re.compile(r"(?: ?\\)?\r?\n[ \t]*")
WRAPPED = re.compile(r"(?=[\w.+/=-]*\d)(?=[\w.+/=-]*[A-Za-z])[\w.+/=-]{4,}(?=\s|$|[\"',;])")
# Bytes that the automaton of all loose patterns may take.
MOST_AUTOMATON = 64 << 20
# Characters of a line that are looked at together, and how many of them again with those that follow: longer than any
# rule reaches from a name to its value.
WINDOW, OVERLAP = 8192, 1024
# Characters below a line that asks for a value in which that is looked for.
LONGEST_BELOW = 512
# Different lines of a text whose values are kept while it is read.
MOST_SAME = 4096
ENDS_VALUE = re.compile(r"[\s\"'`,;]")
CLOSING, OPENING = ")]}.,;:", "([{"
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
    """Masks several texts of one exchange alike. known: names that need no finding, such as the request's account.

    public: whether a value of that kind is nobody's, whatever stands beside it: queues, machines, what our own pages
    hold. seen: what was found in one text, which is looked for in all later ones.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    public: Callable[[str, str], bool] = lambda value, kind: False
    placeholders: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)

    def mask(self, text: str) -> Masked:
        """The text with placeholders. Linear in the text's length for any text."""
        spans = Spans()
        for start, end, kind in found(text):
            if not self.public(text[start:end], kind):
                spans.add(start, end, kind)
        self.seen.update(learned((text[start:end], kind) for start, end, kind in spans))
        for start, end, kind in again(text, {**self.seen, **self.known}):
            if not self.public(text[start:end], kind):
                spans.add(start, end, kind)
        taken = set(PLACEHOLDER.findall(text)) - set(self.names)
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], f"<{self._name(kind, text[start:end], taken)}>"]
            last = end
        return Masked("".join([*parts, text[last:]]), dict(self.names))

    def go_on(self, names: Iterable[tuple[str, str]]) -> Masker:
        """Keep the placeholders (name, value) of an earlier exchange: the same thing is called the same again."""
        for name, value in names:
            if not PLACEHOLDER.fullmatch(name):
                continue
            kind, _, number = name.rpartition("_")
            self.placeholders[kind, value], self.names[name] = name, value
            self.numbers[kind] = max(self.numbers[kind], int(number))
        self.seen.update(learned((value, name.rpartition("_")[0]) for name, value in self.names.items()))
        return self

    def kept(self) -> dict[str, str]:
        """The placeholders for a later exchange; no credential is among them."""
        return {name: value for name, value in self.names.items() if not name.startswith(NEVER_BACK)}

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
    for start, end, kind in (*disguised(text), *by_rules(text, len(CREDENTIALS))):
        spans.add(*grown(text, (start, end, kind)))
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
    yield from disguised(text)
    yield from (grown(text, span) for span in named if span[2] == "KEY")
    yield from ((start, end, "PATH") for start, end in private_folders(text))
    yield from (span for span in named if span[2] != "KEY")
    yield from columns(text)


def disguised(text: str) -> Iterator[Span]:
    """Credentials that only show once colours, escapes and the like are taken away; the whole of each, as it stands."""
    for begin, plain in plain_forms(text):
        for start, end, kind in by_rules(plain.text, len(CREDENTIALS)):
            first, last = plain.original(start, end)
            yield begin + first, begin + last, kind


def grown(text: str, span: Span) -> Span:
    """A key that fills its line to the end goes on where the next line begins with more of it: a wrapped paste."""
    start, end, kind = span
    line = text.rfind("\n", 0, start) + 1
    wrapped = WRAP.match(text, end)
    if end - line < NARROWEST or not wrapped:
        return span
    rest = WRAPPED.match(text, wrapped.end())
    return (start, rest.end(), kind) if rest else span


def by_rules(text: str, first: int) -> Iterator[Span]:
    """What the first rules of the table find; line by line; RE2 tells which rules a line is worth."""
    for match in PRIVATE_KEY.finditer(text) if "Private-Lines" in text or "PRIVATE KEY" in text else ():
        yield match.start(), match.end(), "KEY"
    spans: list[tuple[int, int, int]] = []
    start = table = 0
    same: dict[str, tuple[list[tuple[int, int, int]], list[int]]] = {}  # logs say the same again and again
    for line in text.split("\n"):
        end = start + len(line)
        for begin, stop in windows(start, end):
            part = text[begin:stop]
            if part not in same:
                if len(same) == MOST_SAME:
                    same.clear()
                same[part] = in_line(part, first)
            alone, wide = same[part]
            for number, one, other in alone:
                cut = begin + other == stop < end
                spans.append((number, begin + one, value_end(text, stop, end) if cut else begin + other))
            for number in wide:
                rule = RULES[number]
                if rule.cells and start >= table:
                    below, table = cells_below(text, start)
                    spans += [(number, *cell) for cell in below]
                if rule.cells:
                    spans += [(number, *cell) for cell in values_of_rows(text, begin, stop)]
                elif stop == end:
                    spans += [(number, *value) for value in below_line(rule, text, begin, stop)]
        start = end + 1
    yield from ((start, end, RULES[number].kind) for number, start, end in sorted(spans))


def in_line(part: str, first: int) -> tuple[list[tuple[int, int, int]], list[int]]:
    """What rules that look no further find in a part of a line (rule, from, to), and the rules that look further."""
    numbers = looked_for(first).Match(part.encode("utf-8", "replace")) or ()
    alone = [(one, *value) for one in numbers if not RULES[one].wide for value in values(RULES[one], part)]
    return alone, [number for number in numbers if RULES[number].wide]


def windows(start: int, end: int) -> Iterator[tuple[int, int]]:
    """A line in pieces that overlap: only where a rule's loose pattern stands is its exact one tried, so that one name
    in a line of a megabyte does not make all rules walk through the whole of it.
    """
    while end - start > WINDOW:
        yield start, start + WINDOW
        start += WINDOW - OVERLAP
    yield start, end


def value_end(text: str, start: int, end: int) -> int:
    """Where a bare value ends that goes on behind its window."""
    sign = ENDS_VALUE.search(text, start, end)
    return sign.start() if sign else end


def below_line(rule: MaskingRule, text: str, begin: int, stop: int) -> Iterator[tuple[int, int]]:
    """Where the values are that a rule finds from the end of a line on, in the lines that it may reach."""
    last = stop
    for _ in range(rule.reach):
        last = line_end(text, last + 1)
    for one, other in values(rule, text[begin:last], text[last + 1 : last + LONGEST_BELOW] if rule.below else ""):
        yield begin + one, begin + other


def values(rule: MaskingRule, part: str, following: str = "") -> Iterator[tuple[int, int]]:
    """Where in a part of a text the values are that a rule finds; `following`: what stands below the part."""
    at, matches = 0, rule.pattern.finditer(part)
    if rule.below:
        found = compiled(rule.below).match(following) if rule.pattern.search(part) else None
        at, matches = len(part) + 1, iter((found,) if found else ())
    for match in matches:
        group = "w" if "w" in match.re.groupindex and match["w"] is not None else "v"
        begin, end = match.span(group)
        if rule.kind == "KEY" and group == "v":
            end = unclosed(match.string, begin, end)
        if rule.holds is None or rule.holds(match.string[begin:end]):
            yield at + begin, at + end


def unclosed(part: str, begin: int, end: int) -> int:
    """The end of a bare value without the brackets and signs that close what stands around it."""
    # Looked for once and not at each sign: a line may end in a million of them.
    own = [closes for closes, opens in zip(CLOSING, OPENING, strict=False) if part.find(opens, begin, end) >= 0]
    while end - begin > 1 and part[end - 1] in CLOSING and part[end - 1] not in own:
        end -= 1
    return end


@cache
def looked_for(first: int) -> Any:
    """The loose patterns of the first rules as one automaton."""
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = MOST_AUTOMATON
    together = re2.Set.SearchSet(options)
    for rule in RULES[:first]:
        together.Add(rule.looks)
    together.Compile()
    return together


def learned(values: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Of the values with their kinds, names worth looking for elsewhere: users, accounts, hosts; no common word."""
    names: dict[str, str] = {}
    for value, kind in values:
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
