"""Whole scripts: each as it was last read by a person, and each sound to bash and shellcheck."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graph.planning.coverage import coverage_table
from graph.planning.edit_coverage import edits_table
from templates.render import render

GOLDEN = Path(__file__).parent.parent / "golden"
spec = importlib.util.spec_from_file_location("golden_make", GOLDEN / "make.py")
assert spec and spec.loader
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)

SCRIPTS = sorted(GOLDEN.glob("*/*.sh"))
# SC1091: the user's environment is not here to be followed. SC2016: what stands in '...' is meant for the task's shell.
SHELLCHECK_PROGRAM = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or "shellcheck"
SHELLCHECK = [SHELLCHECK_PROGRAM, "--shell=bash", "--exclude=SC1091,SC2016"]


def test_goldens_are_what_is_written_today() -> None:
    expected = make.goldens()
    kept = {path: path.read_text() for path in GOLDEN.glob("*/*") if path.parent.name != "__pycache__"}
    assert {p for p in expected if kept.get(p) != expected[p]} == set(), "run tests/golden/make.py and read the diff"
    assert set(kept) == set(expected)


def test_coverage_page_is_up_to_date() -> None:
    assert make.COVERAGE.read_text() == coverage_table(make.shipped())


def test_edits_page_is_up_to_date() -> None:
    assert make.EDITS.read_text() == edits_table(make.shipped(), render)


def test_every_cluster_has_the_papers_four_or_a_sourced_refusal() -> None:
    for cluster in make.shipped():
        for name in ("pytorch-ddp", "pytorch-fsdp", "deepspeed-zero3", "accelerate-ddp"):
            refused = [fact for fact in cluster.refusals if fact.source]
            assert (GOLDEN / cluster.id / f"{name}.sh").exists() or refused, (cluster.id, name)


@pytest.mark.parametrize("cluster", sorted({path.parent.name for path in SCRIPTS}))
def test_bash_and_shellcheck_find_nothing(cluster: str) -> None:
    scripts = [path for path in SCRIPTS if path.parent.name == cluster]
    for path in scripts:
        assert subprocess.run(["bash", "-n", path], capture_output=True, text=True).stderr == ""
    done = subprocess.run([*SHELLCHECK, *scripts], capture_output=True, text=True)
    assert done.stdout == ""


def golden(cluster: str, name: str) -> str:
    return (GOLDEN / cluster / f"{name}.sh").read_text()


def test_aurora_has_a_rank_a_tile_and_no_torchrun() -> None:
    script = golden("aurora", "pytorch-ddp")
    assert "2 x 12 = 24 ranks" in script
    assert "xccl" in script
    assert "torchrun" not in script
    assert "filesystems=" in script


def test_lonestar6_names_no_gpu_and_no_memory() -> None:
    for path in (GOLDEN / "lonestar6").glob("*.sh"):
        assert "--gres" not in path.read_text()
        assert "--mem" not in path.read_text()


def test_frontier_never_starts_torchrun() -> None:
    for path in (GOLDEN / "frontier").glob("*.sh"):
        code = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        assert not any("torchrun" in line for line in code)


def test_polaris_names_its_file_systems() -> None:
    assert "#PBS -l filesystems=" in golden("polaris", "pytorch-ddp")


def test_bridges2_counts_the_gpus_of_the_whole_job() -> None:
    assert ":16\n" in golden("bridges2", "pytorch-ddp")
