"""`maple-chat watch` on a file that grows."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.commands import watch


def test_a_growing_log_is_followed_and_trouble_told_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LOOK", 0.05)
    log = tmp_path / "train.log"
    log.write_text("step 1/100 loss 2.0\n")

    def grow() -> None:
        for number in range(2, 12):
            time.sleep(0.06)
            with log.open("a") as stream:
                stream.write(f"step {number}/100 loss 1.9\n")
        with log.open("a") as stream:
            stream.write("step 12/100 loss nan\nstep 13/100 loss nan\n")

    thread = threading.Thread(target=grow)
    thread.start()
    code = main(["watch", str(log), "--for", "0.1", "--limit", "10:00:00"])
    thread.join()
    out = capsys.readouterr().out
    assert code == 1
    assert out.count("the loss is NaN") == 1
    assert "step 13 of 100" in out


def test_what_cannot_be_watched_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["watch", "4711"]) == 2
    assert "login node" in capsys.readouterr().err
