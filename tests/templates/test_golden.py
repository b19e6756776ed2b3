"""Whole scripts: each as it was last read by a person, and each sound to bash and shellcheck."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from templates.render import render
from tests.golden import make
from tests.golden.coverage import coverage_table
from tests.golden.edits import edits_table

GOLDEN = make.GOLDEN
SCRIPTS = {name: one.script for name, one in make.scripts().items()}
# SC1091: the user's environment is not here to be followed. SC2016: what stands in '...' is meant for the task's shell.
SHELLCHECK_PROGRAM = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or "shellcheck"
SHELLCHECK = [SHELLCHECK_PROGRAM, "--shell=bash", "--exclude=SC1091,SC2016"]


def test_goldens_are_what_is_written_today() -> None:
    expected = make.files(make.kept())
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
            assert f"{cluster.id}/{name}" in SCRIPTS or refused, (cluster.id, name)


@pytest.mark.parametrize("cluster", sorted({name.split("/")[0] for name in SCRIPTS}))
def test_bash_and_shellcheck_find_nothing(cluster: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name.split('/')[1]}.sh" for name in SCRIPTS if name.startswith(f"{cluster}/")]
    for path in paths:
        path.write_text(SCRIPTS[f"{cluster}/{path.stem}"])
        assert subprocess.run(["bash", "-n", path], capture_output=True, text=True).stderr == ""
    done = subprocess.run([*SHELLCHECK, *paths], capture_output=True, text=True)
    assert done.stdout == ""


def golden(cluster: str, name: str) -> str:
    return SCRIPTS[f"{cluster}/{name}"]


def of(cluster: str) -> list[str]:
    return [text for name, text in SCRIPTS.items() if name.startswith(f"{cluster}/")]


def test_aurora_has_a_rank_a_tile_and_no_torchrun() -> None:
    script = golden("aurora", "pytorch-ddp")
    assert "2 x 12 = 24 ranks" in script
    assert "xccl" in script
    assert "torchrun" not in script
    assert "filesystems=" in script


def test_lonestar6_names_no_gpu_and_no_memory() -> None:
    for text in of("lonestar6"):
        assert "--gres" not in text
        assert "--mem" not in text


def test_frontier_never_starts_torchrun() -> None:
    for text in of("frontier"):
        code = [line for line in text.splitlines() if not line.startswith("#")]
        assert not any("torchrun" in line for line in code)


def test_polaris_names_its_file_systems() -> None:
    assert "#PBS -l filesystems=" in golden("polaris", "pytorch-ddp")


def test_bridges2_counts_the_gpus_of_the_whole_job() -> None:
    assert ":16\n" in golden("bridges2", "pytorch-ddp")
