"""Every YAML file under the product has a schema, keeps to it, and reads the same with any YAML loader."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from knowledge.signatures.loader import library
from tests.rule_schemas import SCHEMAS

ROOT = Path(__file__).parent.parent
FILES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("assistant", "graph", "knowledge", "templates")
    for path in (ROOT / folder).rglob("*.y*ml")
)
QUICKER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.mark.parametrize("name", FILES)
def test_a_file_keeps_to_its_schema(name: str) -> None:
    schemas = [schema for pattern, schema in SCHEMAS.items() if fnmatch(name, pattern)]
    assert len(schemas) == 1, f"{name} has {len(schemas)} schemas in tests/rule_schemas.py; give it one"
    TypeAdapter(schemas[0]).validate_python(yaml.load((ROOT / name).read_text(encoding="utf-8"), Loader=QUICKER))


@pytest.mark.parametrize("name", FILES)
def test_any_loader_reads_it(name: str) -> None:
    """The one in pure Python is stricter about what may stand unquoted in a list."""
    text = (ROOT / name).read_text(encoding="utf-8")
    assert yaml.load(text, Loader=yaml.SafeLoader) == yaml.load(text, Loader=QUICKER)


def test_no_schema_is_left_over() -> None:
    assert [pattern for pattern in SCHEMAS if not any(fnmatch(name, pattern) for name in FILES)] == []


def test_every_signature_is_of_a_known_cause() -> None:
    """Or of none, where it stands for a harmless line or a piece of others."""
    assert {one.cause for one in library().signatures} - {""} <= set(library().causes)
