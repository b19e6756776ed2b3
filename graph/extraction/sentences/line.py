"""A text as the rules see it: a row of meanings, each with the place in the text that it came from.

What the readers of names found (a machine, a model, a file) stands in the row as one key such as `<M>`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from rapidfuzz.distance import OSA

from graph.extraction.sentences.lexicon import FILLER, PIECE, Lexicon, fold, lexicon, lower, number_words

KEYS = {
    "machine": "<M>",
    "strategy": "<S>",
    "framework": "<F>",
    "model": "<L>",
    "entry": "<E>",
    "account": "<A>",
    "queue": "<Q>",
    "gpu": "<G>",
    "clock": "<T>",
    "option": "<O>",
    "noise": "<X>",
}
# Letters right behind a number: 2n, 4g, 30m, 12h. Alone they mean nothing.
GLUED = {
    "n": "node",
    "g": "g",
    "h": "hour",
    "m": "m",
    "d": "day",
    "s": "sec",
    "x": "x",
    "w": "week",
    "hr": "hour",
    "u": "hour",
}
UNITS = {"node": "node", "nodes": "node", "gpu": "gpu", "gpus": "gpu", "gcds": "gpu", "hours": "hour", "hour": "hour",
         "minutes": "min", "minute": "min", "mins": "min", "min": "min", "days": "day", "day": "day", "cards": "gpu",
         "tiles": "gpu", "hrs": "hour", "hr": "hour", "h": "hour"}  # fmt: skip
SKELETONS = {re.sub(r"(?<!^)[aeiou]", "", unit): key for unit, key in UNITS.items() if len(unit) > 3}
# Words of their own that look like a misspelt unit, or like a misspelt number before one.
NO_TYPOS = frozenset(
    ("times", "files", "codes", "modes", "miles", "notes", "models", "tasks", "there", "even", "dash", "tree", "size")
)
SHORT_UNIT = 4  # letters from which a unit may lack one or have a wrong one; shorter ones have them in another order
# What follows a bare number that stands for another of the same unit: `2 nodes, no, 3, please`.
BEHIND_NUMBER = frozenset(
    (*".,;!?-", "no", "oops", "but", "please", "per", "<X>", "is", "will", "should", "would", "then", "instead", "to")
)
OF_THEM = (["of", "them"], ["of", "those"], ["of", "these"])
CORRECTION_REACH = 5  # tokens from "no" or "sorry" to the number that it means
# Articles and pronouns that stick to the next word: un'ora, d'heure.
STUCK = frozenset(("un", "l", "d", "dell", "nell", "sull", "all", "dall", "qu", "c", "j", "n"))
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NEAR = 40  # blanks around a hyphen at most


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name found in the text: its kind (a key of KEYS), its value, and where it stands."""

    kind: str
    value: str
    start: int
    end: int
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Token:
    key: str
    start: int
    end: int
    spelled: bool = False
    mention: NameSpan | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """canon is the keys joined by blanks, with a blank at both ends; starts holds where each key begins in it."""

    text: str
    tokens: tuple[Token, ...]
    canon: str = ""
    starts: Sequence[int] = field(default=())

    def at(self, position: int) -> int:
        """The token at a position of canon."""
        return bisect_right(self.starts, position) - 1

    def words(self, first: int, last: int) -> str:
        """The person's own words from one token to another, both included; at most 80 characters."""
        return " ".join(self.text[self.tokens[first].start : self.tokens[last].end].split())[:80]

    def left(self, token: int) -> str:
        return self.canon[: self.starts[token]]

    def right(self, token: int) -> str:
        return self.canon[self.starts[token] + len(self.tokens[token].key) :]

    def mentions(self, kind: str) -> list[tuple[int, NameSpan]]:
        """The names of one kind, with their tokens, in the order of the text."""
        return [(i, t.mention) for i, t in enumerate(self.tokens) if t.mention and t.mention.kind == kind]


def make_line(text: str, mentions: Iterable[NameSpan]) -> Line:
    """Cut the text into tokens. mentions must not overlap."""
    tokens: list[Token] = []
    at = 0
    for mention in sorted(mentions, key=lambda m: m.start):
        tokens += _tokens(text, at, mention.start)
        tokens.append(Token(KEYS[mention.kind], mention.start, mention.end, mention=mention))
        at = mention.end
    tokens += _tokens(text, at, len(text))
    return line_of(text, _carry_units(_numbers(_typos(text, tokens))))


def line_of(text: str, tokens: Sequence[Token]) -> Line:
    starts, position = [], 1
    for token in tokens:
        starts.append(position)
        position += len(token.key) + 1
    return Line(text, tuple(tokens), " " + "".join(t.key + " " for t in tokens), starts)


