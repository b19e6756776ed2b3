"""Model names: a family from models.yaml with its version, size and variant, or a bare parameter count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.extraction.sentences.lexicon import read_yaml
from graph.extraction.sentences.line import Mention

SEP = r"[\s_-]{0,1}"
SIZE = (
    r"(?:\d{1,2}x)?\d+(?:\.\d+)?\s?(?:[bm]|billion|bn|million|mrd|milliarden|milliards|mil millones|miliardi)(?![\w/])"
)
PARAMETERS = r"(?:\s*-?\s*(?:parameters?|params?|parametern?|parametres|parametros|parametri|参数|パラメータ))?"
# A size by itself names a model only beside a word such as these.
MODEL_WORD = r"(?:llm|lm|model\w*|modell\w*|modele|modelo|modello|network|transformer|network|checkpoint|模型|モデル|모델|dense|moe|param\w*)"
BARE = re.compile(
    rf"(?<![\w.,/=-])(?P<size>\d+(?:\.\d+)?\s?(?:b|billion|bn|milliarden|milliards))(?!\w)(?:{PARAMETERS}[\s-]*{MODEL_WORD}|(?!\s*(?:tokens?|rows|images|samples|examples|items|files|users)))"
)


@dataclass(frozen=True, slots=True)
class Family:
    name: str
    pattern: re.Pattern[str]
    spaced: bool


@cache
def families() -> tuple[Family, ...]:
    data = read_yaml("models.yaml")
    return tuple(_family(entry, data["unit"], data["variants"]) for entry in data["families"])


def _family(entry: dict[str, Any], unit: str, variants: str) -> Family:
    version = entry.get("version")
    parts = [rf"(?<![\w./])(?:(?P<before>{SIZE}){PARAMETERS}[\s-]+)?(?P<name>{entry['like']})"]
    if version:
        parts.append(rf"(?:{SEP}(?P<version>{version})(?![\w]|\.\d|{SEP}[bm](?!\w)){unit})?")
    if entry.get("glued"):
        parts.append(rf"(?P<glued>{entry['glued']})?")
    size = rf"(?:[\s_-]{{0,2}}(?P<size>{SIZE}))?" if entry.get("size", True) else ""
    variant = entry.get("variant", variants)
    parts += [rf"(?:{SEP}(?P<first>{variant})(?!\w))?", size, rf"(?:{SEP}(?P<variant>{variants})(?!\w))?"]
    return Family(entry["name"], re.compile("".join(parts).replace("{sep}", SEP)), bool(entry.get("spaced")))


def find_models(text: str, folded: str) -> list[Mention]:
    """Every model name, as mentions that do not overlap."""
    found: list[Mention] = []
    for family in families():
        for match in family.pattern.finditer(folded):
            if not any(m.start < match.end() and match.start() < m.end for m in found):
                found.append(Mention("model", _written(family, match), *match.span()))
    for match in BARE.finditer(folded):
        if not any(m.start < match.end() and match.start() < m.end for m in found):
            found.append(Mention("model", _size(match["size"]), *match.span(), weak=True))
    return found


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
