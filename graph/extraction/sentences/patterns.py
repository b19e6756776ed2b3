"""Patterns kept as data: compiled once, with the file's own fragments filled in.

A file holds `fragments` (a name in capitals -> a piece that `{NAME}` stands for) and sections: a list of patterns, or
names with a pattern or a list of patterns that are tried as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from graph.extraction.sentences.lexicon import read_yaml

FRAGMENT = re.compile(r"\{([A-Z_]+)\}")


@cache
def _file(name: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    data: Mapping[str, Any] = read_yaml(name)
    return data, data.get("fragments", {})


def filled(text: str, fragments: Mapping[str, str]) -> str:
    """The text with every `{NAME}` replaced by its fragment, fragments in fragments too."""
    while FRAGMENT.search(text):
        text = FRAGMENT.sub(lambda m: fragments[m[1]], text)
    return text


@cache
def pattern(file: str, section: str, name: str) -> re.Pattern[str]:
    """One pattern by its name. Raises KeyError on a name that the file has not."""
    data, fragments = _file(file)
    value = data[section][name]
    return re.compile(filled("|".join(value) if isinstance(value, list) else value, fragments))


@cache
def pattern_list(file: str, section: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of a list, in order."""
    data, fragments = _file(file)
    return tuple(re.compile(filled(value, fragments)) for value in data[section])
