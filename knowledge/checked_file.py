"""What was written before, a YAML file or the JSON of a row, validated by pydantic into frozen dataclasses."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from knowledge.data_file import parse_file, parse_json
from knowledge.errors import FactsError

T = TypeVar("T")
LOG = logging.getLogger(__name__)


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_checked(path: Path, kind: type[T]) -> T:
    """The file as one of that kind. Raises FactsError with file, key and reason."""
    data = parse_file(path)
    try:
        value: T = adapter(cast(Any, kind)).validate_python(data)
    except ValidationError as error:
        raise FactsError(f"{path}: {describe(error)}") from error
    return value


def read_stored(text: str, kind: type[T]) -> T | None:
    """What a row holds; None, and a line in the log, where it is damaged or another version wrote it.

    Keys that only a newer version knows are left out.
    """
    try:
        value: T = adapter(cast(Any, kind)).validate_python(parse_json(text))
    except (ValueError, TypeError, RecursionError) as error:
        LOG.warning("a stored %s cannot be read and is left out (%s)", kind.__name__, type(error).__name__)
        return None
    return value


def reason(fault: ErrorDetails) -> str:
    return "unknown key" if fault["type"] == "unexpected_keyword_argument" else fault["msg"]


def describe(error: ValidationError) -> str:
    """The first few faults as `key: reason`, and how many more there are."""
    faults = [f"{'.'.join(str(part) for part in e['loc']) or 'file'}: {reason(e)}" for e in error.errors()]
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more
