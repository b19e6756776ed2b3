"""A correction on the command line: from an answer that was wrong to a signature that counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.settings import Settings
from tests.assistant.conftest import Say

LINE = "frobnicator: fatal: frob 17 did not settle (code 17), giving up"
LOG = f"step 10 loss 2.1\n{LINE}\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "maple-chat" / "signatures" / "reviewed.yaml"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main([*words])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_a_correction_is_tried_reviewed_and_then_counts(
    settings: Settings, say: Say, site: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    say(f"why did it fail?\n```\n{LOG}```")
    code, told = said(capsys, "feedback", "correct", "--thread", "t", "--cause", "user-auth",
                      "--fix", "asked the licence desk", "--line", LINE)  # fmt: skip
    assert code == 0 and "was user-auth" in told
    code, told = said(capsys, "feedback", "export", "-o", str(tmp_path / "cases.jsonl"))
    case = json.loads((tmp_path / "cases.jsonl").read_text())
    assert (case["answered"], case["cause"], case["fix"]) == ("unknown", "user-auth", "asked the licence desk")
    assert LINE in case["log"]
    (tmp_path / "before.json").write_text(evaluated(capsys, tmp_path))
    code, told = said(capsys, "signatures", "review", "--json")
    proposal = json.loads(told)
    assert proposal["fit"] and (proposal["right_before"], proposal["right_after"]) == (0, 1) and not site.exists()
    code, told = said(capsys, "signatures", "review", "--accept", proposal["id"])
    assert code == 0 and site.exists()
    assert said(capsys, "signatures", "review") == (0, "no corrections to review\n")
    assert said(capsys, "signatures", "check")[0] == 0
    words = ("eval", str(tmp_path / "cases.jsonl"), "--compare", str(tmp_path / "before.json"))
    told = subprocess.run([Path(sys.executable).parent / "maple-chat", *words], capture_output=True, text=True).stdout
    assert "1/1" in told and "1 gained, 0 lost" in told, "before and after, by the next start of the program"


def evaluated(capsys: pytest.CaptureFixture[str], folder: Path) -> str:
    _, told = said(capsys, "eval", str(folder / "cases.jsonl"), "--json")
    return told


def test_a_rejected_one_does_not_come_again(
    settings: Settings, say: Say, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say(f"why did it fail?\n```\n{LOG}```")
    said(capsys, "feedback", "correct", "--thread", "t", "--cause", "user-auth", "--line", LINE)
    name = json.loads(said(capsys, "signatures", "review", "--json")[1])["id"]
    assert said(capsys, "signatures", "review", "--reject", name)[0] == 0
    said(capsys, "feedback", "correct", "--thread", "t", "--cause", "user-auth", "--line", LINE.replace("17", "18"))
    assert "no corrections" in said(capsys, "signatures", "review")[1] and not site.exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--thread", "t"), "say which conversation"),
        (("--thread", "t", "--cause", "bad-luck"), "no cause 'bad-luck'"),
        (("--thread", "nobody", "--cause", "gpu-oom"), "no answer about a log"),
    ],
)
def test_what_cannot_be_corrected_is_said(
    settings: Settings, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    code, told = said(capsys, "feedback", "correct", *words)
    assert code == 2 and expected in told
