"""One YAML file, read and validated strictly by pydantic into frozen dataclasses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from knowledge.errors import FactsError
from knowledge.opening import LARGEST_SCRIPT, read_plain

T = TypeVar("T")


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_checked(path: Path, kind: type[T]) -> T:
    """The file as one of that kind. Raises FactsError with file, key and reason."""
    try:
        data = yaml.load(
            read_plain(path, LARGEST_SCRIPT).decode(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        )
        value: T = adapter(cast(Any, kind)).validate_python(data)
    except yaml.YAMLError as error:
        raise FactsError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FactsError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise FactsError(f"{path}: {describe(error)}") from error
    return value


def reason(fault: ErrorDetails) -> str:
    return "unknown key" if fault["type"] == "unexpected_keyword_argument" else fault["msg"]


def describe(error: ValidationError) -> str:
    """The first few faults as `key: reason`, and how many more there are."""
    faults = [f"{'.'.join(str(part) for part in e['loc']) or 'file'}: {reason(e)}" for e in error.errors()]
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more
