"""Ports five launch scripts to nine clusters, checks and rehearses each, and writes docs/ports.md.

`uv run python tests/ports/make.py` runs all 45, one at a time: some ten minutes on two cores, with the extra
`rehearse` and a build of torch. `--model` and `--cluster` run a part; the other rows stay as they are on the page.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graph.porting.port import Ported, port
from graph.verification.checks import check
from knowledge.catalogue import SHIPPED
from knowledge.cluster import Cluster
from knowledge.cluster_file import read_cluster

SOURCES = Path(__file__).parent / "sources"
PAGE = SOURCES.parent.parent.parent / "docs" / "ports.md"
CLUSTERS = (
    "perlmutter", "lonestar6", "vista", "stampede3", "polaris", "aurora", "deltaai", "bridges2", "anvil",
)  # fmt: skip
TITLES = {
    "gpt2-xl": "GPT-2 XL",
    "llama-3.1-8b": "Llama-3.1-8B",
    "bert-base": "BERT-base",
    "vit-base": "ViT-base",
    "resnet-18": "ResNet-18",
}
HEAD = """# Five scripts on nine clusters

Made by `uv run python tests/ports/make.py`; a test fails when what needs no torch is out of date.
Each script of `tests/ports/sources/` is written as its user would have it on one machine, with the arguments of a
public training program. It is ported with no word said beside it, and nothing is repaired afterwards. *check* counts
errors, *rehearsal* runs the script on the stand-in cluster with all its ranks and trains a step under the strategy.
BERT-base's 16 ranks are more than Anvil gives one user: the port takes 8, doubles the accumulation, and says so.

"""
COLUMNS = "| model | from | to | strategy | nodes x GPUs | started by | check | rehearsal | seconds |"


@dataclass(frozen=True, slots=True)
class Row:
    """One ported script. rehearsal and seconds are empty until it was rehearsed."""

    model: str
    source: str
    target: str
    strategy: str
    layout: str
    launch: str
    check: str
    rehearsal: str = ""
    seconds: str = ""

    def line(self) -> str:
        cells = (self.model, self.source, self.target, self.strategy, self.layout, self.launch, self.check)
        return "| " + " | ".join((*cells, self.rehearsal, self.seconds)) + " |"


def cluster(name: str) -> Cluster:
    return read_cluster(SHIPPED / f"{name}.yaml")


def sources() -> dict[str, tuple[str, str]]:
    """Model -> the machine that its script is for, and the script."""
    paths = {path.name.removesuffix(".sh").rpartition("."): path for path in SOURCES.glob("*.sh")}
    found = {model: (machine, path.read_text(encoding="utf-8")) for (model, _, machine), path in paths.items()}
    return {model: found[model] for model in TITLES}


def ported(model: str, target: str) -> Ported:
    """The port with nothing said beside. Raises AssertionError on a refusal."""
    made = port(sources()[model][1], cluster(target))
    assert isinstance(made, Ported), made
    return made


def row(model: str, target: str) -> tuple[Row, Ported]:
    """What can be told without torch."""
    made = ported(model, target)
    plan = made.plan
    errors = [one for one in check(made.bundle.script, cluster(target)) if one.severity == "error"]
    sound = subprocess.run(["bash", "-n"], input=made.bundle.script, text=True, capture_output=True, check=False)
    errors_in_words = f"{len(errors)} errors" if errors or sound.returncode else "fine"
    inner = "" if plan.launch.workers == "ranks" else f" {plan.launch.workers}"
    told = Row(
        TITLES[model], cluster(sources()[model][0]).title, cluster(target).title, f"{plan.framework} {plan.strategy}",
        f"{plan.nodes} x {plan.ranks_per_node}", f"{plan.launch.launcher}{inner}", errors_in_words,
    )  # fmt: skip
    return told, made


def rehearsed(told: Row, made: Ported, target: str) -> Row:
    """The row with the rehearsal of all ranks; it takes 10 to 60 seconds."""
    from graph.verification.rehearsal.rehearsing import rehearse

    plan = made.plan
    ran = rehearse(
        made.bundle.script, made.bundle.files, cluster(target), nodes=plan.nodes, gpus_per_node=plan.ranks_per_node,
        framework=plan.framework, strategy=plan.strategy, timeout=300,
    )  # fmt: skip
    formed = len(ran.ranks) == plan.ranks and all(one.world_size == plan.ranks for one in ran.ranks)
    wrong = next((one.says for one in ran.findings if one.severity == "error"), "")
    says = f"{plan.ranks} ranks" if ran.passed and formed else f"failed: {wrong or f'{len(ran.ranks)} ranks'}"
    return replace(told, rehearsal=says, seconds=f"{ran.seconds:.0f}")


def page(rows: list[Row]) -> str:
    """The page: the figures of the whole, then a line a script."""
    ran = [one for one in rows if one.rehearsal.endswith("ranks") and not one.rehearsal.startswith("failed")]
    fine = [one for one in rows if one.check == "fine"]
    seconds = sorted(int(one.seconds) for one in ran)
    told = f"{len(rows)} scripts: {len(fine)} without errors of check, {len(ran)} rehearsed with all ranks"
    middle = (
        f" at the first try, in {seconds[len(seconds) // 2]} s each (median; {seconds[-1]} s at most)" if ran else ""
    )
    rule = "|" + "---|" * (COLUMNS.count("|") - 1)
    return HEAD + f"{told}{middle}.\n\n" + "\n".join((COLUMNS, rule, *(one.line() for one in rows))) + "\n"


def kept_rows() -> dict[tuple[str, str], Row]:
    """The rows of the page as it is, by model and target."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    cells = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| "))
    found = [Row(*one) for one in cells if len(one) == COLUMNS.count("|") - 1 and one[0] != "model"]
    return {(one.model, one.target): one for one in found}


def grid() -> Iterator[tuple[str, str]]:
    return ((model, target) for model in TITLES for target in CLUSTERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=TITLES)
    parser.add_argument("--cluster", choices=CLUSTERS)
    options = parser.parse_args()
    kept = kept_rows()
    rows = []
    for model, target in grid():
        told, made = row(model, target)
        if options.model in (None, model) and options.cluster in (None, target):
            told = rehearsed(told, made, target)
            print(told.line(), flush=True)
        elif old := kept.get((told.model, told.target)):
            told = replace(told, rehearsal=old.rehearsal, seconds=old.seconds)
        rows.append(told)
    PAGE.write_text(page(rows), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main()