def _tokens(text: str, start: int, end: int) -> list[Token]:
    spans = [span for piece in PIECE.finditer(text, start, end) for span in _split(text, *piece.span())]
    exact = [lower(text[a:b]) for a, b in spans]
    plain = [fold(word) for word in exact]
    tokens: list[Token] = []
    lex, i = lexicon(), 0
    while i < len(spans):
        key, taken = _meaning(lex, text, spans, exact, plain, i)
        if key == "-" and _between_blanks(text, *spans[i]) and not _heads_value(tokens):
            key = ","
        if key != FILLER:
            word = not exact[i][0].isdigit()
            tokens.append(Token(key, spans[i][0], spans[i + taken - 1][1], spelled=word))
        i += taken
    return tokens


def _heads_value(tokens: list[Token]) -> bool:
    """`nodes - 4`: a key before its value."""
    keys = [t.key for t in tokens[-2:]]
    return keys[-1:] in (["node"], ["gpu"], ["time"], ["rank"]) and not (len(keys) > 1 and keys[0][0].isdigit())


def _between_blanks(text: str, start: int, end: int) -> bool:
    """A hyphen that parts a list (`polaris - ddp - 4`), and not a range or a compound."""
    before, after = text[max(0, start - NEAR) : start].rstrip()[-1:], text[end : end + NEAR].lstrip()[:1]
    return (
        text[start - 1 : start].isspace()
        and text[end : end + 1].isspace()
        and not (before.isdigit() and after.isdigit())
    )


def _meaning(
    lex: Lexicon, text: str, spans: list[tuple[int, int]], exact: list[str], plain: list[str], i: int
) -> tuple[str, int]:
    word = plain[i]
    if word[0].isdigit():
        found = lex.match(exact, plain, i)
        return found if found and found[1] > 1 else (word.replace(",", "") if "," in word else word, 1)
    if i and spans[i][0] == spans[i - 1][1] and exact[i - 1][-1].isdigit() and word in GLUED:
        return GLUED[word], 1
    if word == "\n":
        return ".", 1
    return lex.match(exact, plain, i) or (word, 1)


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """gpus_per_node, x4, h30m, n2g4: words made of several."""
    word = fold(text[start:end])
    lex = lexicon()
    head, _, rest = word.partition("'")
    if rest and head in STUCK and not lex.starts(word):
        return [(start, start + len(head)), (start + len(head) + 1, end)]
    if not (word[0].isalpha() and ("_" in word or any(c.isdigit() for c in word))):
        return [(start, end)]
    if "_" in word and not lex.knows(word):
        parts = list(re.finditer(r"[^_]+", word))
        if len(parts) > 1 and all(lex.knows(p[0]) or p[0] in ("n", "max") for p in parts):
            return [(start + p.start(), start + p.end()) for p in parts if p[0] != "n"]
        return [(start, end)]
    parts = list(re.finditer(r"[a-z]+|\d+", word))
    glued = start > 0 and text[start - 1].isdigit()
    if (glued or re.fullmatch(r"x\d+|n\d+g\d+", word)) and all(
        p[0].isdigit() or p[0] in GLUED or lex.knows(p[0]) for p in parts
    ):
        return [(start + p.start(), start + p.end()) for p in parts]
    return [(start, end)]


def _typos(text: str, tokens: list[Token]) -> list[Token]:
    """A misspelt unit is mended only behind a number: `2 ndoes`; a misspelt number word only before a unit."""
    for i, token in enumerate(tokens):
        key = token.key
        if token.mention or not (key.isascii() and key.isalpha()) or key in NO_TYPOS or lexicon().knows(key):
            continue
        if i and NUMBER.fullmatch(tokens[i - 1].key) and (unit := _unit_meant(key)):
            tokens[i] = Token(unit, token.start, token.end)
        elif i + 1 < len(tokens) and (number := _number_meant(key)):
            behind = tokens[i + 1]
            if behind.key in UNITS.values() or (behind.mention is None and _unit_meant(behind.key)):
                tokens[i] = Token(number, token.start, token.end, spelled=True)
    return tokens


@cache
def _unit_meant(word: str) -> str | None:
    """The unit that a misspelt word means: one letter wrong or two changed about (two for long ones), no vowels
    (`mnts`), a letter doubled (`hh`)."""
    if not (word.isascii() and word.isalpha()) or word in NO_TYPOS or lexicon().knows(word):
        return None
    if (single := re.sub(r"(.)\1+", r"\1", word)) in UNITS or word in SKELETONS:
        return UNITS.get(single) or SKELETONS[word]
    if len(word) < SHORT_UNIT:
        return next((key for unit, key in UNITS.items() if unit[:-1] == word or _is_swapped(word, unit)), None)
    best = min(UNITS, key=lambda unit: OSA.distance(word, unit))
    near = OSA.distance(word, best) <= (1 if len(word) < 7 else 2)
    return UNITS[best] if near else next((key for unit, key in UNITS.items() if _is_swapped(word, unit)), None)


