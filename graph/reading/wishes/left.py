"""The tagger's wishes that a request holds nothing of: whatever reader went first, they are named and not dropped."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from graph.extraction.sentences.asides import aside
from graph.extraction.sentences.context import is_past
from graph.extraction.sentences.intents import is_question, sentences
from graph.extraction.sentences.lexicon import fold, lexicon
from graph.extraction.sentences.line import make_line
from graph.reading.account import COMMON, MOST_WORDS, WEIGHTY, HeldWords
from graph.reading.coverage import SMALL
from graph.reading.edits import FIELDS, Add, Remove, Scale, Set, apply_edits
from graph.reading.mentions import find_mentions
from graph.reading.scope import stretch_at
from graph.reading.wishes.tagger import Span, Wishes
from graph.reading.wishes.taking import orders_of, pieces, with_targets
from graph.reading.wishes.values import Meant, edits_of
from knowledge.types import JobRequest
from knowledge.word_lists import word_set

SURE = 0.6  # from which a span has to be held or named; of such on new lines 19 in 20 are wishes
# What only tells or is shown elsewhere, and what a machine's own form decides and its notes say.
ELSEWHERE = word_set(
    "given was deadline priority show undo redo launcher rank_setup node_type machine strategy framework model resume "
    "comment memory precision seq_len arg_name mail nodes least_nodes"
)
OF_AN_ARRAY = word_set("array array_count array_at_once sweep_name sweep_value sweep_files")
LONGEST_LIST, LEAST, SHARE_UNREAD = 400, 0.4, 0.4  # characters; sureness of a span; of the pieces
MOST_UNREAD = 8
WORD = re.compile(r"[^\W\d_][\w-]{2,}")
SIGNS = re.compile(r"[\s=,;:]+")


def left_wishes(text: str, before: JobRequest | None, request: JobRequest, left: Collection[str]) -> tuple[str, ...]:
    """The words of wishes that a request holds nothing of, in the order of the text.

    before, request: the job before and after this message; left: what is named as left already.
    """
    stands = before not in (None, JobRequest())
    wishes = orders_of(text, stands)
    if wishes is None:
        return ()
    spans = list(to_account_for(text, wishes))
    open_spans = [
        one.span
        for one in with_targets(text, edits_of(spans, request))
        if not any(one.span.text.lower() in piece.lower() for piece in left)
        and not is_held(one, before or JobRequest(), request)
    ]
    named = dict.fromkeys(quoted(text, span, open_spans, wishes) for span in open_spans)
    unread = () if stands else unread_pieces(text, wishes, HeldWords(request, (*left, *named)))
    return (*named, *unread)


def unread_pieces(text: str, wishes: Wishes, held: HeldWords) -> Iterator[str]:
    """The pieces of a list of wishes in which no reader knows anything: `8 nodes, 2 h, data on the burst buffer`."""
    if "?" in text or len(text) > LONGEST_LIST:
        return
    spans = [(one.start, one.end) for one in wishes.spans if one.sure > LEAST]
    mentions = [(one.start, one.end) for one in find_mentions(text)[1] if one.kind in WEIGHTY]
    listed = [(a, b) for a, b in pieces(text) if text[a:b].strip()]
    unread = [(a, b) for a, b in listed if not any(start < b and a < end for start, end in spans)]
    if len(unread) > SHARE_UNREAD * len(listed):
        return
    for a, b in unread:
        words = WORD.findall(text[a:b])
        open_words = [w for w in words if not (held.says(w) or w.lower() in (*COMMON, *FIELDS) or fold(w) in SMALL)]
        open_words = [w for w in open_words if f"--{w.lower()}" not in held.text]
        new = any(not lexicon().knows(fold(word)) for word in open_words)
        if new and 1 < len(words) <= MOST_WORDS and not any(start < b and a < end for start, end in mentions):
            yield text[a:b].strip(" ()[].,;:!?")


def unread(text: str, request: JobRequest, changed: Collection[str], also: Collection[str] = ()) -> tuple[str, ...]:
    """Every piece of a message that an offer holds nothing of, in the order of the text, at most MOST_UNREAD of them.

    request: the job as it is offered; changed: the names of its fields that are new; also: what else holds the words.
    """
    held, mentions = HeldWords(request, also), find_mentions(text)[1]
    names = {part for name in changed for part in name.split("_")}
    out = list[str]()
    for a, b in pieces(text):
        said = [word for word in WORD.findall(text[a:b]) if fold(word) not in SMALL and word.lower() not in COMMON]
        inside = [one for one in mentions if a <= one.start and one.end <= b and one.kind in WEIGHTY]
        read = any(held.has(one, text) for one in inside) or any(
            held.says(word) or fold(word) in names for word in said
        )
        words = " ".join(text[a:b].split()).strip(" ()[].,;:!?")
        if not read and len(said) + len(inside) > 1:
            out.append(words if len(words.split()) <= MOST_WORDS else f"{' '.join(words.split()[:MOST_WORDS])} ...")
    return tuple(dict.fromkeys(out))[:MOST_UNREAD]


def quoted(text: str, span: Span, open_spans: Collection[Span], wishes: Wishes) -> str:
    """The piece of the text that a span stands in where all that is wished in it is open, else its own words."""
    start, end = next(((a, b) for a, b in pieces(text) if a <= span.start and span.end <= b), (span.start, span.end))
    beside = [one for one in wishes.spans if start <= one.start < end]
    whole = all(any(one.start <= other.start < one.end for one in open_spans) for other in beside)
    words = text[start:end].strip(" ()[].,;:!?")
    return words if whole and len(words.split()) <= MOST_WORDS else span.text


def to_account_for(text: str, wishes: Wishes) -> Iterator[Span]:
    """The spans that are sure enough, outside of what is asked, denied or told of others."""
    asked, line = [(start, end) for start, end in sentences(text) if is_question(text[start:end])], make_line(text, [])
    for span in wishes.spans:
        spoken = any(start <= span.start < end for start, end in asked) or stretch_at(text, span.start) is not None
        at = next((i for i, token in enumerate(line.tokens) if token.end > span.start), None)
        spoken = spoken or (at is not None and (is_past(line, at) or aside(line, at) is not None))
        if span.slot not in ELSEWHERE and span.sure * wishes.sure >= SURE and not spoken:
            yield span


def is_held(meant: Meant, before: JobRequest, request: JobRequest) -> bool:
    """Whether what a span means stands in the request: its value, its words, or a change of its field."""
    span, held = meant.span, HeldWords(request, ())
    told = [e for e in meant.edits if isinstance(e, Set | Add | Remove | Scale) and e.field != "heard"]
    changed = any(getattr(before, e.field) != getattr(request, e.field) for e in told)
    if span.sign in ("+", "~", "*", "^", "-"):
        return changed or not told
    if request.entry and request.entry in span.text:
        return True
    if request.array and span.slot in OF_AN_ARRAY:
        return True
    values = [e.value for e in told if isinstance(e, Set | Add) and isinstance(e.value, int | str)]
    if any(value in held.numbers or str(value).lower() in held.text for value in values):
        return True
    if told and apply_edits(request, told).request == request:
        return True
    if before != JobRequest() and (changed or not re.search(r"[\d/@=]", span.text)):
        return True  # of a change in plain words the rules' reading is the nearer one
    words = [word for word in SIGNS.split(span.text.strip("\"'`")) if word and word != word.upper()]
    return all(re.search(rf"(?<![^\W_]){re.escape(word.lower())}(?![^\W_])", held.text) for word in words)
