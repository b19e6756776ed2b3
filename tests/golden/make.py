"""Writes the golden scripts and docs/coverage.md anew: `uv run python tests/golden/make.py`. Read the diff."""

from __future__ import annotations

import shutil
from pathlib import Path

from graph.planning.coverage import coverage_table, covered
from graph.planning.edit_coverage import added_scripts, edits_table
from knowledge.catalogue import SHIPPED
from knowledge.cluster import Cluster
from knowledge.cluster_file import read_cluster
from knowledge.types import LaunchPlan
from templates.configs import NODE_TEST
from templates.render import render

GOLDEN = Path(__file__).parent
COVERAGE = GOLDEN.parent.parent / "docs" / "coverage.md"
EDITS = COVERAGE.with_name("edits.md")


def shipped() -> list[Cluster]:
    """The machines that come with the program, whatever else this computer's site adds."""
    return [read_cluster(path) for path in sorted(SHIPPED.glob("*.yaml"))]


def goldens() -> dict[Path, str]:
    """Every golden file and what it should hold."""
    texts = {}
    for cell in covered(shipped()):
        if isinstance(cell.outcome, LaunchPlan):
            bundle = render(cell.outcome)
            folder = GOLDEN / cell.cluster.id
            texts[folder / f"{cell.name}.sh"] = bundle.script
            texts |= {folder / f"{cell.name}.{file.name}": file.text for file in bundle.files}
    for cluster, name, decided in added_scripts(shipped()):
        bundle = render(decided)
        folder = GOLDEN / cluster.id
        texts[folder / f"{name}.sh"] = bundle.script
        # The program that tries the nodes stands beside the script as it is in templates/miniapp.
        texts |= {folder / f"{name}.{file.name}": file.text for file in bundle.files if file.name != NODE_TEST.name}
    return texts


if __name__ == "__main__":
    for folder in GOLDEN.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    for path, text in goldens().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    COVERAGE.parent.mkdir(exist_ok=True)
    COVERAGE.write_text(coverage_table(shipped()))
    EDITS.write_text(edits_table(shipped(), render))
    print(f"{len(goldens())} files, {COVERAGE}")