@cache
def _number_meant(word: str) -> str | None:
    """The number that a word means with two of its letters changed about, or one left out or doubled in a long one."""
    if len(word) < 3 or word in NO_TYPOS:
        return None
    for name, value in number_words().items():
        slip = len(name) > 4 and OSA.distance(word, name) == 1 and len(word) != len(name)
        if word[0] == name[0] and (slip or _is_swapped(word, name)):
            return value
    return None


def _is_swapped(word: str, name: str) -> bool:
    """Whether a word has the letters of a name in another order; all but the first, in one of five or more."""
    long = len(name) > SHORT_UNIT and word[0] == name[0]
    return sorted(word) == sorted(name) and (long or OSA.distance(word, name) == 1)


def _numbers(tokens: list[Token]) -> list[Token]:
    """Put spelled numbers together: `twenty - four`, `three hundred`, `half a dozen`, `two dozen`."""
    out: list[Token] = []
    for token in tokens:
        joined = _join(out, token) if token.spelled and NUMBER.fullmatch(token.key) else None
        if joined is None:
            out.append(token)
            continue
        value, taken = joined
        first = out[-taken]
        del out[-taken:]
        out.append(Token(f"{value:g}", first.start, token.end, spelled=True))
    return out


def _join(out: list[Token], token: Token) -> tuple[float, int] | None:
    """The number that the tokens so far and this one make, and how many tokens of `out` it takes."""
    value = float(token.key)
    keys = [t.key for t in out[-2:]]
    if value == 12 and keys[-1:] == ["half"]:
        return 6, 1
    if value == 12 and keys == ["half", "a"]:
        return 6, 2
    if keys[-1:] in (["a"], ["un"]) and value in (12, 2, 100):
        return value, 1
    back = 2 if len(out) > 1 and keys[-1] in ("-", "and") else 1
    if len(out) < back or not out[-back].spelled or not NUMBER.fullmatch(out[-back].key):
        return None
    before = float(out[-back].key)
    if before >= 20 and before % 10 == 0 and value < 10 and before % 100 != 0:
        return before + value, back
    if before >= 100 and before % 100 == 0 and value < 100:
        return before + value, back
    if before % 100 == 10 and value < 10 and back == 1:
        return before + value, back
    if value in (10, 12, 100, 1000) and before < 10 and back == 1:
        return before * value, back
    return None


def _carry_units(tokens: list[Token]) -> list[Token]:
    """`2 nodes, sorry, 3`, `2 instead of 3 nodes`: a number that goes before another has the other's unit."""
    out: list[Token] = []
    unit, thing, corrected, refused, since = "", "", False, False, 0
    for i, token in enumerate(tokens):
        out.append(token)
        if _turns(tokens, i):
            corrected, since = True, i
        elif token.key in ("node", "hour", "min", "day", "gpu", "m", "rank"):
            if len(out) > 3 and out[-3].key == "not" and NUMBER.fullmatch(out[-4].key):
                out.insert(-3, Token(token.key, out[-4].end, out[-4].end))
            of_node = token.key == "node" and i > 0 and tokens[i - 1].key in ("per", "each", "every", "/")
            if token.key == "node" and unit == "gpu" and _on_one(tokens, i):
                continue  # "6 gpus on one node": the number that is corrected is that of the GPUs
            unit, corrected, refused, since = "gpu per node" if of_node else token.key, refused, False, i
            thing = unit if token.key in ("node", "gpu", "rank") else thing
        elif NUMBER.fullmatch(token.key):
            counted = "total" in (t.key for t in tokens[max(0, i - 2) : i])
            following = [t.key for t in tokens[i + 1 : i + 3]] or ["."]
            again = corrected and i - since <= CORRECTION_REACH and following[0] in BEHIND_NUMBER
            bare = following in OF_THEM and not {"node", "gpu"} & {t.key for t in tokens[i + 3 : i + 6]}
            carried = thing if bare else unit if again else ""
            if carried and not counted:
                out.append(Token(carried, token.end, token.end))
            refused = i > 0 and tokens[i - 1].key in ("not", "no")
            corrected = False
        elif token.mention:
            corrected = False
    return out


def _on_one(tokens: list[Token], i: int) -> bool:
    """Whether `on one (delta) node` stands here: a place, and no count to be corrected."""
    keys = [t.key for t in tokens[max(0, i - 3) : i]]
    return "on" in keys and ("1" in keys or "a" in keys)


def _turns(tokens: list[Token], i: int) -> bool:
    """Whether a number behind this word replaces one before it: `no, 3`, `12 before, now 3`, `give it 3`."""
    key = tokens[i].key
    if key in ("now", "got"):
        return any(t.key == "before" for t in tokens[:i])
    return key in ("oops", "no", "or", "not", "but", "too") or (
        key == "it" and i > 0 and tokens[i - 1].key in ("write", "use")
    )
