"""Strategies, frameworks and GPU models: patterns of methods.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from rapidfuzz.distance import OSA

from graph.extraction.sentences.lexicon import read_yaml
from graph.extraction.sentences.line import NameSpan

Patterns = Mapping[str, re.Pattern[str]]


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = read_yaml("methods.yaml")
    return data


def _pattern(patterns: list[str]) -> re.Pattern[str]:
    text = "|".join(patterns)
    for name in ("zero", "stage", "degree", "one", "two", "three", "sep"):
        text = text.replace("{" + name + "}", _data()[name])
    return re.compile(rf"(?<![a-z0-9_])(?:{text})")


@cache
def _kinds() -> Mapping[str, Patterns]:
    data = _data()
    return {
        "strategy": {value: _pattern(patterns) for value, patterns in data["strategies"].items()},
        "framework": {value: _pattern(patterns) for value, patterns in data["frameworks"].items()},
        "gpu": {"gpu": _pattern(data["gpus"])},
    }


def find_methods(text: str, folded: str) -> list[NameSpan]:
    """Strategies, frameworks and GPU models; an earlier one has the better claim to its words."""
    found = [
        NameSpan(kind, value, *match.span())
        for kind, patterns in _kinds().items()
        for value, pattern in patterns.items()
        for match in pattern.finditer(folded)
    ]
    cased: Mapping[str, str] = _data()["cased"]
    for value, pattern in cased.items():
        found += [NameSpan("framework", value, *match.span()) for match in re.finditer(pattern, text)]
    return found


def guess_methods(folded: str) -> list[NameSpan]:
    """Misspelt frameworks."""
    names: Mapping[str, str] = _data()["guessed"]
    found = []
    for match in re.finditer(r"(?<![\w./-])[a-z]{6,12}(?![\w])", folded):
        word = match[0]
        if word not in _data()["not_guessed"] and (name := _nearest(word)) is not None:
            found.append(NameSpan("framework", names[name], *match.span()))
    return found


@cache
def _nearest(word: str) -> str | None:
    names: Mapping[str, str] = _data()["guessed"]
    best = min(names, key=lambda name: OSA.distance(word, name))
    return best if word[0] == best[0] and OSA.distance(word, best) <= (2 if len(best) > 8 else 1) else None


def is_horovod(words: str) -> bool:
    """Horovod is data parallel for several frameworks: it names none."""
    return bool(re.match(r"horovod|hvd", words, re.IGNORECASE))


def hints(file_name: str) -> list[NameSpan]:
    """What a file's name says of the strategy or framework: train_fsdp.py, ds_config_zero2.json."""
    spaced = re.sub(r"[_.\-/]", " ", file_name.lower())
    return [
        NameSpan(m.kind, m.value, m.start, m.end, weak=True) for m in find_methods(spaced, spaced) if m.kind != "gpu"
    ]
