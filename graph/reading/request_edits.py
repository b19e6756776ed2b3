"""What a message changes beside sizes and names: its edits, and the words that are left for the other reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graph.extraction.sentences.changes import is_relative
from graph.extraction.sentences.intents import is_question, sentences
from graph.extraction.sentences.lexicon import fold, lexicon
from graph.reading.argument_edits import find_argument_edits, spelled_out
from graph.reading.edits import Edit, apply_edits
from graph.reading.mentions import find_mentions
from graph.reading.parts import find_parts
from graph.reading.reader import read_utterance
from graph.reading.scope import wanted
from graph.reading.utterance import ThreadView
from graph.reading.wishes.taking import fields_of, take_wishes
from knowledge.types import JobRequest

# A number with a name of its own in front ("trial count 64"); behind other words it may correct a size ("I meant 13").
NAMED_NUMBER = re.compile(
    r"(?<![\w-])(?!(?:meant?|said|say|want|wanted|rather|maybe|h+m+|actually|fine|them|better|think|guess|no|not|than|to)\b)"
    r"[a-z][\w-]{2,}(?:\s*[=:]\s*|\s+(?:to|of|is)\s+|\s+)[\d.,]+\w?\W*$|^\W*\d+\s+[a-z][\w-]{4,}(?: [a-z]+)?\W*$",
    re.I,
)
# Meanings that the reader of sizes, times and names deals with.
OURS = frozenset(
    ("node", "gpu", "rank", "ppn", "hour", "min", "day", "week", "time", "double", "half", "same", "port", "script")
)
LIKELY = 0.5  # probability from which a piece counts as a wish to change something
MOST_WORDS = 6  # of a piece that is named as not placed
PIECES = re.compile(r"[,;.]\s+|\n|\s(?:and|und|et|y|e|then)\s|\s{3,}")
LONGEST = 1500  # characters; a longer text is no wish but a paste
# What may be left of a message whose wishes are all read.
SMALL = re.compile(
    r"\W+|\b(?:and|also|please|pls|then|with|as|well|too|it|now|but|ok|okay|so|the|run|use|add|set|make|put|on|to|in|a|an"
    r"|i|want|would|like|can|you|could|instead|und|bitte|auch|et|aussi|y|e|anche|for|of|this|that|job|script|me|from|let"
    r"|be|should|hm|yes|no|only|just|mode|there|at|by|leave|keep|stays?|as|is|think|enough)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class RequestEdits:
    """edits in the order of the text; left: what found no place; rest: the text with the words of both taken out."""

    edits: tuple[Edit, ...]
    rest: str
    left: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether nothing else is said."""
        return bool(self.edits) and not SMALL.sub("", self.rest)


def read_request_edits(text: str, before: JobRequest | None) -> RequestEdits:
    """The edits to parts and arguments in a text, by the tagger of wishes and by the rules.

    before: the job so far, None where none stands.
    """
    ruled = edits_by_rules(text, before)
    taken = take_wishes(text, before, lambda: fields_of(ruled.edits))
    if not taken.edits:
        return ruled
    more = edits_by_rules(taken.rest, apply_edits(before or JobRequest(), taken.edits).request)
    return replace(more, edits=(*taken.edits, *more.edits))


def edits_by_rules(text: str, before: JobRequest | None, answering: bool = False) -> RequestEdits:
    """The edits to parts and arguments in a text, by the table of parts and the reader of arguments.

    answering: something was just asked, and a number may be its answer.
    """
    if len(text) > LONGEST or text.count("\n") > 12:
        return RequestEdits((), text)
    changing = before is not None and before != JobRequest()
    words = spelled_out(text) if changing else text
    request = before or JobRequest()
    told = without(words, _questions(words))
    edits, taken, spans = find_parts(told, request, changing)
    if changing:
        more, places = find_argument_edits(without(told, taken), request)
        edits, spans = [*edits, *more], [*spans, *places]
    rest = without(words, spans) if edits else text
    left = unplaced(rest) if changing and not answering else ()
    for piece in left:
        rest = re.sub(r"\s+".join(map(re.escape, piece.split())), lambda found: " " * len(found[0]), rest, count=1)
    return RequestEdits(tuple(edits), rest, left)


def _questions(text: str) -> list[tuple[int, int]]:
    """The sentences that ask: what they name is not wished."""
    return [(a, b) for a, b in sentences(text) if is_question(text[a:b]) or _asks(text[a:b])]


def _asks(sentence: str) -> bool:
    """What ends on a question mark and is no order ("can you make it 8 nodes?") in the eyes of the trained reader."""
    if not sentence.rstrip().endswith("?"):
        return False
    clause = read_utterance(sentence, ThreadView(has_script=True, last_act="edit")).main
    return clause.act in ("ask", "plan")


def is_change(text: str) -> bool:
    """Whether a text, where a script stands, is a wish to change it in the eyes of the trained reader."""
    clause = read_utterance(text, ThreadView(has_script=True, last_act="edit")).main
    return clause.act == "edit" and clause.share("edit") >= LIKELY


def unplaced(rest: str) -> tuple[str, ...]:
    """The pieces of a change that name nothing known here: they are handed back, and not dropped."""
    pieces = (" ".join(piece.split()).strip(" .,!?;:") for piece in PIECES.split(wanted(rest)))
    return tuple(piece for piece in pieces if _is_unknown(piece))


def _is_unknown(piece: str) -> bool:
    """Whether a piece has words, and none of them, nor a name in it, is of a job's size, place or method."""
    if re.search(r"\d", piece) and not NAMED_NUMBER.search(piece):
        return False
    if is_relative(fold(piece)):
        return False
    words = re.findall(r"[^\W\d_][\w-]*", SMALL.sub(" ", piece))
    if not words or len(piece.split()) > MOST_WORDS or any(_meaning(word) in OURS for word in words):
        return False
    if any(m.kind != "Quantity" or m.unit in ("node", "gpu") for m in find_mentions(piece)[1]):
        return False
    return is_change(piece)


def _meaning(word: str) -> str:
    plain = fold(word)
    found = lexicon().match([plain], [plain], 0)
    return found[0] if found else ""


def without(text: str, spans: Iterable[Sequence[int]]) -> str:
    """The text with those pieces blanked: places stay."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)
