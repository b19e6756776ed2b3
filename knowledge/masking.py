"""The one place where private text gets another name before it leaves the process.

mask() finds credentials and what names a person (users, mail, telephones, inner addresses) and puts a named placeholder
for each, the same one wherever the same thing stands: <USER_1>, <HOST_2>. What an answer needs stays: accounts, nodes,
queues, folders but a person's own, commits and checksums. The tables are in masking_keys.py, masking_names.py and
masking_paths.py, what is never a secret in masking_public.py, the numbers in masking_table.py.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import re2

from knowledge.masking_form import line_end, plain_forms
from knowledge.masking_keys import CREDENTIALS
from knowledge.masking_makers import IN_ADDRESSES, PRIVATE_KEY
from knowledge.masking_names import COMMON, PERSONAL, columns, is_ordinary, names_nobody
from knowledge.masking_paths import private_folders
from knowledge.masking_public import with_word_before, without_public
from knowledge.masking_rule import MaskingRule
from knowledge.masking_table import HIDDEN, NEVER_BACK, PLACEHOLDER, Masked, NameTable, put_back

# Kinds of names, the one that a name is called by first where it is found as several.
RANKS = ("USER", "HOST")
# Names found once are looked for everywhere in the text.
MOST_LEARNED = 400
# What is hidden wherever it stands, once it was told to be a key: letters and digits or signs, and long enough.
UNMISTAKABLE, MOST_ALIKE, MOST_COPIED = re.compile(r"(?=.*[A-Za-z])(?=.*[\d!#$%&*+?@^~])[^\s/.]{8,200}"), 5, 100
JOINED = re.compile(r"[\w-]|\.\w")
# What a name gives its value by: `password: "`, `KEY=`.
VALUE_OF, MOST_BEFORE = re.compile(r"[:=]\s*[\"'`]*\Z"), 40
WORD = re.compile(r"[^\W_][\w-]*(?:\.[\w-]+)*")
# A line that was wrapped is at least so wide; what goes on has letters and digits.
NARROWEST, SHORTEST_WRAPPED, MOST_WRAPPED = 40, 10, 20
WRAP = re.compile(r"(?: ?\\)?\r?\n[ \t]*(?:>[ \t]?)*")
WRAPPED = re.compile(
    r"(?=[\w.+/-]*(?:\d|[a-z][A-Z]\w*[a-z][A-Z]))(?=[\w.+/-]*[A-Za-z])[\w.+/-]{4,}={0,2}(?=\s|$|[\"',;])"
)
# No key goes on so: a name in capitals, a host, an option.
BEGINS_ANEW = re.compile(r"[A-Z]+_[A-Z_]+|[a-z]+[-_.][\w.-]*|\d{4}-\d\d-\d\d|[-.].*|[a-z]+\d{1,3}")
# Characters of a line that are looked at together, and how many of them again with those that follow: longer than any
# rule reaches from a name to its value.
WINDOW, OVERLAP = 8192, 1024
# Different lines of a text whose values are kept while it is read.
MOST_SAME = 4096
ENDS_VALUE = re.compile(r"[\s\"'`,;]")
# What begins a block of lines that is secret as a whole.
BLOCKS = ("-----BEGIN ", "Private-Lines", "$ANSIBLE_VAULT")
CLOSING, OPENING = ")]}.,;:", "([{"
Rules = tuple[MaskingRule, ...]
Span = tuple[int, int, str]


# Characters before a word by which a model's own sentence is known again.
CONTEXT = 12


@dataclass(slots=True)
class Masker:
    """Masks several texts of one exchange alike. known: names that need no finding, such as a ticket's persons.

    public: whether a value of that kind is nobody's, whatever stands beside it (a key comes with the word before it):
    queues, machines, what our own pages hold. coined: what models wrote that were sent masked texts: they have seen no
    key, so what stands there is none. ours: rows of our own facts, in which nothing is private but what another text
    tells to be. seen: names in small letters with their kinds, which are looked for in
    every text.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    public: Callable[[str, str], bool] = lambda value, kind: False
    coined: tuple[str, ...] = ()
    ours: frozenset[str] = frozenset()
    table: NameTable = field(default_factory=NameTable)
    seen: dict[str, str] = field(default_factory=dict)
    looked: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._learn(self.known.items(), certain=True)

    def learn(self, text: str, within: str | None = None) -> None:
        """Find the names of a text, so that every other text of the exchange is masked by them, too. within: only those
        that stand there."""
        found = ((text[start:end], kind) for start, end, kind in self._private(text))
        told = None if within is None else within.lower()
        self._learn((value, kind) for value, kind in found if told is None or value.lower() in told)

    def mask(self, text: str, own: bool = False) -> Masked:
        """The text with placeholders. Linear in the text's length for any text. own: it is a model's own, which knows
        no names but those that other texts told."""
        if not own:
            self.learn(text)
        told = {value.lower() for value in self.table.names.values()} if own else set()
        spans = Spans()
        for start, end, kind in self._private(text):
            if not own or text[start:end].lower() in told:
                spans.add(start, end, kind)
        persons = {name: kind for name, kind in self.known.items() if kind not in RANKS}
        for word in WORD.finditer(text) if persons else ():  # as they are written: Mark is no mark
            if word[0] in persons:
                spans.add(*word.span(), persons[word[0]])
        for start, end, kind in again(text, self.seen):
            if not self.public(text[start:end], kind) and not names_nobody(text, start, end):
                spans.add(start, end, kind)
        taken = {name.upper() for name in PLACEHOLDER.findall(text)} - set(self.table.names)
        parts, last = [], 0
        for start, end, kind in spans:
            parts += [text[last:start], f"<{self.table.placeholder(kind, text[start:end], taken)}>"]
            last = end
        return Masked("".join([*parts, text[last:]]), dict(self.table.names))

    def is_coined(self, text: str, start: int, end: int) -> bool:
        """Whether a part of a text stands in a model's own words to the letter, and is no value behind a name, no plain
        word and no bare number, which may be a password by chance."""
        value, before = text[start:end], text[max(0, start - CONTEXT) : end]
        if start >= CONTEXT and any(before in told for told in self.coined):
            return True  # its own sentence, word for word
        plain = value.isdigit() or (value.isalpha() and value[1:] == value[1:].lower())
        if plain or VALUE_OF.search(text, max(0, start - MOST_BEFORE), start):
            return False
        holding = [told for told in self.coined if value in told]  # a value may be long: no pattern is made for nothing
        return bool(holding) and any(map(re.compile(rf"(?<!\w){re.escape(value)}(?!\w)").search, holding))

    def is_ours(self, text: str, start: int, end: int) -> bool:
        """Whether a part of a text stands in a row of our own facts."""
        if not self.ours:
            return False
        stop = text.find("\n", end)
        return text[text.rfind("\n", 0, start) + 1 : stop if stop >= 0 else len(text)].strip() in self.ours

    def is_known(self, name: str) -> bool:
        """Whether a model wrote a name itself, which nobody had told it: it was sent none but by placeholders."""
        holding = [one for one in self.coined if name in one]
        if not holding or name in self.known or name in self.table.names.values():
            return False
        return any(map(re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])").search, holding))

    def go_on(self, names: Iterable[tuple[str, str]]) -> Masker:
        """Keep the placeholders (name, value) of an earlier exchange: the same thing is called the same again."""
        self.table.keep(names)
        self._learn((value, name.upper().rpartition("_")[0]) for name, value in self.table.names.items())
        return self

    def restore(self, text: str) -> str:
        """The text with the names put back."""
        return put_back(text, self.table.names)

    def kept(self) -> dict[str, str]:
        """The placeholders for a later exchange; no credential is among them."""
        return {name: value for name, value in self.table.names.items() if not name.upper().startswith(NEVER_BACK)}

    def _private(self, text: str) -> tuple[Span, ...]:
        """The private parts of a text as it stands by itself; looked for once."""
        if text not in self.looked:
            spans = Spans()
            for start, end, kind in found(text):
                named = kind in RANKS and names_nobody(text, start, end)
                # A key is nobody's only where it stands so in our pages, with the word before it.
                told = with_word_before(text, start, end) if kind == "KEY" else text[start:end]
                coined = self.is_coined(text, start, end) if kind == "KEY" else self.is_known(text[start:end])
                if not (named or coined or self.public(told, kind) or self.is_ours(text, start, end)):
                    spans.add(start, end, kind)
            self.looked[text] = tuple(spans)
        return self.looked[text]

    def _learn(self, values: Iterable[tuple[str, str]], certain: bool = False) -> None:
        for value, kind in learned(values, certain):
            before = self.seen.get(value, "")
            if len(self.seen) < MOST_LEARNED and (not before or RANKS.index(kind) < RANKS.index(before)):
                self.seen[value] = kind


