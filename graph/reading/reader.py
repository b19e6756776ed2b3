"""A message's words become an Utterance: built once a turn, read by everything that follows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from operator import add
from pathlib import Path
from typing import Any

from graph.extraction.sentences.intents import is_question
from graph.extraction.sentences.line import Line
from graph.reading.classifier import act_model
from graph.reading.defining import words_asked
from graph.reading.features import clause_features
from graph.reading.frames import wishes_a_part
from graph.reading.mentions import find_mentions
from graph.reading.scope import scope_of, without_corrected
from graph.reading.scope import words as words_of
from graph.reading.utterance import Clause, Mention, Scope, ThreadView, Utterance, bounded
from knowledge.data_file import read_data
from knowledge.meaning import meaning_model

# Where one purpose of a message ends and the next begins.


# A stop, a question mark or a line's end; "and" or "also" only where a question or an order begins behind it.
STOP = re.compile(
    # Blanks are taken from their first one on: a long row of them is looked at once.
    r"(?<!\s)\s+(?=\(?[1-9]\)\s)|(?<=[:.;!?])\s+[1-9]\.\s+(?=[^\W\d_])|(?<=[!?。\uff1f\uff01])\s*|(?<=[^\d\s][.;])\s+|(?<!\s)\s*\n\s*"
    # `add fp16. would it help`, no number of a list
    r"|(?<=\w\d[.;])\s+(?=(?:why|how|what|where|when|which|who|do|does|can|is"
    r"|are|will|would|should|could)\b)"
    r"|(?:,\s*|(?<![\s,])\s+)(?=(?:(?:and|und|et|y|e|also|but|then|plus|oh|ah)(?:[ ,]+(?:by the way|btw|also|then))?"
    r"|by the way|btw|\u00fcbrigens|au fait)[ ,]+(?:(?:roughly|approximately|about|ungefähr|etwa|environ|circa)[ ,]+)?"
    r"(?:why|how|what|where|when|which|who|does|do|can|is|are|will|tell|explain|wie|was|warum|wo|pourquoi|comment|où|quel"
    r"|por qué|cómo|qué|dónde|perché|come|dove|quanto)\b)"
    r"|,\s+(?=(?:what|why|how|where|when|which|who)\b(?:'s| is| are| does| do| did| was| will| long| many| much"
    r"| would)\b[^.!?\n]*\?)",
    re.I,
)
MOST_CLAUSES = 80
SHORTEST = 2  # characters of a clause that stands by itself


def split_clauses(text: str) -> list[tuple[int, int]]:
    """Start and end of each clause, in characters; the whole text where nothing parts it."""
    spans = [_trimmed(text, a, b) for a, b in _pieces(text)]
    kept = [(a, b) for a, b in spans if b - a >= SHORTEST]
    if len(kept) > MOST_CLAUSES:  # each costs some milliseconds; what is so much in pieces is no request
        kept[MOST_CLAUSES - 1 :] = [(kept[MOST_CLAUSES - 1][0], kept[-1][1])]
    return kept or [(0, len(text))]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for stop in STOP.finditer(text):
        if text[stop.end() + 1 : stop.end() + 2] == ")" and text.rfind("(", at, stop.end()) > text.rfind(
            ")", at, stop.end()
        ):
            continue  # `(epoch 3)`
        if stop.start() > at:
            yield at, stop.start()
        at = max(at, stop.end())
    yield at, len(text)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


FAINT = 0.005
MEANING = Path(__file__).with_name("meaning.npz")
MOST_TOPICS = 4
# `queue debug`, `set nodes=4`: a field of the job by its name and a value, as the terminal's pickers say it. The one
# form that is certain without a model.
FIELD_VALUE = re.compile(
    r"\W*(?:(?:set|use|make)\s+)?(?:the\s+)?(?:machine|framework|strategy|nodes|gpus[ _]per[ _]node|total[ _]gpus"
    r"|walltime|queue|partition|qos|account|model|entry|program|args|environment|container)"
    r"(?:\s*[=:]?\s*[\w./:~$+-]+|\s+(?:is\s+)?(?:called|named)\s+[\w./:~$+-]+"
    r"|\s+(?:there\s+is\s+|is\s+(?=\S*[\d_-]))[\w./:~$+-]+)\W*",
    re.I,
)
# From this probability on the words alone decide: no vector is computed.
PLAIN = 0.6
# From it on the message as a whole decides what it is for, else its clauses do.
LEADS = 0.5
# From it on a reading goes before the rule that a named part of a job is wished for.
TOLD = 0.85


@cache
def acts() -> dict[str, Any]:
    """acts.yaml: what acts and topics there are, each with its sense and examples."""
    data: dict[str, Any] = read_data(Path(__file__).parent / "acts.yaml")
    return data


# `..., would that work?`: what stands before it is asked about, not asked for.
TAG = re.compile(
    r"(?i)\b(?:would|will|does|can|could|should) (?:that|this|it)(?: all)? "
    r"(?:work|fit|do|run|be (?:enough|ok(?:ay)?|possible|fine|too much))\W*\?\W*$"
)
WRITES = ("write", "edit")
REPORTS = ("diagnose", "pending")


def read_utterance(words: str, thread: ThreadView) -> Utterance:
    """Read the words of one message in the light of its thread. Pure; never raises on any text.

    words: what the person wrote, without pasted scripts, logs and outputs (message.take_apart parts them).
    """
    read = bounded(words)
    line, mentions = find_mentions(read)
    mentions = without_corrected(read, mentions)
    clauses = tuple(_clause(read, span, line, mentions, thread) for span in split_clauses(read))
    whole = _clause(read, (0, len(read)), line, mentions, thread) if len(clauses) > 1 else None
    if whole and whole.confidence >= LEADS:
        clauses = led_by(whole, clauses)
    return Utterance(read, mentions, clauses)


def led_by(whole: Clause, clauses: Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses, of which the one that is likeliest for what the whole message is for says so and leads.

    A sentence alone is often read otherwise: what it tells is background of what stands behind it.
    """

    def fits(one: Clause) -> tuple[bool, float, int]:
        return one.label == whole.label, round(one.share(whole.act), 1), len(one.text)

    best = max(clauses, key=fits)
    same = best.label == whole.label and best.confidence >= whole.confidence
    # What asks for knowledge orders nothing, whatever stands around it.
    asks = best.scope == "asked" and whole.act in WRITES and not words_of("begs").search(best.text)
    read = best if same or asks or best.by_rule else whole
    leads = replace(read, start=best.start, end=best.end, text=best.text, scope=best.scope, leads=True)
    return tuple(leads if one is best else one for one in clauses)


