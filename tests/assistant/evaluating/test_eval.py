"""`maple-chat eval` as a person runs it: cases from files, figures, misses, comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.evaluating.case_types import TYPES
from assistant.evaluating.figures import Judged, Share, calibration, compare, expected_error, mcnemar
from assistant.evaluating.judging import CaseVerdict, same

OOM = "step 3 loss 2.1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
QUEUE = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n123 gpu train me PD 0:00 2 (AssocGrpGRES)\n"
SCRIPT = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\nsrun torchrun --nproc-per-node=4 train.py\n"
REQUEST = "fsdp on vista, 8 nodes"
GPUS = "gpus_per_node"
FIELDS = {"machine": "vista", "framework": "pytorch", "strategy": "fsdp", "nodes": 8}
# Of each type one that is right and one that is labelled wrong.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "request": (
        {"text": REQUEST, "intent": "generate", "fields": FIELDS, "missing": [GPUS], "missing_soft": [GPUS]},
        {"text": REQUEST, "intent": "generate", "fields": {"machine": "vista"}},
    ),
    "dialogue": (
        {"turns": [{"text": "ddp on polaris"}, {"text": "8", "asked": "nodes", "expect": {"nodes": 8}}]},
        {"turns": ["ddp on polaris", "8"], "asked": [None, "nodes"], "expect": [{"nodes": None}, {"nodes": 4}]},
    ),
    "sentence": (
        {"text": "how do I cancel it?", "label": "ask/job.cancel", "thread": {"has_script": True, "last": "write"}},
        {"text": "thanks a lot!", "label": "undo"},
    ),
    "script": (
        {"script": SCRIPT, "expect": {"nodes": 2, "gpus_per_node": 4}},
        {"script": SCRIPT, "expect": {"nodes": 3}},
    ),
    "check": (
        {"script": SCRIPT.replace("--nodes", "-nodes", 1), "rules": ["directive-unknown-option"]},
        {"script": SCRIPT.replace("--nodes", "-nodes", 1), "rules": []},
    ),
    "log": ({"log": OOM, "cause": "gpu-oom", "evidence": "CUDA out of memory"}, {"log": OOM, "cause": "user-code"}),
    "pending": (
        {"text": QUEUE, "class": "limit-aggregate", "starts_by_itself": "yes"},
        {"text": QUEUE, "class": "limit-aggregate", "starts_by_itself": "no"},
    ),
    "question": ({"ask": "what is a node?", "says": ["computer"]}, {"ask": "what is a node?", "not": ["computer"]}),
    "conversation": (
        {"turns": [{"say": "ddp on perlmutter, 2 nodes, account m1", "lines": ["#SBATCH --nodes=2"]}]},
        {"turns": [{"say": "ddp on perlmutter, 2 nodes, account m1", "lines": ["#SBATCH --nodes=3"]}]},
    ),
}


def written(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    capsys.readouterr()
    main(["eval", *map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_told_by_its_keys_and_judged(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = printed(capsys, written(tmp_path, *CASES[kind]))
    assert [(one["type"], one["right"]) for one in run["cases"]] == [(kind, True), (kind, False)], run["cases"]
    assert run["cases"][1]["why"]
    assert run["figures"][0]["percent"] == 50.0 and run["figures"][0]["interval"] == [9.5, 90.5]


def test_misses_and_unlabelled_cases_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = written(tmp_path, *CASES["log"], {"type": "log", "log": OOM, "cause": None}, {"ask": "what is a node?"})
    assert main(["eval", str(cases), "--misses"]) == 0
    said = capsys.readouterr().out
    assert "log: cause  1/2  50.0 %  (9.5 to 90.5)" in said.replace("         ", "  ")
    assert "cases cases:2: want user-code, got gpu-oom" in said and "2 without a label" in said


def test_the_telling_line_is_a_figure_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    far = "\n".join(f"step {n}" for n in range(10)) + f"\n{OOM}"
    run = printed(capsys, written(tmp_path, {"log": far, "cause": "gpu-oom", "evidence": "step 1"}))
    assert run["cases"][0]["marks"] == {"cause": True, "telling line": False}


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tmp_path / "before.json"
    run = printed(capsys, written(tmp_path, CASES["log"][0], CASES["request"][0]))
    run["cases"][0]["marks"]["cause"] = False
    before.write_text(json.dumps(run))
    now = written(tmp_path, CASES["log"][0], CASES["request"][1])
    assert main(["eval", str(now), "--compare", str(before)]) == 1
    said = capsys.readouterr().out
    assert "1 gained, 1 lost" in said and "lost: cases cases:2" in said and "gained: cases cases:1" in said
    assert main(["eval", str(before), "--compare", str(before)]) == 0


def test_figures() -> None:
    low, high = Share(7, 10).interval
    assert (round(low, 1), round(high, 1)) == (39.7, 89.2)  # Wilson (1927), as R's prop.test without correction
    assert round(Share(10, 10).interval[1], 9) == 100.0
    assert mcnemar(0, 0) == 1.0 and mcnemar(6, 0) == 0.03125 and round(mcnemar(10, 2), 4) == 0.0386
    flips = compare({("s", "a"): True, ("s", "b"): False}, {("s", "a"): False, ("s", "c"): True})
    assert (flips.lost, flips.gained, flips.only_before, flips.only_now) == ((("s", "a"),), (), 1, 1)
    sure = [Judged("s", "", "log", str(n), CaseVerdict((("cause", n < 3),), confidence=0.75)) for n in range(4)]
    (bin_,) = calibration(sure)
    assert (bin_.low, bin_.share, expected_error([bin_])) == (0.7, Share(3, 4), 0.0)


def test_values_that_mean_the_same() -> None:
    assert same("model", "Llama-3.1 8B", "llama-3.1-8b") and same("args", "--lr $LR a", "--lr 0.1 a")
    assert not same("args", "--lr 0.2", "--lr 0.1") and not same("nodes", None, 0) and same("machine", "LUMI", "lumi")


def test_logs_and_conversations_in_plain_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gpu-oom").mkdir()
    (tmp_path / "gpu-oom" / "one.log").write_text(OOM)
    (tmp_path / "two.log").write_text(f"# cause: user-code; how: mislabelled\n{OOM}")
    (tmp_path / "talk.txt").write_text("> what is a node?\n= computer\n- FSDP\n")
    run = printed(capsys, tmp_path)
    assert {one["id"]: one["right"] for one in run["cases"]} == {"gpu-oom/one": True, "two": False, "talk": True}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x", "line 1: it is no JSON (Expecting value"),
        ("[1]", "no JSON object"),
        ('{"cuase": "x"}', "its type cannot be told"),
        ('{"type": "log", "log": 3}', "log: Input should be a valid string"),
        ('{"file": "../other/a.log", "cause": "gpu-oom"}', "outside the folder"),
        ("", "no case in"),
    ],
)
def test_a_fault_is_one_line(line: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cases.jsonl").write_text(line)
    assert main(["eval", str(tmp_path / "cases.jsonl")]) == 2
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1


def test_a_case_that_breaks_the_program_is_a_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*_: Any) -> None:
        raise RuntimeError("it broke")

    monkeypatch.setattr("assistant.evaluating.judging.judge_log", breaks)
    run = printed(capsys, written(tmp_path, *CASES["log"]))
    assert [one["why"] for one in run["cases"]] == ["RuntimeError: it broke"] * 2
