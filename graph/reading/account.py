"""The account of a message: every number, path, option, pair, address and name in it has a place, or is named.

The counterpart of the port's account over a script (graph/porting/account.py). What stands in the request afterwards is
placed; what is asked, denied or told of another run needs no place; the rest is handed back in the person's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from graph.extraction.sentences.asides import aside
from graph.extraction.sentences.context import is_later, is_past
from graph.extraction.sentences.intents import is_question, sentences
from graph.extraction.sentences.lexicon import fold, lexicon
from graph.extraction.sentences.line import Line
from graph.reading.commands import spoken_words
from graph.reading.mentions import find_mentions
from graph.reading.scope import stretches
from graph.reading.utterance import Mention
from knowledge.types import JobRequest

Span = tuple[int, int]
LONGEST = 1500  # characters; a longer text is a paste, and no wish
MOST = 6  # pieces that are named
FEW = 2  # words: fewer are no wish that the account could quote
MOST_WORDS = 9  # of a piece that is quoted whole
# Kinds of mention that say something of a job, and have to end up somewhere.
WEIGHTY = ("Quantity", "Duration", "Path", "Option", "Variable", "Account", "Queue", "Machine")
# Amounts that only describe: other readers answer with them, and a request has no field for them.
DESCRIBING = ("token", "token/parameter", "GB", "TB", "sample", "user", "layer", "hidden", "node_hour", "gpu_hour")
SECONDS = re.compile(r"(\d+):(\d\d):(\d\d)")
PIECE = re.compile(r"[,;]\s+|[.!]\s+|[.!]$|\n|\s(?:and|und|et|y|e|then|plus|but|also)\s|\s[-\u2013]\s|: ")
DIRECTIVE = re.compile(r"^[^\S\n]*#(?:!|SBATCH|PBS|BSUB|flux)", re.M)
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# Words that begin a wish. The first word of a piece, or the second behind a small one.
WISHES = re.compile(
    r"\W*(?:(?:please|pls|also|and|then|now|i (?:also )?(?:want|need|would like)(?: to| it to| you to)?|can you"
    r"|could you|make sure(?: to| that| it)?|it should|should|let it|have it|with|ok(?:ay)?|it has to|it must)\W+)*"
    r"(?:add|use|set|make|put|copy|pin|bind|profile|start|launch|log|save|send|write|print|load|install|download|compile"
    r"|enable|disable|turn|switch|limit|increase|reduce|raise|lower|change|replace|swap|remove|drop|comment|run"
    r"|record|track|plot|resume|restart|checkpoint|upload|sync|back ?up|notify|mail|monitor|clean|delete"
    r"|move|rename|name|call|pass|export|unset|activate|mount|stage|exclude|avoid|wait|dump|trace|allow|ignore"
    r"|freeze|shuffle|split|store|do ?n[o']?t|never|no more|without)\b",
    re.I,
)
# Behind a number: it tells of the model or the data, for which a request has no field.
DESCRIBED = re.compile(
    r"\s?(?:[MBGK]|bn|million|billion)?\s*-?(?:param\w*|samples?|images?|pictures?|photos|classes|files)\b|\s?(?:million|billion)\b",
    re.I,
)
OF_CARD = re.compile(r"\b(?:[avhlgb]h?\d{2,3}|mi\d{3}\w?)(?:-| )$", re.I)  # `v100-32`: the memory of the card
SHORT_OPTION = 2  # `-N` names an option rather than giving one
# Numbers that count nothing of a job: marks of a list, and what is only told.
MARK = re.compile(
    r"\)|(?<=[:.;!?]\s\d)\.\s+[^\W\d_]"
    r"|\s+(?:things|questions|steps|problems|tries|times|people|of us|points|ways|options)\b"
)
SPELT = re.compile(
    r"\b(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|oh|null|double|[a-z])\b[ -]*){4,}", re.I
)  # a number or a name said sign by sign
TAKES = re.compile(r"\b(?:takes?|took|lasts?|needs? about|dauert|dure|tarda)\s+(?:about |around |~ ?|only )?$", re.I)
FILE_WORD = re.compile(r"[\s-]*(?:file|script|job|submission)", re.I)
# A name as a project has it: letters and a digit or an underscore, no path, no file, no version.
VERSION = re.compile(
    r"\b(?!version|about|by|of"
    r"|to)[A-Za-z][\w+-]+ (?:version )?v?\d+\.\d+(?:\.\d+)?(?![\w.]*[A-Za-z%])"
)
ODD_NAME = re.compile(r"(?=[\w.-]*[A-Za-z])(?=[\w.-]*[\d_])[A-Za-z][\w-]{2,30}")
LONE_NAME = re.compile(
    r"[A-Z]{2,6}\d{1,8}|[a-z]{3}\d{3}|[a-z]{1,6}\d{1,8}[_-][a-z]{1,8}(?:-[a-z]{2,4})?"
    r"|[a-z]{4}-[a-z]+-gpu"
)


def unplaced(
    text: str,
    request: JobRequest,
    placed: Iterable[Span] = (),
    also: Iterable[str] = (),
    before: JobRequest | None = None,
    changes: Callable[[str], bool] | None = None,
) -> tuple[str, ...]:
    """The pieces of a message that the request holds nothing of, in the person's words and in their order.

    placed: stretches of the text that a reader has answered for; also: words that stand somewhere beside the request;
    before: the request that this message changed, whose names and times it may name as what is left; changes: whether
    a piece that begins with no order is one all the same.
    """
    if len(text) > LONGEST or text.count("\n") > 12:
        return ()
    pasted = DIRECTIVE.search(text)
    text = text[: pasted.start()] if pasted else text
    line, mentions = find_mentions(text)
    held, was = HeldWords(request, also), HeldWords(before or JobRequest(), ())
    spans = [*placed, *_idle(text), *((one.start, one.end) for one in stretches(text))]
    left = [one for one in _weighty(text, mentions) if not _inside(one.start, one.end, spans)]
    open_mentions = [
        one for one in left if not (held.has(one, text) or _is_old(request, one, was) or _told_aside(line, one))
    ]
    found = [_around(text, one, spans, mentions) for one in open_mentions]
    found += [
        piece for piece in _wishes(text, mentions, spans, held, changes) if not any(_overlap(piece, f) for f in found)
    ]
    quoted = (" ".join(text[a:b].split()).strip(" .,;:!?*`") for a, b in sorted(_apart(found)))
    return tuple(dict.fromkeys(one for one in quoted if one))[:MOST]


def apart(pieces: Iterable[str]) -> tuple[str, ...]:
    """The pieces without those that another holds."""
    kept = list(dict.fromkeys(pieces))
    return tuple(one for one in kept if not any(one != other and one.lower() in other.lower() for other in kept))


def places(text: str, words: str) -> list[tuple[int, int]]:
    """Where these words stand in the text, blanks counting as one."""
    if not words.strip():
        return []
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words.split())) + r"(?!\w)"
    return [found.span() for found in re.finditer(pattern, text, re.I)]


def lone_account(text: str, request: JobRequest) -> tuple[str, Span] | None:
    """A name that stands alone between commas and is nothing else known: the account, where none was said."""
    if request.account is not None or request.machine is None:
        return None
    line, mentions = find_mentions(text)
    held = HeldWords(request, ())
    named = [_span(token.mention) for token in line.tokens if token.mention]
    taken = [*named, *((m.start, m.end) for m in mentions if m.kind not in ("Term", "Name", "Quantity"))]
    words = list(re.finditer(r"[^\s,;]+", text))
    found = [
        match
        for match in words
        if LONE_NAME.fullmatch(match[0])
        and not _inside(match.start(), match.end(), taken)
        and not lexicon().knows(fold(match[0]))
        and match[0].lower() not in held.words
    ]
    if len(found) != 1:
        return None
    return found[0][0], found[0].span()


def _span(mention: Any) -> Span:
    return mention.start, mention.end


class HeldWords:
    """What a request says, as text and as numbers."""

    def __init__(self, request: JobRequest, also: Iterable[str]) -> None:
        self.machine = request.machine
        self.beside = f" {' '.join(also := tuple(also)).lower()} "
        self.words = tuple(str(value).lower() for value in (*_leaves(request), *also))
        self.text = f" {' '.join(self.words)} "
        self.numbers = {float(one) for one in _leaves(request) if isinstance(one, int)} | set(_sizes(request))
        self.seconds = {_seconds(match) for match in SECONDS.finditer(self.text)} | {
            float(request.signal.seconds) if request.signal else -1.0
        }

    def says(self, text: str) -> bool:
        plain = re.escape(text.lower().strip("'\"`"))
        return bool(plain) and re.search(rf"(?<![\w-]){plain}(?![\w-])", self.text) is not None

    def notes(self, text: str) -> bool:
        """Whether it stands beside the request: in what an edit of a script wrote."""
        return re.search(rf"(?<![\w.]){re.escape(text)}(?![\w.])", self.beside) is not None

    def has(self, mention: Mention, text: str) -> bool:
        whole = _token(text, mention)
        if whole != mention.text and (self.says(whole) or self.notes(whole)):
            return True
        if mention.kind == "Quantity" and isinstance(mention.value, int | float):
            if mention.value == 0 or (mention.value <= 1 and not mention.text[:1].isdigit()):
                return True  # an article, in most languages
            return (
                mention.value in self.numbers
                or mention.unit in DESCRIBING
                or self.says(mention.text)
                or self.notes(f"{mention.value:g}")
            )
        if mention.kind == "Duration":
            return float(mention.value) in self.seconds or self.says(mention.text)
        if mention.kind == "Option" and len(str(mention.value)) <= SHORT_OPTION:
            return True
        if mention.kind == "Queue" and str(mention.value).lower() in self.text:
            return True
        if mention.kind in ("Option", "Variable"):
            name, _, value = str(mention.value).partition("=")
            return (self.says(name) or self.says(name.lstrip("-"))) and (
                not value or self.says(value) or value.lower() in self.text
            )
        if mention.kind == "Name" and "@" not in mention.text:
            plain = mention.text.lower()
            return plain in self.words or self.notes(plain) or plain.replace(" ", "/") in self.text
        if mention.kind == "Machine" and not self.machine:
            return True  # which one is asked
        return self.says(str(mention.value)) or self.says(mention.text)


def _token(text: str, mention: Mention) -> str:
    """The whole word that a mention stands in: of `1e-4` more than its digit."""
    if mention.end > len(text):
        return mention.text
    start = max(text.rfind(sign, 0, mention.start) for sign in " \t\n,;(") + 1
    ends = [end for sign in " \t\n,;)" if (end := text.find(sign, mention.end)) >= 0]
    return text[start : min(ends, default=len(text))].strip(".!?:'\"`")


def _leaves(value: Any) -> Iterator[Any]:
    """Every plain value in a request, those of its parts too; where they were heard is none of them."""
    if is_dataclass(value):
        for one in fields(value):
            if one.name not in ("heard", "why"):
                yield from _leaves(getattr(value, one.name))
    elif isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    elif value not in (None, "") and not isinstance(value, bool):
        yield value


def _sizes(request: JobRequest) -> Iterator[float]:
    """Products that a person may say in place of their parts."""
    if request.nodes and request.gpus_per_node:
        yield float(request.nodes * request.gpus_per_node)
    if request.array:
        yield float(request.array.tasks)


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds = map(int, match.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def _weighty(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    spans = [_span(m) for m in mentions]
    addresses = [Mention("Name", *m.span(), m[0], m[0]) for m in ADDRESS.finditer(text)]
    versions = [m for m in VERSION.finditer(text) if not _inside(*m.span(), spans)]
    named = [*addresses, *(Mention("Name", *m.span(), m[0], m[0]) for m in versions), *_odd_names(text, mentions)]
    kept = [m for m in mentions if m.kind in WEIGHTY and not _only_describes(text, m)]
    kept = [m for m in kept if not any(_overlap(_span(m), _span(a)) for a in addresses)]
    return sorted([*kept, *named], key=lambda m: m.start)


def _only_describes(text: str, mention: Mention) -> bool:
    """Whether a number is a mark of a list, or tells of the model or the data."""
    of_card = OF_CARD.search(text, max(0, mention.start - 12), mention.start)
    return bool(of_card or DESCRIBED.match(text, mention.end) or MARK.match(text, mention.end))


def _odd_names(text: str, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Names such as projects have that stand alone between commas or other mentions, and that no reader knows."""
    edges = {m.end for m in mentions} | {m.end() for m in re.finditer(r"[,;:(]|^|\.\s", text)}
    starts = {m.start for m in mentions} | {m.start() for m in re.finditer(r"[,;)]|$|\.(?:\s|$)", text)}
    for match in re.finditer(r"[^\s,;:()]+", text):
        word = match[0].rstrip(".!?")
        start, end = match.start(), match.start() + len(word)
        before, behind = len(text[:start].rstrip()), len(text) - len(text[end:].lstrip())
        alone = (before in edges or not text[:start].strip()) and (behind in starts or end in starts)
        odd = ODD_NAME.fullmatch(word) and not lexicon().knows(fold(word))
        if alone and odd and not any(_overlap((start, end), _span(m)) for m in mentions):
            yield Mention("Name", start, end, word, word)


