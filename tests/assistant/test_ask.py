"""`maple-chat ask` and the line mode, by the contract of the command line."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.session import Session
from assistant.settings import Settings
from knowledge.types import Diagnosis

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_data(settings: Settings) -> None:
    """Every command here works in the test's own data folder."""


def test_a_turn_and_the_next(capsys: Captured, whole: str) -> None:
    assert main(["ask", whole]) == 0
    first = capsys.readouterr().out
    assert "#SBATCH --nodes=4" in first and "replace `YOUR_ACCOUNT" in first.split("#SBATCH")[0]
    assert main(["ask", "make it 8 nodes"]) == 0
    second = capsys.readouterr().out
    assert "nodes: 4 → 8" in second and "+#SBATCH --nodes=8" in second


def test_threads_are_apart(capsys: Captured, whole: str) -> None:
    main(["ask", whole])
    assert main(["ask", "--thread", "other", "use FSDP"]) == 0
    assert "Which machine" in capsys.readouterr().out


def test_new_forgets(capsys: Captured, whole: str) -> None:
    main(["ask", whole])
    capsys.readouterr()
    main(["ask", "--new", "use FSDP"])
    assert "Which machine" in capsys.readouterr().out


def test_json_is_one_object_with_typed_events(capsys: Captured, whole: str) -> None:
    assert main(["ask", "--json", whole]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["thread"] == "default"
    assert [event["type"] for event in answer["events"]] == ["script", "known", "done"]
    assert answer["events"][0]["made"]["bundle"]["submit"].startswith("sbatch ")


def test_standard_input(capsys: Captured, monkeypatch: pytest.MonkeyPatch, whole: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(whole.encode() + b" \xff\xfe")))
    assert main(["ask", "-"]) == 0
    assert "#SBATCH" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["ask", ""], ["ask", "  \n"], ["ask", "hi", "--thread", "../x"], ["ask", "hi", "--attach", "/no/such"]]
)
def test_what_cannot_be_used_is_one_line_on_stderr(capsys: Captured, words: list[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and captured.err.startswith("maple-chat: ")


def test_a_refusal_is_a_no(capsys: Captured) -> None:
    assert main(["ask", "PyTorch DDP on Lonestar6, 2 nodes with 4 GPUs per node"]) == 1
    assert "say its number" in capsys.readouterr().out


def test_a_failure_found_is_a_no(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "job.log"
    log.write_text("x\n")
    monkeypatch.setattr("graph.nodes.diagnose.find_cause", lambda paths: Diagnosis("oom-gpu", "Out of memory.", 0.9))
    assert main(["ask", "why?", "--attach", str(log)]) == 1
    monkeypatch.setattr("graph.nodes.diagnose.find_cause", lambda paths: Diagnosis("no-failure", "It ended well.", 0.9))
    assert main(["ask", "why?", "--attach", str(log)]) == 0


def test_an_old_thread_is_said_to_be_old(
    capsys: Captured, settings: Settings, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["ask", whole])
    capsys.readouterr()
    later = datetime.now(UTC) + timedelta(days=2)

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return later

    monkeypatch.setattr("assistant.commands.ask.datetime", Later)
    main(["ask", "make it 8 nodes"])
    assert "--new begins anew" in capsys.readouterr().err


def test_line_mode_answers_line_by_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("I need a job script for Perlmutter\n\n/quit\nnever read\n"))
    assert main(["--plain"]) == 0
    assert "Which framework" in capsys.readouterr().out
    assert len(Session(settings, "chat").history()) == 1


def test_a_data_folder_that_cannot_be_written_is_one_line(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "file" / "data"))
    assert main(["ask", "hello"]) == 2
    assert "MAPLE_CHAT_DATA" in capsys.readouterr().err


def test_a_damaged_store_is_one_line(capsys: Captured, settings: Settings) -> None:
    settings.conversations.write_bytes(b"not a database" * 100)
    assert main(["ask", "hello"]) == 2
    captured = capsys.readouterr()
    assert "MAPLE_CHAT_DATA" in captured.err and captured.err.count("\n") == 1
