"""The advice for whole logs, as the command gives it: the first step cures this log, and no step does harm here."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from knowledge.data_file import parse_yaml

CASES: list[dict[str, Any]] = parse_yaml(Path(__file__).with_name("advice.yaml").read_bytes())
MOST = 3


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_first_step_cures_and_none_harms(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = json.dumps({"id": case["id"], "log": case["log"]}) + "\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(asked.encode())))
    main(["why", "--jsonl"])
    told = json.loads(capsys.readouterr().out)
    if case.get("healthy"):
        assert told["cause"] == "no-failure" and not re.search(case["never_says"], told["says"])
        return
    assert told["cause"] in (case["cause"], *case.get("also", ()))
    assert 0 < len(told["fix"]) <= MOST and re.search(case["first"], told["fix"][0])
    assert not [step for step in told["fix"] if re.search(case["never"], step)]
