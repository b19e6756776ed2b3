"""What a frame reads of one sentence, and the pieces that frames look for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.reading.edits import Edit
from knowledge.types import JobRequest

Span = tuple[int, int]
MOST_BETWEEN = 5  # plain words between two that were read, which go with them
# What may be a wish of its own: a number, an option, an order.
WISHES = re.compile(
    r"\d|--|\n|\b(?:re-?queue|use|add|set|load|run|chain|e?-?mail|copy|stage|start|put|bind|mount|make|call|name|source"
    r"|export|switch|change|drop|remove|exclusive|offline)\b",
    re.I,
)
PATH = r"(?<![\w./$:-])(?:~|\$\{?\w+\}?|\.{0,2})?/[\w./${}%+-]*[\w}]|(?<![\w./$-])\$\{?[A-Z]\w*\}?(?![\w/])"
# What nothing is called: small words that stand where a name could.
SMALL_WORD = (
    r"(?:in|at|and|for|is|with|without|instead|please|pls|to|too|as|it|but|from|called|named|the|an?|this|that|there|then|my"
    r"|our|one|them|me|also|here|now|of|on|by|into|takes?|uses?|needs?|has|wants?|reads?|gets?|accepts?|run|runs|sync|start|launch|already|not|because|since|so|if|when|which|where|env\w*"
    r"|bitte|mit|von|im|und|ist|por|favor|con|de|del|et|avec|du|est|si|il|per)"
)
# What no queue, account, reservation, module or environment is called, though it may stand where the name would.
NO_NAME = re.compile(
    rf"(?:{SMALL_WORD}|out|off|away|again|back|should|shall|must|will|would|can|could|be|been|was|are|were|do|does|not|no"
    r"|only|still|gone|any|all|some|what|how|than|or|so)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Got:
    """The edits that one frame read of a sentence, and where their words stand in it."""

    edits: Sequence[Edit]
    spans: Sequence[Span]


Frame = Callable[[str, JobRequest], Got | None]


def words(text: str, *patterns: str) -> list[Span]:
    """Where the patterns match in a text."""
    return [match.span() for one in patterns for match in re.finditer(one, text, re.I)]


def blanked(text: str, spans: Sequence[Span]) -> str:
    """The sentence without these words, and without the few plain ones that stand between two of them."""
    letters = list(text)
    places = sorted(spans)
    for (start, end), (following, _) in zip(places, [*places[1:], (0, 0)], strict=True):
        between = text[end:following]
        plain = following > end and not WISHES.search(between) and len(between.split()) <= MOST_BETWEEN
        stop = following if plain else end
        letters[start:stop] = " " * (stop - start)
    return "".join(letters)
