"""What a request may mean where the rules left a field empty: values that its own words bear, and those words.

A model is offered these and nothing else, so it cannot name a machine or a number that nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from graph.extraction.sentences.lexicon import fold
from knowledge.catalogue import Catalogue
from knowledge.types import JobRequest

FIELDS = ("machine", "framework", "strategy", "nodes", "gpus_per_node")
MOST_LETTERS = 4000
# How many words may stand between a number and what it counts.
APART = 2
DENIAL = 5
# A numeral before one of these is what the rules read best: where they did not take it, they had a reason.
PLAIN = frozenset({"node", "nodes", "gpu", "gpus"})
# A framework that was said rules out strategies of another one (how they begin).
NOT_WITH = {"pytorch": "zero", "deepspeed": "fsdp"}
Value = str | int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value that a field may have, and the words that bear it."""

    field: str
    value: Value
    words: str


@cache
def tables() -> Mapping[str, Any]:
    text = Path(__file__).with_name("loose.yaml").read_text(encoding="utf-8")
    read: Mapping[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return read


def candidates(text: str, request: JobRequest, catalogue: Catalogue) -> tuple[Candidate, ...]:
    """The values that the text bears for the empty fields; none that rests on words which say something else."""
    text = text[:MOST_LETTERS]
    folded = fold(text)
    spoken = [fold(heard.words) for heard in request.heard if heard.words]
    found: list[Candidate] = []
    for field, value, start, end in borne(folded, catalogue):
        free = getattr(request, field) is None and not any(folded[start:end] in words for words in spoken)
        fits = field != "strategy" or not str(value).startswith(NOT_WITH.get(request.framework or "", "?"))
        if free and fits and not denied(folded, start):
            one = Candidate(field, value, text[start:end])
            found += [] if any((c.field, c.value) == (field, value) for c in found) else [one]
    return tuple(found)


def borne(folded: str, catalogue: Catalogue) -> Iterator[tuple[str, Value, int, int]]:
    """Field, value, and where the words stand."""
    for name, site in sites(catalogue).items():
        for match in re.finditer(rf"\b{re.escape(site)}\b", folded):
            yield "machine", name, match.start(), match.end()
    for kind in ("strategy", "framework"):
        for pattern, values in tables()[kind].items():
            for match in re.finditer(pattern, folded):
                yield from ((kind, value, match.start(), match.end()) for value in values)
    words = list(re.finditer(r"[a-z0-9'-]+", folded))
    for at, word in enumerate(words):
        number = as_number(word[0])
        if number is None:
            continue
        for later in words[at + 1 : at + 2 + APART]:
            if as_number(later[0]) is not None:
                break
            field = next((f for f in ("nodes", "gpus_per_node") if later[0] in tables()[f]), None)
            if field and not (word[0].isdecimal() and later[0] in PLAIN):
                yield field, number, word.start(), later.end()
                break


def as_number(word: str) -> int | None:
    if word.isdecimal() and word.isascii() and len(word) < 5:
        return int(word) or None
    found = tables()["numbers"].get(word)
    return int(found) if found else None


def sites(catalogue: Catalogue) -> Mapping[str, str]:
    """Machine -> its site's short name, for sites that have one machine here."""
    first = {name: re.match(r"[\w-]+", fold(cluster.site)) for name, cluster in catalogue.clusters.items()}
    short = {name: match[0] for name, match in first.items() if match and len(match[0]) > 2}
    return {name: site for name, site in short.items() if list(short.values()).count(site) == 1}


def denied(folded: str, start: int) -> bool:
    """Whether words before it in the same sentence say that it is not wanted, or only ask about it."""
    sentence = re.split(r"[.!?;\n]", folded[:start])[-1]
    before = re.findall(r"[a-z']+", sentence)[-DENIAL:]
    return any(word in tables()["denied"] for word in before)