def _idle(text: str) -> Iterator[Span]:
    """Sentences that ask, and clauses about other runs: what they name is wished by nobody."""
    yield from (match.span() for match in SPELT.finditer(text))
    yield from ((a, b) for a, b in sentences(text) if is_question(text[a:b]) or text[a:b].rstrip().endswith("?"))


def _is_old(request: JobRequest, mention: Mention, was: HeldWords) -> bool:
    """Whether a name belongs to the machine that the job leaves, or to the request before the change."""
    if mention.kind in ("Path", "Duration", "Option", "Variable", "Machine") and was.has(mention, mention.text):
        return True
    return request.source_machine is not None and mention.kind in ("Account", "Queue")


def _told_aside(line: Line, mention: Mention) -> bool:
    """Whether the words around it say that it is not wanted, was so, may be so later, or is somebody else's."""
    at = next((i for i, token in enumerate(line.tokens) if token.start <= mention.start < max(token.end, 1)), None)
    if at is None:
        return False
    left = line.text[max(0, mention.start - 30) : mention.start]
    if mention.kind == "Duration" and TAKES.search(left):
        return True
    if mention.kind == "Queue" and FILE_WORD.match(line.text, mention.end):
        return True
    if mention.kind == "Path" and str(mention.value).startswith("torch.distributed"):
        return True
    return is_past(line, at) or is_later(line, at) or aside(line, at) is not None


