"""`maple-chat clusters`: what it tells, and how it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from assistant.cli import main
from assistant.cluster_text import describe, is_old
from assistant.footnotes import Footnotes
from knowledge.catalogue import SHIPPED
from knowledge.cluster_file import read_cluster

TODAY = date(2026, 11, 21)


def told(name: str) -> str:
    return describe(read_cluster(SHIPPED / f"{name}.yaml"), Path("facts.yaml"), TODAY)


def test_the_list_has_every_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "title", "scheduler", "as", "of", "GPUs", "of", "a", "node"]
    assert {path.stem for path in SHIPPED.glob("*.yaml")} <= {line.split()[0] for line in lines}
    assert any(line.startswith("frontier ") and "4 MI250X 128 GB = 8 GCDs" in line for line in lines)


def test_a_machine_is_told_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", "Frontier"]) == 0
    text = capsys.readouterr().out
    for part in (
        "facts of 2026-07",
        "1-91 nodes 02:00:00",
        "#SBATCH -p {queue}   (in queue batch or extended)",
        "not here: torchrun is harmful",
        "module load rocm/7.1.1",
        "1. srun, each task is one rank",
        "our reading, no page of the site shows it",
        "NCCL_SOCKET_IFNAME=hsn0,hsn1,hsn2,hsn3",
        "https_proxy=http://proxy.ccs.ornl.gov:3128/",
        "[1] https://docs.olcf.ornl.gov/systems/frontier_user_guide.html#frontier-compute-nodes",
    ):
        assert part in text, part


def test_every_note_and_every_gap_is_told() -> None:
    cluster = read_cluster(SHIPPED / "expanse.yaml")
    text = " ".join(told("expanse").split())
    for sentence in (*cluster.gotchas, *cluster.notes, *cluster.unknown, *cluster.sources):
        assert " ".join(sentence.split()) in text


def test_software_of_a_node_type_is_told() -> None:
    assert "on pvc nodes:" in told("stampede3")


def test_an_address_is_never_broken() -> None:
    addresses = [word for word in told("polaris").split() if word.startswith("https://docs.alcf")]
    assert all(address.rstrip(".,;)").endswith("/") for address in addresses)


@pytest.mark.parametrize(
    ("as_of", "old"),
    [("2026-08", False), ("2025-11", False), ("2025-10", True), ("2025-10-31", True), ("2026", False), ("2025", True)],
)
def test_facts_grow_old_after_twelve_months(as_of: str, old: bool) -> None:
    assert is_old(as_of, TODAY) is old


def test_old_facts_and_thin_ones_are_marked() -> None:
    assert "OLD: more than 12 months" in told("delta")
    assert "status: The pages read are of 2025-06" in told("delta")
    assert "OLD" not in told("polaris")


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", "--json"]) == 0
    assert {"polaris", "vista"} <= {row["id"] for row in json.loads(capsys.readouterr().out)}
    assert main(["clusters", "vista", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["queues"][0]["max_walltime"] == "48:00:00"
    assert facts["file"].endswith("vista.yaml")


@pytest.mark.parametrize("name", ["polarais", "zzz", "a\x1b[2J\nb", "x" * 5000, ""])
def test_a_name_that_is_not_known_is_one_line_and_exit_2(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "\x1b" not in said.err
    assert len(said.err) < 200


def test_the_nearest_name_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    main(["clusters", "polarais"])
    assert "did you mean polaris?" in capsys.readouterr().err


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys; from assistant.cli import main; main(['clusters', 'vista']); "
        "sys.exit(' '.join({'langgraph', 'chromadb', 'textual', 'torch'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-200:]


def test_a_source_keeps_its_number() -> None:
    notes = Footnotes()
    assert (notes.mark("a"), notes.mark("b"), notes.mark("a"), notes.mark(None)) == (" [1]", " [2]", " [1]", "")
    assert notes.listed(["b", "c"]) == ["[1] a", "[2] b", "- c"]


def test_facts_that_are_old_are_listed_with_their_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clusters", "leonardo", "--stale"]) == 1
    told = capsys.readouterr().out
    assert "2025-03" in told
    assert "queue boost_usr_prod" in told
    assert "https://docs.hpc.cineca.it" in told
