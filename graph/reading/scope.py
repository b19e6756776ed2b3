"""What a stretch of a message is: denied, told, supposed, or somebody else's. The one rule that every reader obeys.

A stretch begins at the word that opens it (`don't`, `my boss says`, `if I took`) and ends with its phrase: at a stop,
at a word that turns back, or at an "and" behind which an order or a number begins. What is denied may be taken away,
and nothing is set by it, unless a reader's own words hold the denial (`no mail`). The rest says nothing of this job.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from graph.reading.edits import Add, Edit, Remove, Set
from graph.reading.frame import NO_NAME
from graph.reading.utterance import Mention, Scope
from knowledge.data_file import read_data
from knowledge.types import JobRequest

Span = tuple[int, int]
# Fields whose value is a name that the person gives.
NAMED = ("account", "queue", "reservation", "constraint", "environment", "modules", "container", "nodelist")
# What opens a stretch, its scope, and what ends it.
KINDS: tuple[tuple[str, Scope, str], ...] = (
    ("others", "others", "sentence"),
    ("hypothetical", "hypothetical", "sentence"),
    ("believed", "past", "belief"),
    ("past", "past", "account"),
    ("negated", "negated", "phrase"),
    ("without", "negated", "noun"),
)
# What a word of correction may take back by another name.
NAMES = ("Machine", "Queue", "Account", "Framework", "Method", "Gpu", "Model")
# `Why not DDP?` asks.
WHY = re.compile(r"(?i)(?:\b(?:why|warum|wieso|pourquoi|por qu[eé]|perch[eé])|为什么)\W*$")
# Characters of a clause that may stand outside of the stretch that it is.
BEGINS, ENDS = 14, 3


@dataclass(frozen=True, slots=True)
class ScopeStretch:
    """start, body, end: in characters of the text, body behind the word that opens it; scope: what its words are.

    keeps: a denial that leaves a thing as it is.
    """

    start: int
    body: int
    end: int
    scope: Scope
    text: str
    keeps: bool = False


@lru_cache(maxsize=256)
def stretches(text: str) -> tuple[ScopeStretch, ...]:
    """The stretches that are not plainly wanted, in the order of the text, none overlapping another."""
    out: list[ScopeStretch] = []
    for one in sorted(_found(text), key=lambda s: (s.start, -s.end)):
        if not out or one.start >= out[-1].end:
            out.append(one)
    return tuple(out)


@cache
def words(name: str) -> re.Pattern[str]:
    """A list of scope.yaml as one pattern; lists named in braces are filled in."""
    lists: dict[str, list[str]] = read_data(Path(__file__).parent / "scope.yaml")

    def filled(one: str) -> str:
        return re.sub(r"\{([a-z]+)\}", lambda named: "(?:" + filled("|".join(lists[named[1]])) + ")", one)

    return re.compile(filled("|".join(lists[name])), re.I)


def _found(text: str) -> Iterator[ScopeStretch]:
    for opening, scope, ending in KINDS:
        for found in words(opening).finditer(text):
            stop = words(ending).search(text, found.end())
            end, start = stop.start() if stop else len(text), found.start()
            if words("behind").search(found[0]):
                before = [m.end() for m in words("phrase").finditer(text, 0, start)]
                start = before[-1] if before else 0
            body = start if start < found.start() else found.end()
            yield ScopeStretch(
                start,
                body,
                end,
                scope,
                text[start:end].strip(),
                scope == "negated" and words("keeps").search(text, found.end(), end) is not None,
            )


def stretch_at(text: str, at: int) -> ScopeStretch | None:
    """The stretch that a reader's words, which begin at this place, stand in behind the word that opens it."""
    return next((one for one in stretches(text) if one.body <= at < one.end), None)


def denials(text: str) -> tuple[ScopeStretch, ...]:
    """What the text says is not wanted, or is to stay."""
    return tuple(one for one in stretches(text) if one.scope == "negated")


def denied(text: str, places: Iterable[Span]) -> tuple[Span, ...]:
    """Of the names that stand at these places those that are denied: the first behind a word of denial, but for small
    words, each that `or` joins to it (behind a `without` also `and`), and one that is said to be no option.

    `Why not DDP?` asks, and denies nothing.
    """
    small = rf"(?:[\s\u2019'-]*\b(?:{words('between').pattern})\b)*[\s\u2019'-]*"
    found: list[Span] = []
    ordered = sorted(set(places), key=lambda place: (place[0], -place[1]))
    for opening in words("denies").finditer(text):
        if WHY.search(text, 0, opening.start()):
            continue
        both = words("without").search(opening[0])
        joined = f"(?:{words('alternatives').pattern}{'|' + words('together').pattern if both else ''})"
        at, gap = opening.end(), small
        for start, end in ordered:
            if start < at:
                continue
            if not re.fullmatch(gap, text[at:start], re.I):
                break
            found.append((start, end))
            at, gap = end, joined + small
    refused = [place for place in ordered if words("refused").match(text, place[1])]
    return tuple(dict.fromkeys((*found, *refused)))


def without_corrected(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions without those that the next one of their kind takes the place of: `Stampede3... no sorry, Vista`."""
    kept: list[Mention] = []
    for one in mentions:
        last = kept[-1] if kept else None
        if last and last.kind == one.kind in NAMES and words("corrects").fullmatch(text, last.end, one.start):
            kept.pop()
        kept.append(one)
    return tuple(kept)


def scope_of(text: str, start: int, end: int) -> Scope:
    """What a clause is as a whole: the scope of the stretch that all but covers it, else plain."""
    most = next((one for one in stretches(text) if one.start <= start + BEGINS and one.end >= end - ENDS), None)
    return most.scope if most and most.scope != "negated" else "plain"


def wanted(text: str, *but: Scope) -> str:
    """The text with the stretches blanked (but those of these scopes), every other letter at its place."""
    letters = list(text)
    for one in stretches(text):
        if one.scope not in but:
            letters[one.start : one.end] = " " * (one.end - one.start)
    return "".join(letters)


def sensible(edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits; none where a name among their values is a small word: `the reservation out` names no other one."""
    named = (one for one in edits if isinstance(one, Set | Add) and one.field in NAMED)
    return () if any(NO_NAME.fullmatch(str(one.value)) for one in named) else edits


def obeyed(text: str, edits: Sequence[Edit], spans: Sequence[Span], request: JobRequest) -> list[Edit]:
    """A reader's edits as the scope of its words allows them: what is denied is taken away where the job has it.

    spans: where the words stand in the text.
    """
    edits = sensible(edits)
    around = [stretch_at(text, start) for start, _ in spans]
    inside = around[0] if around and all(around) else None
    if inside is None:
        return list(edits)
    if inside.scope != "negated" or inside.keeps:
        return []
    return [out for one in edits for out in _taken_away(one, request)]


def _taken_away(edit: Edit, request: JobRequest) -> Iterator[Edit]:
    if isinstance(edit, Remove) or getattr(edit, "value", True) in (None, False, ()):
        yield edit
    elif isinstance(edit, Set | Add) and (held := getattr(request, edit.field)):
        if not isinstance(edit, Add):
            yield Remove(edit.field, None, edit.words)
        elif edit.value in held:
            yield Remove(edit.field, edit.value, edit.words)
