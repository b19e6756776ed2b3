"""Which words of a clause its reading accounts for. A word is held by a mention, by the lexicon, by the trained
reader (it weighs it towards the clause's own label) or by the answer; what none of them holds is left over."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache

from graph.extraction.sentences.lexicon import fold, lexicon
from graph.reading.classifier import act_model
from graph.reading.features import letters
from graph.reading.reader import acts
from graph.reading.scope import denials
from graph.reading.utterance import Clause, Mention, Utterance
from knowledge.wording import FILLER, stem

# How far above its mean over all labels the weight of a word and its letters must lie for the label to hold it.
HELD = 0.5
WORD = re.compile(r"\$?[^\W\d_][\w'+]*(?:[.-]\w+)*")
# What has no content of its own in a conversation, beside the words of no content in a page.
WORDS_OF_TALK = """
ask asking tell told though tho actually really maybe please pls thx thanks thank hello hola hallo ciao bonjour sorry
right lol done just what's it's that's i'm i'd i've don't doesn't can't isn't whats thats per each both two one else
needed allowed supported available another way around about roughly approximately wants call
says say said means even worth matter matters compared quite enough fine stuff thing things somewhere
etwa ungefähr environ aproximadamente
und oder ich wir das der die ein eine mit auf wie was ist für bitte kann mein meine et ou je nous le la les un une avec
sur pour est comment mon y o yo el los las con para por como cual cuanto cuanta es mi una del di il lo che per sono
viel viele wieviel combien quanto quanti cuantos cuantas
"""
SMALL = FILLER | {fold(one) for one in WORDS_OF_TALK.split()}
SHORTEST = 4  # letters of a word that says something
# Values that an answer either speaks of or passes over.
VALUES = ("Quantity", "Duration", "Framework", "Gpu", "Option", "Variable", "Name", "Rank")


OF_SIZE = re.compile(r"[MB]\b")  # a model's size, which an answer tells in another unit


def content_words(utterance: Utterance, clause: Clause) -> list[str]:
    """The words of a clause that say something and stand in no mention, in the order of the text; what is denied or is
    to stay is accounted for by that."""
    named = [(one.start - clause.start, one.end - clause.start) for one in utterance.within(clause)]
    named += [(one.start, one.end) for one in denials(clause.text)]
    return [
        found[0]
        for found in WORD.finditer(clause.text)
        if (len(found[0]) >= SHORTEST and fold(found[0]) not in SMALL)
        and not any(start <= found.start() < end for start, end in named)
    ]


def left_over(utterance: Utterance, clause: Clause, label: str, told: str = "") -> tuple[str, ...]:
    """The words and values of a clause that neither its reading nor its answer accounts for.

    label: what the clause is taken for, a label of the trained reader; told: the answer's text, empty where there is
    none yet.
    """
    held = stems_of(told)
    words = (one for one in content_words(utterance, clause) if not is_held(one, label) and not held_in(one, held))
    return tuple(dict.fromkeys((*words, *(values_left(utterance, clause, told) if told else ()))))


def values_left(utterance: Utterance, clause: Clause, told: str) -> tuple[str, ...]:
    """The values of a clause that are nowhere in the answer."""
    held = stems_of(told)
    return tuple(
        one.text
        for one in utterance.within(clause)
        if passed_over(one, told, held) and not OF_SIZE.match(utterance.text, one.end)
    )


def is_held(word: str, label: str) -> bool:
    """Whether the reading of a clause as this label rests on the word too, or the lexicon knows it."""
    plain = fold(word)
    return lexicon().knows(plain) or weight(plain, label) >= HELD or held_in(word, described(label))


@cache
def weight(word: str, label: str) -> float:
    """How much a word and its letters speak for a label, above their mean over all labels, by each that was seen in
    training; 0 where none was."""
    model = act_model()
    names = [name for name in (f"w:{word}", *(f"c:{run}" for run in letters(word))) if name in model.index]
    if not names or label not in model.labels:
        return 0.0
    logits = [one - bias for one, bias in zip(model.logits(names), model.bias, strict=True)]
    above = logits[model.labels.index(label)] - sum(logits) / len(logits)
    return above / math.sqrt(len(names))  # a logit weighs each by the root of their number


@cache
def described(label: str) -> frozenset[str]:
    """The stems of what acts.yaml says of a label, and of its examples."""
    act, _, topic = label.partition("/")
    about = acts()["topics"].get(topic) or acts()["acts"].get(act) or {"says": "", "examples": ()}
    return stems_of(" ".join((about["says"], *about["examples"])))


def held_in(word: str, held: frozenset[str]) -> bool:
    return all(one in held for one in pieces(word))


def stems_of(text: str) -> frozenset[str]:
    return frozenset(one for word in WORD.findall(text) for one in (*pieces(word), fold(word)))


def pieces(word: str) -> Iterator[str]:
    """`node's` and `batch-size` by their parts; a variable with its sign."""
    yield from (stem(fold(one)) for one in ([word] if word[0] == "$" else re.findall(r"[^\W_]{2,}", word)))


def is_value(mention: Mention) -> bool:
    """Whether an answer has to use it. A bare `one` is none."""
    return mention.kind in VALUES and not (mention.text.isalpha() and mention.kind == "Quantity")


def passed_over(mention: Mention, told: str, held: frozenset[str]) -> bool:
    """Whether a value that was said is nowhere in the answer."""
    if not is_value(mention):
        return False
    if mention.kind in ("Option", "Variable"):
        return re.split(r"[=\s]", mention.text.lower().lstrip("-"))[0] not in told.lower()
    value = f"{mention.value:g}" if isinstance(mention.value, float) else str(mention.value)
    numbers = re.findall(r"\d+", mention.text.replace(",", ""))
    plain = told.replace(",", "").lower()
    unit = rf"\s*{found[1]}" if (found := re.search(r"(?<=\d)\s*([a-z])", mention.text.lower())) else ""
    return not (
        mention.text.lower().replace(" ", "") in plain.replace(" ", "")
        or value.lower() in plain
        or (mention.kind == "Duration" and re.search(rf"(?<![\d.]){float(mention.value) / 3600:g} h\b", plain))
        or (numbers and all(re.search(rf"(?<!\d){one}(?!\d){unit}", plain) for one in numbers))
        or (not numbers and held_in(mention.text, held))
    )
