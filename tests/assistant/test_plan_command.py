"""`maple-chat plan` and `maple-chat clusters compare`, as they are called."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from assistant.cli import main


def test_a_plan_has_options_with_their_sum(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", "llama-3-8b", "--machine", "perlmutter", "--tokens", "10B"]) == 0
    told = capsys.readouterr().out
    assert "128 GB" in told and "node hours" in told


def test_what_does_not_fit_exits_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", "70B", "--machine", "frontier", "--nodes", "2", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert not told["fits"] and {option["verdict"] for option in told["options"]} <= {"no", "tight"}


def test_too_few_hours_exit_one(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "--model", "7B", "--machine", "leonardo", "--nodes", "4", "--tokens", "100B"]
    assert main([*words, "--hours", "10000"]) == 0 and main([*words, "--hours", "2"]) == 1
    capsys.readouterr()


def test_a_config_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shape = {
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "intermediate_size": 256,
        "vocab_size": 1000,
    }
    (tmp_path / "config.json").write_text(json.dumps(shape))
    assert main(["plan", "--config", str(tmp_path / "config.json"), "--machine", "lumi"]) == 0
    assert main(["plan", "--config", str(tmp_path / "none.json")]) == 2
    assert "config.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["plan"], ["plan", "--model", "mymodel"], ["plan", "--model", "7B", "--machine", "nowhere"]],
)
def test_bad_input_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_serving_says_how_many_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", "Llama-3-70B", "--task", "serve", "--gpu", "H100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["gpus"] == 4


def test_machines_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "table.html"
    words = ["clusters", "compare", "lumi", "polaris", "--json", "--where", "gb>=64", "--html", str(page)]
    assert main(words) == 0
    assert [row["machine"] for row in json.loads(capsys.readouterr().out)] == ["lumi"]
    assert "<table>" in page.read_text() and "http" not in page.read_text()
    assert main(["clusters", "compare", "--sort", "gb"]) == 0
    assert "141" in capsys.readouterr().out.splitlines()[1]
    assert main(["clusters", "compare", "--sort", "colour"]) == 2
    assert main(["clusters", "compare", "--where", "gb is big"]) == 2
    assert main(["clusters", "compare", "--where", "gb>900"]) == 1


def test_the_hours_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--model",
        "Llama-3-8B",
        "--machine",
        "delta",
        "--gpus",
        "16",
        "--task",
        "finetune",
        "--tokens",
        "500M",
        "--hours",
        "4",
    ]
    assert main(["plan", *words]) == 1
    shown = capsys.readouterr().out
    first = re.search(r"^No: (about [\d.]+ h \([^)]*\)) on 2 nodes of Delta", shown)
    assert first and f"FLOP: {first[1]}" in shown and f"; {first[1]}, 8.3 node hours" in shown


def test_part_of_a_node_and_adapters_cost_their_part(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--model", "Llama-3-8B", "--machine", "perlmutter", "--gpus", "1", "--task", "lora", "--tokens", "50M"]
    assert main(["plan", *words]) == 0
    shown = capsys.readouterr().out
    hours = re.search(r"; about ([\d.]+) h \([^)]*\), ([\d.]+) node hours", shown)
    assert hours and float(hours[2]) == pytest.approx(float(hours[1]) / 4, abs=0.01)
    assert "Queue `shared`" in shown and "a checkpoint is 0.59 GB" in shown
