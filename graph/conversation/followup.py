"""A short follow-up means the question before it, with one thing replaced: `and on Polaris?`, `and with 8?`, `lumi`.

The last question is kept as it was asked (or completed). What a fragment names takes the place of its like in it: a
machine of the machine, a number of the number with the same unit; what the question did not name is added.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from graph.conversation.turn import SURE, WANTING, TurnContext, view_of, with_words
from graph.reading.reader import read_utterance
from graph.reading.scope import stretch_at, wanted
from graph.reading.utterance import Clause, Mention, Utterance
from graph.state import State
from knowledge.data_file import read_data
from knowledge.types import AskField, AwaitLog, OfferChoice, OfferEdit, OfferRows
from knowledge.word_lists import in_order

LONGEST = 80
MOST_NAMED = 3
# From this probability on a message with words of its own is a question of its own.
OWN = 0.5
SLOTS = in_order("Machine Model Gpu Queue Quantity Duration Method Framework Option Variable Rank")
WORDS = {name: frozenset(words.split()) for name, words in read_data(Path(__file__).with_suffix(".yaml")).items()}
JOINING, LEANING, BESIDE = WORDS["joining"], WORDS["leaning"], WORDS["beside"]
GOES_ON = re.compile(r"^\W*(?:(?:ok|okay|hm+|so)\W+)*(?:and|what about|how about|same|what if|und|et|y|e)\b", re.I)
# What asks how a thing is done asks something else than the question before it.
HOW_TO = re.compile(
    r"(?i)\b(?:how (?:do|can|could|would|should|to)|wie (?:mache?|geht|kann)|comment|c[oó]mo|come (?:si|faccio))\b"
)
# `9:0`, a whole of its own.
PAIR = re.compile(r"\d:\d")
MARKS = ("?", "\uff1f")
OR = re.compile(r"(?i)^\W*(?:or|oder|ou|o|vs\.?|versus|还是|或)\W*$")
# An order of a number alone, and amounts with their unit.
BARE_ORDER = re.compile(
    r"(?i)\W*(?:(?:ok(?:ay)?|then|and|so|now|pls|please|hm+|fine|well|dann|also|alors|bon|entonces|allora)\W+)*"
    r"(?:do|make|take|use|set|put|try|go (?:for|with)|mach|nimm|mets|prends|pon|usa|metti|fai)\s+"
    r"(?:(?:it|that|this|es|das|le|lo|la|to|à|a|auf|bei)\s+){0,2}(?P<n>\d+)(?P<rest>(?:\W+(?!\d)[^\W\d]\w*){0,5}\W*)$"
)
UNITS = r"h|hrs?|hours?|std|stunden?|heures?|horas?|ore|nodes?|knoten|n[oœ]e?uds?|nod[io]s?|gpus?|epochs?|min\w*|days?"
AMOUNT = re.compile(rf"(?i)(?<![\w.])(?P<n>\d+) ?-?(?P<unit>{UNITS})\b")
ADDED = {"Machine": " on {}", "Gpu": " on {}", "Queue": " in the {} queue"}


def completed(turn: TurnContext) -> TurnContext:
    """The turn with its fragment made the whole question; the same turn where the words stand for themselves."""
    last = turn.state.get("asked_last", "")
    if not last or turn.message.scripts or turn.message.logs or not is_fragment(turn):
        return turn
    named = slots(turn.utterance)
    whole = last
    for mention in named:
        whole = put(whole, turn, mention)
    read = asked_again(whole, turn.state.get("last_topic", ""), turn.state)
    return replace(turn, message=replace(turn.message, words=whole), utterance=read)


def bound(turn: TurnContext) -> TurnContext:
    """`Ok do 8 then`, `make it 4`, of the script in hand: the number as a value of what was just asked about, an
    amount with its unit or an option of the script; the same turn where that is not clear."""
    found, script, was = BARE_ORDER.match(turn.words), turn.script, turn.state.get("asked_last", "")
    wants = turn.utterance.main.share(*WANTING) >= SURE and "?" not in turn.words
    answers = isinstance(turn.pending, AskField | OfferChoice | OfferEdit | OfferRows)
    if found is None or script is None or not wants or answers or turn.message.scripts:
        return turn
    from graph.usecases.edit_script import names, settings

    amounts = {f"{found['n']} {one['unit']}" for one in AMOUNT.finditer(was) if float(one["n"]) == float(found["n"])}
    said = {one.name for one in settings(script.text) if one.name.startswith("-") and names(one.name, was)}
    whole = amounts or {f"{name} {found['n']}" for name in said}
    return with_words(turn, f"{whole.pop()}{found['rest']}") if len(whole) == 1 else turn


def is_fragment(turn: TurnContext) -> bool:
    """Whether the words name something, and say nothing else that stands for itself."""
    words, main = turn.words.strip(), turn.utterance.main
    named = slots(turn.utterance)
    asks = words.endswith(MARKS) or GOES_ON.match(words) is not None
    if (
        not named
        or PAIR.search(words)
        or (HOW_TO.search(words) and not HOW_TO.search(turn.state.get("asked_last", "")))
        or len(words) > LONGEST
        or len(named) > MOST_NAMED
        or answers_what_is_open(turn, asks, named)
    ):
        return False
    if lets_choose(turn.utterance, named):
        return False
    ordered = main.share(*WANTING) >= SURE and not words.endswith(MARKS)  # `ok and make it 4 nodes`
    if ordered or (not asks and turn.script is not None):
        return False
    left = residue(words, named)
    leaning = {word for word in left if word in LEANING}
    return left == leaning and (not leaning or GOES_ON.match(words) is not None or main.confidence < OWN)


def lets_choose(utterance: Utterance, named: Sequence[Mention]) -> bool:
    """`Then ddp or fsdp?`: one of two of a kind is asked for, which is a question of its own."""
    return any(one.kind == other.kind == "Method" and OR.search(utterance.text[one.end : other.start])
               for one, other in pairwise(named))  # fmt: skip


def answers_what_is_open(turn: TurnContext, asks: bool, named: Sequence[Mention]) -> bool:
    """Whether something was asked or offered, and the words are rather its answer than a question that goes on."""
    if isinstance(turn.pending, AskField):
        return not asks or bool(named and named[0].kind == "Machine")
    return turn.pending is not None and not isinstance(turn.pending, AwaitLog) and not asks


def slots(utterance: Utterance) -> list[Mention]:
    """What the words name and do not deny."""
    return [one for one in utterance.mentions if one.kind in SLOTS and not stretch_at(utterance.text, one.start)]


def residue(words: str, named: Sequence[Mention]) -> set[str]:
    """The words that neither name anything nor merely join."""
    words = wanted(words)
    for one in sorted(named, key=lambda mention: -mention.start):
        words = f"{words[: one.start]} {words[one.end :]}"
    return set(re.findall(r"[^\W\d_][\w']*", words.lower())) - JOINING


def put(question: str, turn: TurnContext, mention: Mention) -> str:
    """The question with that mention in the place of its like, or added to it."""
    mentions = read_utterance(question, view_of(turn.state)).mentions
    like = [one for one in mentions if one.kind == mention.kind and is_like(one, mention)]
    if mention.kind == "Machine" and not like:
        like = [one for one in mentions if one.kind == "Gpu"]
    if like:
        return f"{question[: like[-1].start]}{mention.text}{question[like[-1].end :]}"
    end = question.rstrip(" ?.!\uff1f")
    return f"{end}{ADDED.get(mention.kind, ' with {}').format(spelled(turn.words, mention))}?"


def is_like(one: Mention, other: Mention) -> bool:
    """A number stands for one of the same unit; without a unit for any."""
    return one.kind != "Quantity" or not other.unit or one.unit == other.unit


def spelled(words: str, mention: Mention) -> str:
    """A number with the word behind it: `8 nodes`."""
    behind = re.match(r"[\s-]*(nodes?|gpus?|cards?|gcds?|ranks?|hours?|h)\b", words[mention.end :], re.I)
    return f"{mention.text} {behind[1]}" if mention.kind == "Quantity" and behind else mention.text


def asked_again(question: str, topic: str, state: State) -> Utterance:
    """The completed question, read: a single clause keeps the topic that it had."""
    read = read_utterance(question, view_of(state))
    if len(read.clauses) > 1 or not topic:
        return replace(read, clauses=tuple(as_asked(one, topic_of(one)) for one in read.clauses))
    return replace(read, clauses=(as_asked(read.main, topic),))


def topic_of(clause: Clause) -> str:
    return clause.topic if clause.act in ("ask", "plan") else clause.asked


def as_asked(clause: Clause, topic: str) -> Clause:
    act = clause.act if clause.act == "plan" and not topic else "ask"
    return replace(clause, act=act, topic=topic, confidence=1.0, shares=((act, 1.0),), by_rule=True)
