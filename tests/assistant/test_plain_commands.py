"""The line mode's commands: the same answers as the chat's, without a screen."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assistant import plain
from assistant.plain import converse
from assistant.plain_commands import COMMANDS
from assistant.session import Session
from assistant.settings import Settings
from assistant.tui import commands
from assistant.tui.memory import OPEN, recall

LOG = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"


@pytest.fixture
def typed(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    """What is printed when these lines are typed."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*lines: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
        assert converse(Session(settings, "t")) == 0
        said = capsys.readouterr()
        return said.out + said.err

    return run


def test_a_script_is_made_checked_shown_saved_and_exported(typed, settings: Settings, whole: str) -> None:  # type: ignore[no-untyped-def]
    said = typed(
        whole, "/check", "/script", "/save out", "/rename Mine", "/export", "/context", "/new next", "/sessions Mine"
    )
    assert "directive-placeholder" in said and "checked on Perlmutter" in said
    assert [path.name for path in Path("out").iterdir()] == ["perlmutter-pytorch-fsdp.sh"]
    assert whole in Path("t.md").read_text()
    assert "conversation 't': perlmutter" in said and "  t  Mine" in said
    assert recall(settings.data, OPEN) == "next"


def test_a_log_is_diagnosed_and_errors_say_what_to_do(typed) -> None:  # type: ignore[no-untyped-def]
    Path("job.log").write_text(LOG)
    said = typed(
        "/why", "/why job.log", "/check", "/save", "/frob", "/open gone", "/clusters perlmuter", '/check "x', "/help"
    )
    assert "gpu-oom" in said
    for words in (
        "name the log",
        "no script yet",
        "no command /frob",
        "no conversation 'gone'",
        "no machine",
        "close the quotes",
    ):
        assert words in said
    assert "run it here on a stand-in cluster" in said


def test_an_interrupt_ends_it_while_it_waits_for_a_line(settings: Settings) -> None:
    code = "import sys; from assistant.cli import main; sys.exit(main(['--plain']))"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([sys.executable, "-c", code], text=True, **pipes)  # type: ignore[call-overload]
    try:
        child.stdin.write("/help\n")
        child.stdin.flush()
        while "/quit" not in child.stdout.readline():
            pass
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == 130
    finally:
        child.kill()


def test_an_interrupt_stops_an_answer_and_the_next_line_is_read(typed, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    said = plain.answer

    def once(*arguments: object) -> None:
        monkeypatch.setattr(plain, "answer", said)
        raise KeyboardInterrupt

    monkeypatch.setattr(plain, "answer", once)
    assert "stopped; Ctrl+C once more" in (shown := typed("hello", "/clusters")) and "perlmutter" in shown


def test_what_a_command_found_is_kept(typed, settings: Settings, whole: str) -> None:  # type: ignore[no-untyped-def]
    Path("job.log").write_text(LOG)
    typed(whole, "/check", "/why job.log", "/check gone.sh")
    turns = Session(settings, "t").history()
    assert [turn.text for turn in turns] == [whole, "/check", "/why job.log"]
    kept = [event for turn in turns[1:] for event in turn.answer or ()]
    assert [event.type for event in kept] == ["report", "done", "diagnosis", "done"]
    assert [attachment.name for attachment in turns[2].attachments] == ["job.log"]
    assert "checked on Perlmutter" in typed("/export") + Path("t.md").read_text()


def test_why_without_a_file_is_of_the_newest_log(typed, settings: Settings) -> None:  # type: ignore[no-untyped-def]
    Path("job.log").write_text(LOG)
    said = typed("/why job.log", "/why")
    assert said.count("gpu-oom") == 2 and "name the log" not in said


def test_its_commands_are_the_chats() -> None:
    assert COMMANDS.keys() <= commands.COMMANDS.keys()
