"""`maple-chat rehearse`: what it reads, prints and exits with. The rehearsal itself is replaced."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import main
from assistant.commands import rehearse as command
from graph.verification.rehearsal.types import Rehearsal
from knowledge.errors import UnprovenJailError
from knowledge.types import Finding, SideFile

CALLS: list[dict[str, Any]] = []


def outcome(*findings: Finding) -> Rehearsal:
    return Rehearsal(
        passed=not findings, findings=findings, ranks=(), promised=8, nodes=2, nodes_of_job=2, framework="pytorch",
        strategy="ddp", calls=(), modules=(), variables=(), not_run=(), unseen=("real GPUs",), isolation="namespaces",
        output="last words\n", exit_code=0, seconds=1.5,
    )  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "job.sh"
    path.write_bytes(b"#!/bin/bash\r\nsrun hostname\r\n")
    (tmp_path / "ds.json").write_text("{}")
    (tmp_path / "data.bin").write_bytes(b"\0")
    return path


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[Rehearsal]:
    """The outcome that the command will get; change the list to change it."""
    results = [outcome()]
    CALLS.clear()

    def instead(text: str, files: tuple[SideFile, ...], cluster: Any, **options: Any) -> Rehearsal:
        CALLS.append({"text": text, "files": files, "cluster": cluster.id, **options})
        return results[0]

    monkeypatch.setattr(command, "rehearse", instead)
    return results


def test_a_passed_rehearsal_is_exit_0(
    script: Path, replaced: list[Rehearsal], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", str(script), "--machine", "perlmutter", "--nodes", "1"]) == 0
    assert "rehearsal passed" in capsys.readouterr().out
    assert CALLS[0]["nodes"] == 1
    assert CALLS[0]["text"] == "#!/bin/bash\r\nsrun hostname\r\n"
    assert [file.name for file in CALLS[0]["files"]] == ["ds.json"]


def test_findings_are_exit_1_and_json(
    script: Path, replaced: list[Rehearsal], capsys: pytest.CaptureFixture[str]
) -> None:
    replaced[0] = outcome(Finding("rehearsal-world-size", "error", 2, "4 of 8", "why"))
    assert main(["rehearse", str(script), "--machine", "perlmutter", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["passed"], said["findings"][0]["rule"]) == (False, "rehearsal-world-size")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name the script"),
        (["job.sh"], "how many GPUs has a node there"),
        (["job.sh", "--machine", "nowhere"], "no machine 'nowhere'"),
        (["no-such-file.sh", "--machine", "perlmutter"], "cannot be read"),
    ],
)
def test_what_is_missing_is_told_in_one_line(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job.sh").write_text("#!/bin/bash\nsrun torchrun --nproc-per-node=gpu train.py\n")
    monkeypatch.chdir(tmp_path)
    assert main(["rehearse", *words]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


HOLES = UnprovenJailError("not rehearsed: here the script could ...", ("network", "signals"))


@pytest.mark.parametrize(("answer", "code", "runs"), [("y\n", 0, 2), ("n\n", 2, 1), ("", 2, 1)])
def test_a_jail_with_holes_is_asked_about_first(
    answer: str, code: int, runs: int, script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[str, ...]] = []

    def instead(*given: object, accepted: tuple[str, ...], **options: object) -> Rehearsal:
        calls.append(accepted)
        if set(HOLES.ways) - set(accepted):
            raise HOLES
        return outcome()

    monkeypatch.setattr(command, "rehearse", instead)
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["rehearse", str(script), "--machine", "perlmutter"]) == code
    assert len(calls) == runs
    assert "reach the network" in capsys.readouterr().err
    assert main(["rehearse", str(script), "--machine", "perlmutter", "--accept", "network,signals"]) == 0
    assert main(["rehearse", str(script), "--machine", "perlmutter", "--accept", "everything"]) == 2