def mask(text: str, known: Mapping[str, str] | None = None) -> Masked:
    """One text masked. known: value -> kind (USER, ACCOUNT, HOST ...) of names that the caller has."""
    return Masker(known or {}).mask(text)


def hide(text: str) -> str:
    """The text with credentials replaced by <hidden>, for what is shown to the person it belongs to."""
    spans = Spans()
    for span in credentials(text):
        if span[2] != "USER":  # a login: it is theirs
            spans.add(*span)
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
    yield from credentials(text)
    yield from ((start, end, "USER") for start, end in private_folders(text))
    yield from by_rules(text, PERSONAL)
    yield from columns(text)


def credentials(text: str) -> Iterator[Span]:
    """Every credential, and the same again where it stands without a word that tells of it."""
    spans = [*by_form_or_word(text)]
    yield from spans
    yield from copies(text, {text[start:end] for start, end, kind in spans if kind == "KEY"})


def copies(text: str, values: Iterable[str]) -> Iterator[Span]:
    """Where else these values stand, as words of their own: those that are no plain word and no number."""
    unmistakable = sorted(one for one in values if UNMISTAKABLE.fullmatch(one) and len(set(one)) > MOST_ALIKE)
    for value in unmistakable[:MOST_COPIED]:
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            if not (JOINED.match(text[at - 1 : at]) or JOINED.match(text, end)):  # `train2024.sh` is no `train2024`
                yield at, end, "KEY"
            at = text.find(value, end)


