"""One cluster file, read and validated strictly by pydantic."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from knowledge.cluster import Cluster
from knowledge.errors import FactsError


@cache
def adapter() -> TypeAdapter[Cluster]:
    return TypeAdapter(Cluster)


def read_cluster(path: Path) -> Cluster:
    """One file, checked. Raises FactsError with file, key and reason."""
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        cluster = adapter().validate_python(data)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise FactsError(f"{path}: not YAML: {reason}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FactsError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise FactsError(f"{path}: {describe(error)}") from error
    if cluster.id != path.stem:
        raise FactsError(f"{path}: id: is '{cluster.id}'; name the file {cluster.id}.yaml")
    return cluster


def reason(fault: ErrorDetails) -> str:
    return "unknown key" if fault["type"] == "unexpected_keyword_argument" else fault["msg"]


def describe(error: ValidationError) -> str:
    """The first few faults as `key: reason`, and how many more there are."""
    faults = [f"{'.'.join(str(part) for part in e['loc']) or 'file'}: {reason(e)}" for e in error.errors()]
    more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more
