"""Data files in YAML: parsed and validated once a change, then read back from what was kept of them (kept.py).

Texts of others in YAML and JSON are parsed here, too, so that what is nested without end is an error like any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from knowledge.errors import FactsError
from knowledge.kept import keep, kept
from knowledge.opening import LARGEST_SCRIPT, read_plain

T = TypeVar("T")


# So many lists and mappings in each other are no data of anybody's; libyaml would go on until the stack is full.
DEEPEST = 200
# Values that a text stands for, above those that are written in it: names of names of lists grow without end.
REPEATED = 100_000


@cache
def loader() -> Any:
    """libyaml's loader (ten times as fast as Python's), which gives up on what is nested too deep."""
    import yaml  # 30 ms that nobody pays who reads what was kept

    class Bounded(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        depth = nodes = 0

        def construct_document(self, node: Any) -> Any:
            if spelt_out(node, {}) > REPEATED + self.nodes:
                raise yaml.YAMLError("its names of values stand for more than can be read")
            return super().construct_document(node)

        def descend_resolver(self, node: Any, index: Any) -> None:
            self.depth += 1
            self.nodes += 1
            if self.depth > DEEPEST:
                raise yaml.YAMLError(f"more than {DEEPEST} lists or mappings in each other")
            super().descend_resolver(node, index)

        def ascend_resolver(self) -> None:
            self.depth -= 1
            super().ascend_resolver()

    return Bounded


def spelt_out(node: Any, known: dict[int, float]) -> float:
    """How many values a YAML node stands for with its names spelt out; endless where it holds itself."""
    if id(node) not in known:
        known[id(node)] = inf
        inside = node.value if isinstance(node.value, list) else ()
        parts = (part for one in inside for part in (one if isinstance(one, tuple) else (one,)))
        known[id(node)] = 1 + sum(spelt_out(part, known) for part in parts)
    return known[id(node)]


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text of others. Raises ValueError: it is none, or nested beyond what can be followed."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def parse_yaml(text: str | bytes) -> Any:
    """The value of a YAML text, by libyaml where that is there. Raises FactsError: it is none.

    That is also a number of 5,000 digits, the 45th of a month, or lists in lists without end.
    """
    import yaml

    try:
        return yaml.load(text, Loader=loader())
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise FactsError(f"not YAML: {' '.join(str(error).split())[:300]}") from error


def parse_file(path: Path) -> Any:
    """The value of a YAML file. Raises FactsError where it cannot be read."""
    try:
        return parse_yaml(read_plain(path, LARGEST_SCRIPT).decode())
    except FactsError as error:
        raise FactsError(f"{path}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FactsError(f"{path}: cannot be read: {error}") from error


def read_data(path: Path) -> Any:
    """What parse_file gives, kept between processes."""
    return _kept_of(path, "", lambda: parse_file(path))


def read_facts(path: Path, kind: type[T]) -> T:
    """The file as one of that kind, made of this package's frozen dataclasses, kept between processes.

    Raises FactsError with file, key and reason.
    """

    def validate() -> T:
        from knowledge.checked_file import read_checked  # loads pydantic: 0.2 s

        return read_checked(path, kind)

    return _kept_of(path, str(kind), validate)


def _kept_of(path: Path, kind: str, make: Callable[[], T]) -> T:
    name = f"{path.stem}-{hashlib.sha256(f'{path} {kind}'.encode()).hexdigest()[:16]}"
    found: T | None = kept(name, (path,))
    if found is None:
        found = make()
        keep(name, (path,), found)
    return found
