"""`maple-chat extract --script`: a file, standard input, JSON lines, and the refusal of what is no script."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from assistant.cli import main

SCRIPT = "#!/bin/bash\n#SBATCH -N 2 --gpus-per-node=4 -t 30\nsrun torchrun --nproc_per_node=4 fit.py --strategy ddp\n"


def test_a_file_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "job.sh"
    file.write_text(SCRIPT)
    assert main(["extract", "--script", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["intent"], answer["fields"]["nodes"], answer["fields"]["entry"]) == ("port", 2, "fit.py")


def test_json_lines_keep_order_and_ids(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"id": "a", "script": SCRIPT}, {"id": "b", "script": ""}]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(json.dumps(one) + "\n" for one in lines)))
    assert main(["extract", "--script", "--jsonl"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["id"], first["fields"]["strategy"]) == ("a", "ddp")
    assert (second["id"], second["fields"]) == ("b", {})
    assert "empty" in second["error"]


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "--script", "/no/such/job.sh"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
