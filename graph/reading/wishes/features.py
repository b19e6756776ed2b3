"""What the tagger of wishes sees of a token: its word and shape, its neighbours, what recognisers know, the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from graph.extraction.sentences.lexicon import fold
from graph.reading.utterance import Mention
from graph.reading.wishes.tokens import WishToken, find_tokens
from knowledge.data_file import read_data
from knowledge.word_lists import word_set

WINDOW = 3  # tokens to each side whose words are seen one by one
AROUND = 7  # tokens to each side whose words are seen together, up to a stop
STOPS = frozenset(".;!?\n")
# Words that join and point: between a value and the word that says what it is.
JOINING = word_set(
    "the a an of to is be as at on in for with my our it its and this that please = : - per from not , up down "
    "by only so der die das le la les el il des de du del zu auf für fur mit pour sur avec para con per"
)
KIND_OF_NUMBER = (1, 2, 10, 65, 513, 4096, 100_000)


@lru_cache(maxsize=4096)
def plain(word: str) -> str:
    """The word as features name it: folded, digits as one sign each."""
    return re.sub(r"\d", "#", fold(word))


@lru_cache(maxsize=4096)
def shape(word: str) -> str:
    """Its letters' case and its signs, runs as one: `a100-80` is `x#-#`."""
    signs = re.sub(r"[^\W\d_]", lambda c: "X" if c[0].isupper() else "x", word)
    return re.sub(r"(.)\1+", r"\1", re.sub(r"\d", "#", signs))[:12]


@cache
def _word_classes() -> tuple[dict[str, list[tuple[tuple[str, ...], str]]], dict[str, str]]:
    """Of classes.yaml: whole entries by their first word, the longest first, and stems, each with its class."""
    data: dict[str, list[str]] = read_data(Path(__file__).parent / "classes.yaml")
    whole, stems = dict[str, list[tuple[tuple[str, ...], str]]](), dict[str, str]()
    for name, entries in data.items():
        for entry in entries:
            words = tuple(token.text for token in find_tokens(entry.removesuffix("*")))
            if entry.endswith("*") and len(words) == 1:
                stems[words[0]] = name
            else:
                whole.setdefault(words[0], []).append((words, name))
    return {first: sorted(found, key=lambda one: -len(one[0])) for first, found in whole.items()}, stems


def _classes(tokens: Sequence[WishToken]) -> list[str]:
    """What each token says, by classes.yaml; empty where it is in no class."""
    whole, stems = _word_classes()
    words = tuple(fold(token.text) for token in tokens)
    out, i = [""] * len(words), 0
    while i < len(words):
        size, name = 1, ""
        for entry, found in whole.get(words[i], ()):
            if words[i : i + len(entry)] == entry:
                size, name = len(entry), found
                break
        if not name and tokens[i].kind in ("name", "unit", "cjk"):
            ends = range(len(words[i]), 1 if tokens[i].kind != "cjk" else 0, -1)
            name = next((stems[words[i][:n]] for n in ends if words[i][:n] in stems), "")
        out[i : i + size] = [name] * size
        i += size
    return out


def token_features(
    text: str, tokens: Sequence[WishToken], mentions: Sequence[Mention], thread: Sequence[str] = ()
) -> list[list[str]]:
    """The names of the features of each token. thread: what is known of the conversation, a word each."""
    words = [plain(token.text) for token in tokens]
    known = _known(tokens, mentions)
    glued = [i > 0 and tokens[i - 1].end == token.start for i, token in enumerate(tokens)]
    kinds = [_kind(token) for token in tokens]
    whole = [f"t:{one}" for one in thread] + [f"ends:{'?' if text.rstrip().endswith('?') else '.'}"]
    stretches = _stretches(words)
    classes = _classes(tokens)
    out = []
    for i in range(len(tokens)):
        start, end = stretches[i]
        near = _near(words, kinds, known, i)
        own = _own(tokens[i], words[i], kinds[i], known[i])
        bag = [f"b:{word}" for word in dict.fromkeys(words[max(start, i - AROUND) : min(end, i + AROUND + 1)])]
        first = [f"v:{words[start]}", f"v2:{' '.join(words[start : start + 2])}", f"at:{min(i - start, 3)}"]
        asked = [f"{one}&{kinds[i]}&{len(tokens) < 4}" for one in whole[:-1]]
        joint = f"g:{int(glued[i])}{int(i + 1 < len(tokens) and glued[i + 1])}"
        signs = [*_signposts(words, kinds, i, start, end), *_class_signs(classes, kinds, known, i, start, end)]
        out.append([*own, *near, *signs, *bag, *first, *whole, *asked, joint])
    return out


