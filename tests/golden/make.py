"""Writes the golden scripts and docs/coverage.md anew: `uv run python tests/golden/make.py`. Read the diff.

Kept are each machine's DDP script and, of each launcher, one script of every framework and strategy: what a person has
read. The tests that judge scripts take all that planning writes (`scripts`). `make.py --all DIR` writes those.
"""

from __future__ import annotations

import shutil
import sys
from functools import cache
from pathlib import Path

from knowledge.catalogue import SHIPPED
from knowledge.cluster import Cluster
from knowledge.cluster_file import read_cluster
from knowledge.types import LaunchBundle, LaunchPlan
from templates.configs import NODE_TEST
from templates.render import render
from tests.golden.coverage import coverage_table, covered
from tests.golden.edits import MACHINES, added_scripts, edits_table

GOLDEN = Path(__file__).parent
COVERAGE = GOLDEN.parent.parent / "docs" / "coverage.md"
EDITS = COVERAGE.with_name("edits.md")


def shipped() -> list[Cluster]:
    """The machines that come with the program, whatever else this computer's site adds."""
    return [read_cluster(path) for path in sorted(SHIPPED.glob("*.yaml"))]


@cache
def scripts() -> dict[str, LaunchBundle]:
    """`machine/name` -> what is written today, for every cell of docs/coverage.md and the scripts with edits."""
    cells = [(cell.cluster.id, cell.name, cell.outcome) for cell in covered(shipped())]
    edited = [(cluster.id, name, plan) for cluster, name, plan in added_scripts(shipped())]
    return {f"{machine}/{name}": render(plan) for machine, name, plan in cells + edited if isinstance(plan, LaunchPlan)}


def kept() -> set[str]:
    """The names of those that are kept: a machine where edits are shown stands for its launcher."""
    names, launched = set(), set()
    for cell in sorted(covered(shipped()), key=lambda one: one.cluster.id not in MACHINES):
        if isinstance(cell.outcome, LaunchPlan):
            way = (cell.outcome.launch.launcher, cell.name)
            names |= {f"{cell.cluster.id}/{cell.name}"} if way not in launched or cell.name == "pytorch-ddp" else set()
            launched.add(way)
    return names | {name for name in scripts() if "/added-" in name}


def files(names: set[str], folder: Path = GOLDEN) -> dict[Path, str]:
    """The files of these scripts and what each holds."""
    texts = {}
    for name in names:
        bundle = scripts()[name]
        texts[folder / f"{name}.sh"] = bundle.script
        # The program that tries the nodes stands beside the script as it is in templates/miniapp.
        texts |= {folder / f"{name}.{one.name}": one.text for one in bundle.files if one.name != NODE_TEST.name}
    return texts


def write(texts: dict[Path, str]) -> None:
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__" and sys.argv[1:2] == ["--all"]:
    write(files(set(scripts()), Path(sys.argv[2])))
elif __name__ == "__main__":
    for folder in GOLDEN.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    write(files(kept()))
    COVERAGE.write_text(coverage_table(shipped()))
    EDITS.write_text(edits_table(shipped(), render))
    print(f"{len(files(kept()))} files, {COVERAGE}")
