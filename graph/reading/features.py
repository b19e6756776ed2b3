"""What the classifier of acts sees of a clause: words, meanings, letters, kinds of mention, the thread before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from graph.extraction.sentences.lexicon import fold
from graph.extraction.sentences.line import Line
from graph.reading.utterance import Mention, ThreadView

WORD = re.compile(r"<\w+>|[a-z_]+(?:'[a-z]+)?|#|[^\W\da-z_]|[?!:=+]")
LONGEST = 600  # characters of a clause that are looked at
SHORT = (2, 4, 8)  # words: a message up to so long leans on its thread


def clause_features(text: str, mentions: Sequence[Mention], line: Line, start: int, thread: ThreadView) -> list[str]:
    """The names of all features of one clause.

    text: the clause; mentions: those in it, with places in the whole message; line: the whole message's row of
    meanings; start: where the clause begins in the message.
    """
    plain = _masked(text[:LONGEST], mentions, start)
    words = WORD.findall(plain)
    end = start + len(text)
    meanings = [t.key for t in line.tokens if start <= t.start < end]
    kinds = sorted({m.kind for m in mentions})
    blocks = (
        [f"w:{g}" for g in _grams(["^", *words, "$"], 3)],
        [f"m:{g}" for g in _grams(["^", *(_number(m) for m in meanings[:80]), "$"], 2)],
        [f"c:{g}" for g in letters(plain)],
        [f"k:{k}" for k in kinds] + _thread_features(thread, words, kinds, plain),
    )
    return [name for block in blocks for name in dict.fromkeys(block)]


def _masked(text: str, mentions: Iterable[Mention], start: int) -> str:
    """The folded text with each mention replaced by its kind and each number by one sign."""
    pieces, at = [], 0
    for mention in mentions:
        first, last = mention.start - start, mention.end - start
        if mention.kind != "Quantity" and at <= first < last <= len(text):
            pieces += [text[at:first], f" <{mention.kind.lower()}> "]
            at = last
    plain = fold("".join([*pieces, text[at:]]))
    return " ".join(re.sub(r"\d+(?:[.,]\d+)*", "#", plain).split())


def _number(meaning: str) -> str:
    return "#" if meaning[:1].isdigit() else meaning


def _grams(words: Sequence[str], most: int) -> Iterator[str]:
    for size in range(1, most + 1):
        for at in range(len(words) - size + 1):
            yield " ".join(words[at : at + size])


def letters(plain: str) -> Iterator[str]:
    """Runs of 3 to 5 letters of each word; a misspelt word shares most of them with the right one."""
    for word in islice(re.findall(r"[^\W_]{2,}", plain), 80):
        edged = f" {word} "
        for size in (3, 4, 5):
            for at in range(max(1, len(edged) - size + 1)):
                yield edged[at : at + size]


def _thread_features(thread: ThreadView, words: Sequence[str], kinds: Sequence[str], plain: str) -> list[str]:
    """The state of the thread, alone and together with what decides how much it weighs: length, kinds, first word."""
    last = f"{thread.last_act}/{thread.last_topic}" if thread.last_topic else thread.last_act
    flags = {
        "asked": thread.asked is not None,
        "script": thread.has_script,
        "log": thread.has_log,
        "offer": thread.has_offer,
        "new_script": thread.new_script,
        "new_log": thread.new_log,
    }
    state = [name for name, holds in flags.items() if holds]
    state += [f"asked={thread.asked}"] if thread.asked else []
    state += [f"last={last}", f"last_act={thread.last_act}"] if last else ["first"]
    length = next((f"<{n}" for n in SHORT if len(words) <= n), "long")
    first = words[0] if words else ""
    ends = "?" if plain.endswith("?") else "."
    paired = [f"{one}&{two}" for one in state for two in (length, ends, first, f"{length}{ends}", *kinds)]
    return [f"t:{name}" for name in (*state, length, ends, *paired)]