def by_form_or_word(text: str) -> Iterator[Span]:
    """What a form or a word tells to be one. Lines with colours, escapes and the like are read in their plain form; the
    whole of what is found there, as it stands."""
    passages = []
    for begin, end, plain in plain_forms(text):
        passages.append((begin, end))
        for start, stop, kind in by_rules(plain.text, CREDENTIALS):
            first, last = plain.original(start, stop)
            yield grown(text, (begin + first, begin + last, kind))
    yield from (grown(text, span) for span in by_rules(text, CREDENTIALS, passages))
    yield from by_rules(text, IN_ADDRESSES if passages else ())  # where a decoded sign would end the password


def grown(text: str, span: Span) -> Span:
    """A key that fills its line to the end goes on where the next lines begin with more of it: a wrapped paste."""
    start, end, kind = span
    line = text.rfind("\n", 0, start) + 1
    for _ in range(MOST_WRAPPED):
        wrapped = WRAP.match(text, end)
        plain = wrapped and not ("\\" in (wrapped[0][0], text[end - 1]) or ">" in wrapped[0])
        broken = wrapped and (not plain or (end - line >= NARROWEST and end - start >= SHORTEST_WRAPPED))
        rest = WRAPPED.match(text, wrapped.end()) if wrapped and broken else None
        if not wrapped or not rest or (plain and BEGINS_ANEW.fullmatch(rest[0])):
            break
        line, end = wrapped.end(), rest.end()
    return start, end, kind


