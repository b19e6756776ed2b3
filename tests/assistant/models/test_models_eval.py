"""`maple-chat eval --model`: the same cases with the model that is set, and without it not a word to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in import StandIn

from assistant.cli import main

CASES = (
    {
        "text": "PyTorch DDP on Perlmutter, a quartet of boxes, 4 GPUs each",
        "intent": "generate",
        "expect": {"nodes": 4},
    },
    {
        "turns": [
            {"say": "PyTorch DDP on Perlmutter, a quartet of boxes, 4 GPUs each", "lines": ["#SBATCH --nodes=4"]},
        ]
    },
)


def test_the_model_is_asked_only_where_it_is_wanted(
    serve: Callable[[str], tuple[StandIn, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text("".join(f"{json.dumps(case)}\n" for case in CASES))
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    assert main(["eval", str(cases), "--model"]) == 2
    assert "no language model is set" in capsys.readouterr().err
    stand_in, address = serve("right")
    monkeypatch.setenv("MAPLE_CHAT_MODEL_SMALL", "m")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    right = {}
    for words in ([], ["--model"]):
        before = len(stand_in.bodies)
        main(["eval", str(cases), "--json", *words])
        run = json.loads(capsys.readouterr().out)
        right[bool(words)] = ([one["right"] for one in run["cases"]], len(stand_in.bodies) - before)
    assert right[False] == ([False, False], 0)
    assert right[True][0] == [True, True] and right[True][1] >= 2