def _known(tokens: Sequence[WishToken], mentions: Sequence[Mention]) -> list[str]:
    """What the recognisers call each token; empty where they know it not."""
    out = [""] * len(tokens)
    for i, token in enumerate(tokens):
        for one in mentions:
            if one.start < token.end and token.start < one.end:
                out[i] = f"{one.kind}{'/' + one.unit if one.unit else ''}{'' if one.start >= token.start else '+'}"
                break
    return out


def _kind(token: WishToken) -> str:
    """The shape's name; of a number its size, of a file its ending."""
    if token.kind == "number":
        try:
            value = float(token.text.replace(",", ""))
        except ValueError:
            return "version"
        if not re.fullmatch(r"[\d,]+", token.text):
            return "exponent" if "e" in token.text.lower() else "decimal"
        return f"n{sum(value >= least for least in KIND_OF_NUMBER)}"
    ending = re.search(r"\.([a-zA-Z]{1,6}\d?)$", token.text) if token.kind in ("path", "name", "link") else None
    return f"{token.kind}.{ending[1].lower()}" if ending else token.kind if token.kind != "sign" else token.text


def _own(token: WishToken, word: str, kind: str, known: str) -> list[str]:
    out = ["bias", f"w:{word}", f"k:{kind}", f"s:{shape(token.text)}", f"m:{known}"]
    if token.kind in ("name", "unit", "path", "option"):
        out += [f"p:{word[:n]}" for n in (2, 3, 4, 5) if len(word) > n]
        out += [f"e:{word[-n:]}" for n in (2, 3, 4, 5) if len(word) > n]
    return out


def _near(words: Sequence[str], kinds: Sequence[str], known: Sequence[str], i: int) -> list[str]:
    """The neighbours, alone and in pairs."""
    at = [words[j] if 0 <= j < len(words) else "<>" for j in range(i - WINDOW, i + WINDOW + 1)]
    sort = [kinds[j] if 0 <= j < len(words) else "<>" for j in range(i - 2, i + 3)]
    knows = [known[j] if 0 <= j < len(words) else "<>" for j in range(i - 2, i + 3)]
    out = [f"{n - WINDOW}:{word}" for n, word in enumerate(at) if n != WINDOW]
    out += [f"{n}::{at[n]} {at[n + 1]}" for n in range(1, 2 * WINDOW - 1)]
    out += [f"3::{at[WINDOW - 1]} {sort[2]} {at[WINDOW + 1]}", f"2::{at[1]} {at[2]} {sort[2]}"]
    out += [f"4::{sort[2]} {at[4]} {at[5]}"]
    out += [f"k{n - 2}:{one}" for n, one in enumerate(sort) if n != 2]
    out += [f"m{n - 2}:{one}" for n, one in enumerate(knows) if n != 2 and one]
    return out + [f"e{n - WINDOW}:{at[n][-3:]}" for n in (2, 4) if len(at[n]) > 3]


def _signposts(words: Sequence[str], kinds: Sequence[str], i: int, start: int, end: int) -> list[str]:
    """The next words to each side that carry a meaning, and both with the kind of the token between."""
    left = next((words[j] for j in range(i - 1, max(start, i - 7) - 1, -1) if _says(words[j])), "<>")
    right = next((words[j] for j in range(i + 1, min(end, i + 7)) if _says(words[j])), "<>")
    further = [word for word in words[start:i] if _says(word)]
    second = further[-2] if len(further) > 1 else "<>"
    return [
        f"l:{left}",
        f"r:{right}",
        f"lk:{left} {kinds[i]}",
        f"rk:{right} {kinds[i]}",
        f"lr:{left} {right}",
        f"ll:{second} {left}",
    ]


