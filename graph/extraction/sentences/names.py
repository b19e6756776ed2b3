"""All names in a text, each piece of text claimed once: files before accounts, accounts before machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from typing import Any

from graph.extraction.sentences.durations import CLOCK, DAYS_HOURS
from graph.extraction.sentences.labels import find_accounts, find_queues, is_plain_word
from graph.extraction.sentences.lexicon import fold, read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.machines import find_machines, guess_machines, people
from graph.extraction.sentences.methods import find_methods, guess_methods
from graph.extraction.sentences.patterns import filled, pattern
from graph.extraction.sentences.programs import find_programs
from graph.extraction.sentences.taken import Taken

SIZED = re.compile(r"-\d+(?:\.\d+)?[bm](?![a-z0-9])")
# Model names: a family from models.yaml with its version, size and variant, or a bare parameter count.


class Family:
    """A family of models; what takes its names apart is compiled once its bare name was seen."""

    def __init__(self, entry: dict[str, Any], data: dict[str, Any]) -> None:
        self.name: str = entry["name"]
        self.like = filled(entry["like"].replace("{sep}", "{SEP}"), data["fragments"])
        self.spaced = bool(entry.get("spaced"))
        self._parts = entry, data

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return _pattern(*self._parts)

    @cached_property
    def bare(self) -> re.Pattern[str]:
        return re.compile(self.like)


@cache
def _families() -> tuple[Family, ...]:
    data = read_yaml("models.yaml")
    return tuple(Family(entry, data) for entry in data["families"])


@cache
def _any_family() -> re.Pattern[str]:
    return re.compile("|".join(family.like for family in _families()))


def families_in(folded: str) -> Iterator[Family]:
    """The families whose bare name stands in the text."""
    if _any_family().search(folded):
        yield from (family for family in _families() if family.bare.search(folded))


def _pattern(entry: dict[str, Any], data: dict[str, Any]) -> re.Pattern[str]:
    """One family's pattern: a size before it, its name, version, variant and size behind it."""
    name, variants = entry["like"], data["variants"]
    parts = [r"(?<![\w./])(?:(?P<before>{SIZE}){PARAMETERS}[ -]+)?(?P<name>" + name + ")"]
    if version := entry.get("version"):
        parts.append(r"(?:{SEP}(?P<version>" + version + r")(?![\w]|\.\d|{SEP}[bm](?!\w))" + data["unit"] + ")?")
    if glued := entry.get("glued"):
        parts.append(f"(?P<glued>{glued})?")
    parts.append(r"(?:{SEP}(?P<first>" + entry.get("variant", variants) + r")(?!\w))?")
    if entry.get("size", True):
        parts.append(r"(?:[\s_-]{0,2}(?P<size>{SIZE}))?")
    parts.append(r"(?:{SEP}(?P<variant>" + variants + r")(?!\w))?")
    return re.compile(filled("".join(parts).replace("{sep}", "{SEP}"), data["fragments"]))


def find_models(text: str, folded: str) -> list[NameSpan]:
    """Every model name, as mentions that do not overlap."""
    found, taken = list(_of_hub(text, folded)), Taken()
    for span in found:
        taken.add(span.start, span.end)
    for family in families_in(folded):
        for match in family.pattern.finditer(folded):
            if taken.is_free(*match.span()):
                found.append(NameSpan("model", _written(family, match), *match.span()))
                taken.add(*match.span())
    for span in _unlisted(text, folded):
        if taken.is_free(span.start, span.end):
            found.append(span)
            taken.add(span.start, span.end)
    for match in pattern("models.yaml", "patterns", "bare").finditer(folded):
        if taken.is_free(*match.span()):
            found.append(NameSpan("model", _size(match["size"]), *match.span(), weak=True))
            taken.add(*match.span())
    return found


def _unlisted(text: str, folded: str) -> Iterator[NameSpan]:
    """Models of no family that is known, by their size, their ending, or the word before them."""
    for match in pattern("models.yaml", "patterns", "named").finditer(folded):
        if not _is_word(match["name"]):
            yield NameSpan("model", text[match.start() : match.end()], *match.span())
    for match in pattern("models.yaml", "patterns", "called").finditer(folded):
        start, end = match.span("name")
        # a plain word behind `model` may be anything: a name has a capital, a digit or a size
        if not _is_word(match["name"].split(" ")[0]) and re.search(r"\d|[a-z][A-Z]", text[start:end]):
            yield NameSpan("model", text[start:end], start, end)
    for match in pattern("models.yaml", "patterns", "cased").finditer(text):
        yield NameSpan("model", match[0], *match.span())


