"""Model names: a family from models.yaml with its version, size and variant, or a bare parameter count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.extraction.sentences.lexicon import read_yaml
from graph.extraction.sentences.line import NameSpan
from graph.extraction.sentences.patterns import filled, pattern


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    pattern: re.Pattern[str]
    spaced: bool


@cache
def families() -> tuple[Family, ...]:
    data = read_yaml("models.yaml")
    return tuple(_family(entry, data) for entry in data["families"])


def _family(entry: dict[str, Any], data: dict[str, Any]) -> Family:
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
    text = filled("".join(parts).replace("{sep}", "{SEP}"), data["fragments"])
    return Family(entry["name"], re.compile(text), bool(entry.get("spaced")))


def find_models(text: str, folded: str) -> list[NameSpan]:
    """Every model name, as mentions that do not overlap."""
    found = list(_of_hub(text, folded))
    for family in families():
        for match in family.pattern.finditer(folded):
            if not any(m.start < match.end() and match.start() < m.end for m in found):
                found.append(NameSpan("model", _written(family, match), *match.span()))
    for match in pattern("models.yaml", "patterns", "bare").finditer(folded):
        if not any(m.start < match.end() and match.start() < m.end for m in found):
            found.append(NameSpan("model", _size(match["size"]), *match.span(), weak=True))
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
    for family in families():
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