def plain_orders(read: Utterance) -> str:
    """The text with each order that is put as a question (`can we take two nodes?`) put as an order."""
    text = read.text
    for one in reversed(read.clauses):
        if one.act == "edit" and is_question(one.text):
            order = words_of("begs").sub("", one.text.rstrip(" ?\uff1f"), 1)
            text = f"{text[: one.start]}{order}{'.' * (one.end < len(text))}{text[one.end :]}"
    return text


def read_as_one(words: str, thread: ThreadView) -> Clause:
    """The whole text as one clause: what a message of several sentences is for, taken together."""
    words = bounded(words)
    line, mentions = find_mentions(words)
    return _clause(words, (0, len(words)), line, mentions, thread)


def _clause(words: str, span: tuple[int, int], line: Line, mentions: Sequence[Mention], thread: ThreadView) -> Clause:
    start, end = span
    text = words[start:end]
    if not text.strip() and (thread.new_log or thread.new_script):
        return Clause(start, end, text, "diagnose" if thread.new_log else "review")
    if (thread.has_script or thread.asked) and FIELD_VALUE.fullmatch(text) and "?" not in text:
        return Clause(start, end, text, "edit")
    within = [m for m in mentions if start <= m.start < end]
    read = _ranked(text, clause_features(text, within, line, start, thread))
    orders = thread.has_script and not thread.asked and read[0][0] == "edit" and read[0][1] >= PLAIN
    asks = is_question(text) and not (orders and words_of("begs").search(text))
    scope: Scope = "asked" if asks else scope_of(words, start, end)
    # What is no wish, whatever it names.
    told = (read[0][1] >= TOLD and read[0][0] in REPORTS) or scope in ("past", "others")
    if thread.has_script and not thread.asked and "?" not in text and not told and wishes_a_part(text):
        return Clause(start, end, text, "edit")
    if asks:  # what asks for knowledge orders nothing: `why does it only let me have 2 h on 40 nodes`
        read = without_labels(read, WRITES)
    (best, share), (second, _), *_ = read
    act, _, topic = best.partition("/")
    if defines(text, best, thread):
        return Clause(start, end, text, "ask", "concept", scope="asked")
    if act in WRITES and TAG.search(text):
        return Clause(start, end, text, "plan", scope="asked")
    topics = [(label.partition("/")[2], round(share, 4)) for label, share in read if label.startswith("ask/")]
    return Clause(
        start, end, text, act, topic, share, second, scope, act_shares(read), tuple(topics[:MOST_TOPICS]), False
    )


# Of two ways to take, and of a log's line, more is told than what the words mean.
OF_MORE_THAN_WORDS = ("ask/method.strategy", "ask/method.precision")


def defines(text: str, label: str, thread: ThreadView) -> bool:
    """Whether a text asks by its form for what words mean, and not for what it was read as."""
    of_log = thread.has_log and label.startswith("ask/log.")
    terms = () if of_log else words_asked(text)
    return len(terms) == 1 or (bool(terms) and label not in OF_MORE_THAN_WORDS)


def without_labels(read: Sequence[tuple[str, float]], labels: Sequence[str]) -> list[tuple[str, float]]:
    """The other labels, which share the probability of these."""
    kept = [one for one in read if one[0] not in labels]
    whole = sum(share for _, share in kept)
    return [(label, share / whole) for label, share in kept] if whole else list(read)


def _ranked(text: str, features: Sequence[str]) -> list[tuple[str, float]]:
    """The labels by their words; where these leave it open, by what the text means too."""
    model = act_model()
    logits = model.logits(features)
    read = model.ranked(logits)
    if read[0][1] >= PLAIN or not text.strip():
        return read
    meaning = meaning_model(MEANING)
    return model.ranked([*map(add, logits, meaning.logits(text))]) if meaning else read


def act_shares(read: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """The probability of each act: where no single topic of a question is likely, that it is one may be certain."""
    shares: defaultdict[str, float] = defaultdict(float)
    for label, share in read:
        shares[label.partition("/")[0]] += share
    return tuple(
        (act, round(share, 4)) for act, share in sorted(shares.items(), key=lambda one: -one[1]) if share >= FAINT
    )
