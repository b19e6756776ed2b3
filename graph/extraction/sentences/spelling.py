"""What people say and write, brought to one spelling before anything reads it.

Names spelt aloud (`train dot py`, `gpt two`, `marenostrum five`), values given to a variable of a pasted command, and
slips of the pen in the words of the field. Paths, file names, options and quoted names stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from rapidfuzz.distance import OSA

from graph.extraction.sentences.lexicon import fold, lexicon, read_yaml
from knowledge.catalogue import catalogue

LONGEST = 2000  # characters; a longer text is a paste
SHORTEST_WORD = 6  # letters of a word that may be a slip of another
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
DIGITS = {name: str(number) for number, name in enumerate(NAMES, 1)}
DIGIT = "|".join(DIGITS)
# `gpt two`, `llama three point one`: a family of models with the number of its version, where it counts nothing.
VERSIONED = re.compile(
    rf"\b(?P<name>gpt|llama|qwen|gemma|phi|olmo|falcon|yolo|yolo v|dino v)[ ]+(?P<whole>{DIGIT})"
    rf"(?:[ ]+point[ ]+(?P<part>{DIGIT}))?\b"
    r"(?!\s*-?\s*(?:\d|x\b|times|b\b|billion|node|gpu|gcd|card|tile|hour|day|min|week|of\b))"
)
VERSION = re.compile(rf"(?i)^(v)[ ]({DIGIT})$")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# `N would be 2`, `with N=2`, behind or before the command that holds `$N`.
VALUE = (
    r"(?<![\w$-]){name}\s*(?:=|:|is|are|be|as|(?:would|will|should|shall|must|can)\s+be|equals)"
    r"\s*(?P<value>\d{{1,6}})(?![\w.:])"
)
# A comma between words that are written without blanks: `--bs 16,项目`, `b.yaml,8 小时`; `ddp,2 个节点` too.
WIDE = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
JOINED = re.compile(rf"(?<=\w)[,\uff0c](?=\s?\d*\s?{WIDE})|(?<={WIDE})[,\uff0c](?=\S)")
WORD = re.compile(r"(?<![\w./~$@'\"`=<-])[a-z]{6,14}(?![\w/@='\"`-]|\.\w)")
QUEUE = re.compile(r"(?<![\w./~$@'\"`=<-])q[ue]{3,6}(s?)(?![\w/@='\"`-]|\.\w)")


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("spelling.yaml")
    return data


def normal_form(text: str) -> str:
    """The text in one spelling; the text itself where there is nothing to mend, or it is a paste."""
    if len(text) > LONGEST:
        return text
    text = JOINED.sub(", ", _with_values(text))
    for steps in (_signs, _numbers, _slips):
        text = _replaced(text, steps(text))
    return text


Piece = tuple[int, int, str]


def _replaced(text: str, pieces: Iterator[Piece]) -> str:
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _with_values(text: str) -> str:
    """`--nnodes=$N ...; N would be 2`: the value in the place of the variable."""
    for name in {found[1] or found[2] for found in VARIABLE.finditer(text)}:
        if given := re.search(VALUE.format(name=re.escape(name)), text):
            text = re.sub(rf"\$(?:\{{{name}\}}|{name}(?!\w))", given["value"], text)
    return text


@cache
def _chain() -> re.Pattern[str]:
    words = sorted((fold(word) for said in _data()["signs"].values() for word in said), key=len, reverse=True)
    apart = "|".join(_data()["apart"])
    piece = rf"(?!(?:{apart})\b)(?:v[ ](?:{DIGIT})(?!\w)|[a-z0-9][\w-]*)"
    return re.compile(rf"(?<![\w./-]){piece}(?:[ ]+(?:{'|'.join(words)})[ ]+{piece})+")


@cache
def _sign(word: str) -> str:
    return next(str(sign) for sign, words in _data()["signs"].items() if word in map(fold, words))


def _signs(text: str) -> Iterator[Piece]:
    """`train dot py` as `train.py`. A dot only before a file's ending, a slash only in a file's path."""
    words = "|".join(sorted((fold(word) for said in _data()["signs"].values() for word in said), key=len, reverse=True))
    for match in _chain().finditer(fold(text)):
        parts = re.split(rf"(?i)[ ]+({words})[ ]+", text[match.start() : match.end()])
        signs = [_sign(fold(word)) for word in parts[1::2]]
        names = [VERSION.sub(lambda v: v[1] + DIGITS[v[2].lower()], name) for name in parts[::2]]
        ends = names[-1].lower() in _data()["endings"]
        if ("." in signs and not ends) or ("/" in signs and "." not in signs):
            continue
        yield match.start(), match.end(), "".join(a + b for a, b in zip(names, [*signs, ""], strict=True))


@cache
def _numbered() -> re.Pattern[str]:
    """Machines whose name ends on a number: `marenostrum five`, `mn five`, `stampede three`."""
    names = {fold(name) for one in catalogue().clusters.values() for name in (one.id, *one.names)}
    stems = {found[1] for name in names if (found := re.fullmatch(r"([a-z]{2,})[ -]?\d", name))}
    return re.compile(
        rf"(?<![\w-])(?P<stem>{'|'.join(sorted(map(re.escape, stems), key=len, reverse=True))})[ -]+(?P<digit>{DIGIT})"
        r"(?!\w)(?!\s*-?\s*(?:nodes?|gpus?|gcds?|hours?|days?|min\w*|times|x)\b)"
    )


def _numbers(text: str) -> Iterator[Piece]:
    folded = fold(text)
    for match in _numbered().finditer(folded):
        yield *match.span("digit"), DIGITS[match["digit"]]
    for match in VERSIONED.finditer(folded):
        part = f".{DIGITS[match['part']]}" if match["part"] else ""
        yield match.start("whole"), match.end("part") if part else match.end("whole"), DIGITS[match["whole"]] + part


def _slips(text: str) -> Iterator[Piece]:
    """Words of the field one slip away: `accuont`, `wihtout`."""
    folded = fold(text)
    for match in WORD.finditer(folded):
        if meant := _meant(match[0]):
            yield *match.span(), meant
    for match in QUEUE.finditer(folded):
        if match[0] not in ("queue", "queues"):
            yield *match.span(), f"queue{match[1]}"


@cache
def _meant(word: str) -> str | None:
    known = (
        any(word.startswith(one) for one in _data()["words"]) or word in _data()["not_slips"] or lexicon().knows(word)
    )
    if known or len(word) < SHORTEST_WORD:
        return None
    near = [one for one in _data()["words"] if one[0] == word[0] and OSA.distance(word, one, score_cutoff=1) <= 1]
    return near[0] if near else None
