"""Model names: a family from models.yaml with its version, size and variant, or a bare parameter count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from graph.extraction.sentences.lexicon import read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.patterns import filled, pattern
from graph.extraction.sentences.taken import Taken


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
    for match in pattern("models.yaml", "patterns", "bare").finditer(folded):
        if taken.is_free(*match.span()):
            found.append(NameSpan("model", _size(match["size"]), *match.span(), weak=True))
            taken.add(*match.span())
    return found


def _of_hub(text: str, folded: str) -> Iterator[NameSpan]:
    """Names that hold those of two families, or stand behind their owner's: taken as they are written."""
    for match in pattern("models.yaml", "patterns", "hub").finditer(folded):
        named = _families_in(match["name"])
        if named > 1 or (named and match["owner"]):
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
    unit = "M" if re.search(r"\dm|million", value.replace(" ", "")) and "milliard" not in value else "B"
    return f"{number[0] if number else value}{unit}"