def _class_signs(
    classes: Sequence[str], kinds: Sequence[str], known: Sequence[str], i: int, start: int, end: int
) -> list[str]:
    """What the words around say, whatever their language: beside the token, the next to each side, and all together."""
    before = [classes[j] for j in range(i - 1, start - 1, -1) if classes[j]]
    behind = [classes[j] for j in range(i + 1, end) if classes[j]]
    left, right = (before or ["<>"])[0], (behind or ["<>"])[0]
    second = next((one for one in before if one != left), "<>")
    sort = known[i] or kinds[i]
    out = [f"c:{classes[i]}", f"cl:{left}", f"cr:{right}", f"clr:{left} {right}", f"cll:{second} {left}"]
    out += [f"clk:{left} {sort}", f"crk:{right} {sort}", f"clc:{left} {classes[i]}", f"crc:{right} {classes[i]}"]
    out += [f"cllk:{second} {left} {sort}", f"clrk:{left} {right} {sort}"]
    out += [f"c{n}:{classes[i + n]}" for n in (-2, -1, 1, 2) if start <= i + n < end and classes[i + n]]
    return out + [f"cb:{one} {classes[i] or sort}" for one in dict.fromkeys((*before[:6], *behind[:6]))]


def _says(word: str) -> bool:
    return word not in JOINING and word[0].isalpha()


def _stretches(words: Sequence[str]) -> list[tuple[int, int]]:
    """First and last token (excluded) of the stretch between stops that each token stands in."""
    out, start = list[tuple[int, int]](), 0
    for i, word in enumerate([*words, "."]):
        if word in STOPS:
            out += [(start, i)] * (i + 1 - start)
            start = i + 1
    return out[: len(words)]


# What an operation is read from: the span's words, those beside it, and the slot.
def sign_features(tokens: Sequence[WishToken], first: int, last: int, slot: str) -> list[str]:
    """The features of the operation on the span of tokens first to last (included)."""
    words = [plain(token.text) for token in tokens]
    inside = words[first : last + 1]
    before = ["<>", "<>", "<>", *words][first : first + 3]
    behind = [*words, "<>", "<>", "<>"][last + 1 : last + 4]
    left = next((at for at in range(first - 1, -1, -1) if words[at] in STOPS or words[at] in ",:"), -1)
    right = next((at for at in range(last + 1, len(words)) if words[at] in STOPS or words[at] in ",:"), len(words))
    said = _classes(tokens)
    around = [one for one in reversed(said[left + 1 : first]) if one]
    following = [one for one in said[last + 1 : right] if one]
    out = ["bias", f"slot:{slot}", f"is:{' '.join(inside)}", f"len:{min(len(inside), 4)}"]
    out += [f"in:{word}" for word in inside] + [f"in&:{word} {slot}" for word in inside]
    out += [f"i2:{a} {b}" for a, b in pairwise(inside)]
    out += [f"b{n}:{word}" for n, word in enumerate(reversed(before))]
    out += [f"b2:{before[1]} {before[2]}", f"b3:{' '.join(before)}", f"b&:{before[2]} {slot}"]
    out += [f"a{n}:{word}" for n, word in enumerate(behind)] + [f"a2:{behind[0]} {behind[1]}"]
    out += [f"c:{word}" for word in dict.fromkeys(words[left + 1 : first])]
    out += [f"c&:{word} {slot}" for word in dict.fromkeys(words[max(left + 1, first - 4) : first])]
    for name, ones in (("I", said[first : last + 1]), ("L", around), ("R", following)):
        out += [f"{name}:{one}" for one in dict.fromkeys(ones) if one]
        out += [f"{name}&:{one} {slot}" for one in dict.fromkeys(ones) if one]
    out += [f"LR:{(around or ['<>'])[0]} {(following or ['<>'])[0]}", f"L1:{(around or ['<>'])[0]} {len(inside)}"]
    return out + [f"p:{word[:4]}" for word in inside if len(word) > 4]


def kind_features(text: str, tokens: Sequence[WishToken]) -> list[str]:
    """The features of the whole: whether it orders, asks or tells."""
    words = ["^", *(plain(token.text) for token in tokens[:60]), "$"]
    grams = [" ".join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1)]
    begin = [f"^{' '.join(words[1 : n + 1])}" for n in (1, 2, 3, 4)]
    ends = ["?" if text.rstrip().endswith("?") else ".", "has?" if "?" in text else "no?"]
    ends += [f"len:{min(len(words) // 4, 6)}"]
    said = ["^", *(one or word for one, word in zip(_classes(tokens[:60]), words[1:-1], strict=True)), "$"]
    grams += [f"c:{' '.join(said[i : i + n])}" for n in (1, 2, 3) for i in range(len(said) - n + 1)]
    begin += [f"c^{' '.join(said[1 : n + 1])}" for n in (1, 2, 3)]
    return list(dict.fromkeys([*grams, *begin, *(f"{begin[1]}&{ends[0]}", f"{begin[0]}&{ends[0]}"), *ends]))