def _is_word(name: str) -> bool:
    """Whether a name, or the first part of it, is a word of the language or of the work here."""
    parts = re.split(r"[-_]", name)
    return any(is_plain_word(part) for part in (name, parts[0])) or bool(find_methods(parts[0], parts[0]))


def _of_hub(text: str, folded: str) -> Iterator[NameSpan]:
    """Names that hold those of two families, or stand behind their owner's: taken as they are written."""
    for match in pattern("models.yaml", "patterns", "hub").finditer(folded):
        named = _families_in(match["name"])
        sized = SIZED.search(match["name"]) is not None
        if named > 1 or ((named or sized) and match["owner"]):
            yield NameSpan("model", text[match.start("name") : match.end("name")], *match.span())


def _families_in(name: str) -> int:
    """How many families a name holds; GPT-J is one, not GPT beside it."""
    taken: list[tuple[int, int]] = []
    for family in families_in(name):
        match = family.pattern.search(name)
        if match and not any(a < match.end() and match.start() < b for a, b in taken):
            taken.append(match.span())
    return len(taken)


def _written(family: Family, match: re.Match[str]) -> str:
    """Llama-3.1-8B, GPT-2 XL, ViT-B/16: the family's name, then version, variant and size as said."""
    got = match.groupdict()
    pieces = [family.name]
    if got.get("version"):
        glue = "" if family.name in ("Qwen", "YOLO", "DINO") else "-"
        pieces.append(f"{glue}{got['version'].upper() if got['version'][0] == 'v' else got['version']}")
    if got.get("glued"):
        pieces.append(got["glued"])
    for name in ("first", "size", "before", "variant"):
        if value := got.get(name):
            pieces.append((" " if family.spaced else "-") + _case(name, value))
    return "".join(pieces)


def _case(name: str, value: str) -> str:
    if name in ("size", "before"):
        return _size(value)
    return value.upper() if len(value.split("/")[0]) <= 3 else value


def _size(value: str) -> str:
    number = re.match(r"[\dx.]+", value.replace(" ", ""))
    unit = "M" if re.search(r"\d\s?m(?![a-z])|million", value) else "B"  # `7 mrd`, `7 mil millones` are billions
    return f"{number[0] if number else value}{unit}"


@cache
def _noise() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in read_yaml("labels.yaml")["noise"])


def find_names(text: str, taken: Iterable[NameSpan] = (), machine_before: str | None = None) -> list[NameSpan]:
    """Every name, none overlapping another; taken are pieces that are spoken for already.

    machine_before: the machine of the turns before, whose queues are meant where no machine is named.
    """
    folded = fold(text)
    claims = Claims(taken)
    claims.add(find_programs(text, folded))
    claims.add(find_accounts(text, folded))
    machines = claims.free(find_machines(text, folded))
    persons = people(folded, machines)
    claims.add(NameSpan("noise", "", one.start, one.end) for one in persons)
    machines = [one for one in machines if one not in persons]
    guessed = machines or claims.free(guess_machines(folded, []))
    known = frozenset((machine_before,)) if machine_before else frozenset()
    claims.add(find_queues(text, folded, frozenset(m.value for m in guessed) or known))
    claims.add(NameSpan("noise", m[0], *m.span()) for pattern in _noise() for m in pattern.finditer(folded))
    claims.add(NameSpan("clock", text[m.start() : m.end()], *m.span()) for m in CLOCK.finditer(folded))
    claims.add(NameSpan("clock", m["value"], *m.span("value")) for m in DAYS_HOURS.finditer(folded))
    claims.add(find_models(text, folded))
    claims.add(find_methods(text, folded))
    claims.add(guess_methods(folded))
    claims.add(machines)
    claims.add(find_machines(text, _without(folded, claims.found)))
    if len({m.value for m in machines}) < 2:
        claims.add(guess_machines(folded, list(claims.found)))
    return claims.found


def _without(folded: str, taken: Iterable[NameSpan]) -> str:
    """The text with taken pieces blanked: a shorter name may stand beside them (`mn5` in "mn5 acc partition")."""
    letters = list(folded)
    for mention in taken:
        letters[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(letters)


class Claims:
    """Mentions taken so far; a later one that overlaps an earlier one is dropped."""

    def __init__(self, taken: Iterable[NameSpan]) -> None:
        self.found: list[NameSpan] = []
        self._taken = Taken()
        self.add(taken)

    def free(self, mentions: Iterable[NameSpan]) -> list[NameSpan]:
        return [m for m in mentions if self._taken.is_free(m.start, m.end)]

    def add(self, mentions: Iterable[NameSpan]) -> None:
        for mention in mentions:
            if mention.end > mention.start and self._taken.is_free(mention.start, mention.end):
                self.found.append(mention)
                self._taken.add(mention.start, mention.end)