def by_rules(text: str, rules: Rules, without: Sequence[tuple[int, int]] = ()) -> Iterator[Span]:
    """What these rules find, line by line; RE2 tells which rules a line is worth. without: passages that are left out
    but for what goes over many lines."""
    blocks = rules is CREDENTIALS and any(sign in text for sign in BLOCKS)
    for match in PRIVATE_KEY.finditer(text) if blocks else ():
        yield match.start(), match.end(), "KEY"
    spans: list[tuple[int, int, int]] = []
    told: dict[int, list[tuple[int, int]]] = {}
    cuts: dict[int, int] = {}
    same: dict[str, tuple[list[tuple[int, int, int]], list[int]]] = {}  # logs say the same again and again
    for start, end in lines(text, without):
        for begin, stop in windows(start, end) if end - start > WINDOW else ((start, end),):
            part = text[begin:stop]
            if part not in same:
                if len(same) == MOST_SAME:
                    same.clear()
                same[part] = in_line(part, rules)
            alone, wide = same[part]
            if stop < end:
                cuts[stop] = end
            spans += [(number, begin + one, begin + other) for number, one, other in alone]
            for number in wide:
                if rules[number].finds:
                    told.setdefault(number, []).append((begin, stop))
                elif stop == end:
                    spans += [(number, *value) for value in below_line(rules[number], text, begin, stop)]
    for number, parts in told.items():
        if finds := rules[number].finds:
            spans += [(number, *value) for value in finds(text, parts)]
    if cuts:
        spans = [(number, one, value_end(text, other, cuts.get(other, other))) for number, one, other in spans]
    yield from without_public(text, [(start, end, rules[number].kind) for number, start, end in sorted(spans)])


def lines(text: str, without: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The lines of a text that hold anything (from, to), but those of some passages, which are in order."""
    start, passages = 0, [*(one for one in without if one[1] > one[0]), (len(text) + 1, len(text) + 1)]
    number = 0
    while start < len(text):
        end = line_end(text, start)
        while passages[number][1] <= start:
            number += 1
        if start < end and start < passages[number][0]:
            yield start, end
        start = end + 1


def in_line(part: str, rules: Rules) -> tuple[list[tuple[int, int, int]], list[int]]:
    """What rules that look no further find in a part of a line (rule, from, to), and the rules that look further."""
    numbers = looked_for(rules).Match(part.encode("utf-8", "replace")) or ()
    alone = [(one, *value) for one in numbers if not rules[one].wide for value in values(rules[one], part)]
    return alone, [number for number in numbers if rules[number].wide]


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
    for one, other in values(rule, text[begin:last]):
        yield begin + one, begin + other


def values(rule: MaskingRule, part: str) -> Iterator[tuple[int, int]]:
    """Where in a part of a text the values are that a rule finds."""
    for match in rule.pattern.finditer(part):
        group = "w" if "w" in match.re.groupindex and match["w"] is not None else "v"
        begin, end = match.span(group)
        if rule.kind == "KEY" and group == "v":
            end = unclosed(part, begin, end)
        if rule.holds is None or rule.holds(part[begin:end]):
            yield begin, end


def unclosed(part: str, begin: int, end: int) -> int:
    """The end of a bare value without the brackets and signs that close what stands around it."""
    # Looked for once and not at each sign: a line may end in a million of them.
    if part.endswith("...", begin, end):
        return end
    own = [closes for closes, opens in zip(CLOSING, OPENING, strict=False) if part.find(opens, begin, end) >= 0]
    while end - begin > 1 and part[end - 1] in CLOSING and part[end - 1] not in own:
        end -= 1
    return end


@cache
def looked_for(rules: Rules) -> re2.Filter:
    """The loose patterns of these rules in one."""
    options, together = re2.Options(), re2.Filter()
    options.case_sensitive = False
    for rule in rules:
        together.Add(rule.looks, options)
    together.Compile()
    return together


def learned(values: Iterable[tuple[str, str]], certain: bool = False) -> Iterator[tuple[str, str]]:
    """Of the values with their kinds, names worth looking for elsewhere, in small letters; no common word."""
    for value, kind in values:
        plain = value.lower()
        named = kind in RANKS and len(value) > 2 and plain not in COMMON
        if named and (certain or kind == "HOST" or any(map(str.isdigit, value)) or not is_ordinary(plain)):
            yield plain, kind


def again(text: str, names: Mapping[str, str]) -> Iterator[Span]:
    """The same names wherever they stand, parted from others by signs."""
    plain = text.lower()
    if len(plain) != len(text):  # a few letters have small forms of two characters
        plain = "".join(one.lower() if len(one.lower()) == 1 else one for one in text)
    for name in sorted(names, key=len, reverse=True):
        at = plain.find(name)
        while at >= 0:
            end = at + len(name)
            if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                yield at, end, names[name]
            at = plain.find(name, end)
