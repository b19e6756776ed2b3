"""Whole scripts with one defect each (planted.yaml), found on their lines; and unusual ones that are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from graph.verification.checks import check
from knowledge.types import Finding

HERE = Path(__file__).parent
PLANTED = yaml.safe_load((HERE / "planted.yaml").read_text(encoding="utf-8"))
UNUSUAL = yaml.safe_load((HERE / "unusual.yaml").read_text(encoding="utf-8"))


def told(text: str) -> list[Finding]:
    return [one for one in check(text, None) if one.severity != "info"]


def mended(row: dict[str, Any]) -> str:
    text: str = row["script"]
    for old, new in row["mend"]:
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("row", PLANTED, ids=lambda row: row["id"])
def test_the_defect_is_found_on_its_line_and_gone_when_mended(row: dict[str, Any]) -> None:
    lines = row["script"].splitlines()
    assert [one.rule for one in told(row["script"]) if row["at"] in lines[one.line - 1]] == [row["rule"]]
    assert mended(row) != row["script"]
    assert told(mended(row)) == []
    for old, new in row.get("near", ()):
        assert old in row["script"]
        assert row["rule"] not in {one.rule for one in told(row["script"].replace(old, new))}, new


@pytest.mark.parametrize("row", UNUSUAL, ids=lambda row: row["id"])
def test_what_is_unusual_and_right_is_left_alone(row: dict[str, Any]) -> None:
    assert told(row["script"]) == []
