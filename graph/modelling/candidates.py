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

from graph.extraction.sentences.lexicon import fold
from knowledge.catalogue import Catalogue
from knowledge.data_file import read_data
from knowledge.types import JobRequest

FIELDS = ("machine", "framework", "strategy", "nodes", "gpus_per_node", "total_gpus")
# A number of GPUs is one of these; where one is known, it is not asked what another number means.
COUNTS = ("gpus_per_node", "total_gpus")
# A longer message is cut here before a model sees it.
MOST_LETTERS = 4000
# How many words may stand between a number and what it counts.
APART = 2
DENIAL = 5
PUNCTUATION = re.compile(r"[.,:;!?()\n]")
# A numeral before one of these is what the rules read best: where they did not take it, they had a reason.
PLAIN = frozenset({"node", "nodes", "gpu", "gpus"})
# A framework that was said rules out strategies of another one (how they begin).
NOT_WITH = {"pytorch": "zero", "deepspeed": "fsdp"}
Value = str | int


@dataclass(frozen=True, slots=True)
class FieldCandidate:
    """A value that a field may have, and the words that bear it."""

    field: str
    value: Value
    words: str


@cache
def tables() -> Mapping[str, Any]:
    read: Mapping[str, Any] = read_data(Path(__file__).with_name("loose.yaml"))
    return read


def candidates(text: str, request: JobRequest, catalogue: Catalogue) -> tuple[FieldCandidate, ...]:
    """The values that the text bears for the empty fields; none that rests on words which say something else."""
    folded = fold(text)
    spoken = [fold(heard.words) for heard in request.heard if heard.words]
    found: list[FieldCandidate] = []
    for field, value, start, end in borne(folded, catalogue):
        together = COUNTS if field in COUNTS else (field,)
        free = all(getattr(request, one) is None for one in together) and not any(
            folded[start:end] in words for words in spoken
        )
        fits = field != "strategy" or not str(value).startswith(NOT_WITH.get(request.framework or "", "?"))
        if free and fits and not denied(folded, start):
            one = FieldCandidate(field, value, text[start:end])
            found += [] if any((c.field, c.value) == (field, value) for c in found) else [one]
    return highest_stage(found)


def highest_stage(found: list[FieldCandidate]) -> tuple[FieldCandidate, ...]:
    """Of ZeRO's stages only the highest that words bear: each shards what the ones below it do."""
    stages = [str(c.value) for c in found if str(c.value).startswith("zero")]
    return tuple(c for c in found if c.value == max(stages, default="") or c.value not in stages)


def borne(folded: str, catalogue: Catalogue) -> Iterator[tuple[str, Value, int, int]]:
    """Field, value, and where the words stand."""
    if machine := machine_meant(folded, catalogue):
        yield "machine", *machine
    for kind in ("strategy", "framework"):
        for pattern, values in tables()[kind].items():
            for match in re.finditer(pattern, folded):
                yield from ((kind, value, match.start(), match.end()) for value in values)
    yield from counted(list(re.finditer(r"[a-z0-9'-]+", folded)))


def counted(words: list[re.Match[str]]) -> Iterator[tuple[str, Value, int, int]]:
    """Numbers of nodes and of GPUs; whether GPUs are those of a node or all is for the reader to say."""
    nouns = dict.fromkeys(tables()["nodes"], ("nodes",)) | dict.fromkeys(tables()["gpus"], COUNTS)
    for at, word in enumerate(words):
        number = as_number(word[0])
        following = [later for later in words[at + 1 : at + 8] if later[0] not in tables()["between"]]
        for later in following[: 1 + APART] if number else ():
            apart = PUNCTUATION.search(word.string, word.end(), later.start())
            if apart or as_number(later[0]) is not None:
                break
            if later[0] in nouns:
                if not (is_read(word[0]) and later[0] in PLAIN) and (number == 1 or later[0].endswith("s")):
                    yield from ((field, number or 0, word.start(), later.end()) for field in nouns[later[0]])
                break


def is_read(word: str) -> bool:
    """A numeral, or a number word, that the rules read."""
    return word.isdecimal() or word in tables()["read"]


def machine_meant(folded: str, catalogue: Catalogue) -> tuple[Value, int, int] | None:
    """The one machine of which the words for a site, and those for its hardware if there are any, are true."""
    there = [(names, match) for site, names in places(catalogue).items() for match in words_of(site, folded)]
    if not there:
        return None
    left = frozenset.intersection(*(names for names, _ in there))
    told = [names for pattern, names in hardware(catalogue).items() if re.search(pattern, folded)]
    narrowed = frozenset.intersection(left, *told) if len(left) > 1 else left
    where = there[0][1]
    return (next(iter(narrowed)), where.start(), where.end()) if len(narrowed) == 1 else None


def words_of(name: str, folded: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"\b{re.escape(name)}\b", folded)


def as_number(word: str) -> int | None:
    if word.isdecimal() and word.isascii() and len(word) < 5:
        return int(word) or None
    found = tables()["numbers"].get(word)
    return int(found) if found else None


def places(catalogue: Catalogue) -> Mapping[str, frozenset[str]]:
    """A site's proper names, folded (Oak Ridge, Argonne, ALCF) -> its machines."""
    found: dict[str, set[str]] = {}
    for name, cluster in catalogue.clusters.items():
        for run in re.findall(r"[A-Z][\w-]+(?: [A-Z][\w-]+)*", cluster.site):
            proper = [word for word in run.split() if fold(word) not in tables()["no_place"]]
            for place in {" ".join(proper), *(word for word in proper if len(word) > 5)} - {""}:
                found.setdefault(fold(place), set()).add(name)
    return {place: frozenset(names) for place, names in found.items() if len(place) > 3}


def hardware(catalogue: Catalogue) -> Mapping[str, frozenset[str]]:
    """A pattern for words of hardware -> the machines that have it."""
    found: dict[str, set[str]] = {}
    for name, cluster in catalogue.clusters.items():
        for node in cluster.node_types:
            for word in re.findall(r"[a-z]+\d+[a-z]*", fold(node.gpus.model)):
                found.setdefault(rf"\b{word}s?\b", set()).add(name)
    return {p: frozenset(names) for p, names in (found | tables()["tells"]).items()}


def denied(folded: str, start: int) -> bool:
    """Whether words before it in the same sentence say that it is not wanted, or only ask about it."""
    sentence = re.split(r"[.!?;\n]", folded[:start])[-1]
    before = re.findall(r"[a-z']+", sentence)[-DENIAL:]
    return any(word in tables()["denied"] for word in before)
