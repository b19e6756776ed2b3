"""The table of commands, and what passes in and out."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.cli import COMMANDS, main
from assistant.commands import verify
from assistant.errors import InputError
from assistant.reading import files_beside, script_text
from graph.verification.on_machine.reach import Reach
from graph.verification.on_machine.schedulers import JobState
from knowledge.opening import read_plain

CODE = "import sys; from assistant.cli import main; sys.exit(main())"
SCRIPT = b"#!/bin/bash\r\n#SBATCH -A m1\n# caf\xe9\nsrun python train.py \xe2\x86\x92\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_module_and_stands_in_help_and_readme(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"assistant.commands.{name}")
    assert module.add_arguments and module.run
    assert main(["--help"]) == 0
    assert f"\n  {name} " in capsys.readouterr().out
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"`maple-chat {name}" in readme or (name == "chat" and "| `maple-chat` |" in readme)


def test_every_module_of_a_command_is_in_the_table() -> None:
    folder = Path(verify.__file__).parent
    parts = {"knowledge_sync", "knowledge_web", "__init__"}
    assert {path.stem for path in folder.glob("*.py")} - parts == set(COMMANDS)


def test_any_bytes_pass_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_bytes(SCRIPT)
    command = [sys.executable, "-c", CODE, "extract", "--script", str(tmp_path / "job.sh"), "--json"]
    settings = {**os.environ, "PYTHONIOENCODING": "latin-1", "MAPLE_CHAT_DATA": str(tmp_path)}
    for words in (
        command,
        [*command[:3], "clusters", "lumi"],
        [*command[:3], "check", str(tmp_path / "job.sh"), "--machine", "perlmutter"],
    ):
        child = subprocess.run(words, capture_output=True, env=settings, check=False)
        assert child.returncode in (0, 1, 2) and b"Traceback" not in child.stderr
        child.stdout.decode("utf-8")


def test_what_nobody_foresaw_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(options: object) -> int:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setenv("MAPLE_CHAT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(verify, "run", fail)
    assert main(["verify", "job.sh", "--machine", "perlmutter"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "ZeroDivisionError" in told and str(tmp_path / "data") in told
    assert "on purpose" in (tmp_path / "data" / "maple-chat.log").read_text()


def test_a_script_is_read_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.sh").write_bytes(SCRIPT)
    text = SCRIPT.decode("utf-8", "surrogateescape")
    assert script_text(str(tmp_path / "job.sh")) == text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SCRIPT)))
    assert script_text("-") == text


@pytest.mark.parametrize("data", [b"", b" \n", b"\x7fELF\x00\x00", b"x" * 8_000_001])
def test_what_is_no_script_is_said(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "job.sh").write_bytes(data)
    with pytest.raises(InputError, match="no job script"):
        script_text(str(tmp_path / "job.sh"))


def test_a_neighbour_that_cannot_be_read_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others' files, and files that go away meanwhile, lie beside a script too."""
    for name in ("a.json", "b.json", "job.sh", "notes.md"):
        (tmp_path / name).write_text(name)

    def refusing(path: Path, most: int) -> bytes:
        if path.name == "a.json":
            raise PermissionError(13, "not yours")
        return read_plain(path, most)

    monkeypatch.setattr("assistant.reading.read_plain", refusing)
    assert [file.name for file in files_beside(str(tmp_path / "job.sh"))] == ["b.json"]


def test_output_that_cannot_be_kept_does_not_end_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "preflight-7.out").mkdir()
    outcome = verify.TrialOutcome(True, "7", JobState("done"), 1, ({},), (), None, "x")
    assert verify.keep(outcome, Reach("/scratch/x", "login1")) is None
    assert "lies in /scratch/x on login1" in capsys.readouterr().err


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_a_stream_that_is_closed_or_full_is_no_fault_of_ours(tmp_path: Path, streams: str) -> None:
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH --nodes=2\nsrun python train.py\n")
    code = "import sys; from assistant.cli import main; sys.exit(main())"
    line = f"{sys.executable} -c '{code}' check {'-' if '<' in streams else script} {streams}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert "went wrong" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