def _around(text: str, mention: Mention, spans: Sequence[Span], mentions: Sequence[Mention]) -> Span:
    """The piece that a mention stands in, where it is short and all of it open; else the mention, its neighbours."""
    start, end = _piece_of(text, mention.start, mention.end)
    taken = any(_overlap((start, end), span) for span in spans)
    taken = taken or any(_overlap((start, end), _span(m)) for m in mentions if m is not mention)
    if not taken and len(text[start:end].split()) <= MOST_WORDS:
        return start, end
    before = re.search(r"(?:[^\s,;:()]+\s+){0,2}[^\s,;:()]*$", text[start : mention.start])
    behind = re.match(
        r"[^\s,;:()]*(?:\s+[^\s,;:()]+)?" if mention.kind == "Quantity" else r"[^\s,;:()]*", text[mention.end : end]
    )
    return mention.start - (len(before[0]) if before else 0), mention.end + (behind.end() if behind else 0)


def _piece_of(text: str, start: int, end: int) -> Span:
    cuts = [0, *(m.end() for m in PIECE.finditer(text) if m.end() <= start)]
    stops = [*(m.start() for m in PIECE.finditer(text) if m.start() >= end), len(text)]
    return cuts[-1], stops[0]


def _wishes(
    text: str,
    mentions: Sequence[Mention],
    spans: Sequence[Span],
    held: HeldWords,
    changes: Callable[[str], bool] | None,
) -> Iterator[Span]:
    """Pieces that begin like a wish and hold nothing that any reader made something of."""
    known = [_span(m) for m in mentions if m.kind not in ("Term", "Name", "Rank", "LineNumber", "JobId")]
    at = 0
    for cut in [*PIECE.finditer(text), None]:
        end = cut.start() if cut else len(text)
        piece = text[at:end]
        untaken = bool(piece.strip()) and not any(_overlap((at, end), span) for span in (*spans, *known))
        beside = changes if at or cut else None  # a message of one piece is answered as a whole
        if untaken and (WISHES.match(piece) or (beside and len(piece.split()) > FEW and beside(piece))):
            words = [
                w for w in re.findall(r"(?<![\w.])[^\W\d_][\w-]{2,}", WISHES.sub("", piece)) if w.lower() not in COMMON
            ]
            if words and len(piece.split()) <= 2 * MOST_WORDS and not all(held.says(word) for word in words):
                yield at, end
        at = cut.end() if cut else end


# What a job itself is called, and words that carry no wish of their own.
COMMON = spoken_words("common")


def _inside(start: int, end: int, spans: Iterable[Span]) -> bool:
    return any((a <= start and end <= b) or (a < end and start < b) for a, b in spans)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _apart(found: Iterable[Span]) -> list[Span]:
    """Spans that do not overlap, joined where they touch."""
    out: list[Span] = []
    for one in sorted(found):
        if out and one[0] <= out[-1][1]:
            out[-1] = out[-1][0], max(out[-1][1], one[1])
        else:
            out.append(one)
    return out
