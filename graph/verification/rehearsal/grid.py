"""Rehearses a folder of scripts (one folder a machine, as tests/golden has it) and writes the table of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from graph.verification.rehearsal import rehearse
from graph.verification.rehearsal.types import Rehearsal
from knowledge.catalogue import catalogue
from knowledge.cluster import Cluster
from knowledge.errors import InputError
from knowledge.opening import read_plain
from knowledge.types import SideFile

LONGEST_FILE = 1 << 20
PAPER = ("pytorch-ddp", "pytorch-fsdp", "deepspeed-zero3", "accelerate-ddp")
HEAD = """# Rehearsals

Every generated script, run on a stand-in of its cluster: the script itself, two nodes, one process a GPU, with the
mini-app in the training program's place. "8 of 8" is the world size that formed, and the one that the job's GPUs call
for; the seconds are those of the computer it ran on. [How it works](rehearsal.md).

Written by `maple-chat rehearse --grid DIR -o docs/rehearsals.md` on {day}: {passed} of {count} passed.

"""


@dataclass(frozen=True, slots=True)
class GridRow:
    """One script's outcome. name is the script's file name without its ending."""

    cluster: Cluster
    name: str
    outcome: Rehearsal


def scripts(folder: Path) -> Iterator[tuple[Cluster, Path]]:
    """The scripts of the folders that bear a machine's name. Raises InputError where there is none."""
    found = [(catalogue().find(path.parent.name), path) for path in sorted(folder.glob("*/*.sh"))]
    known = [(cluster, path) for cluster, path in found if cluster]
    if not known:
        raise InputError(f"{folder} holds no MACHINE/*.sh; name a folder such as tests/golden")
    yield from known


def text_of(path: Path) -> str:
    """Raises InputError where it is no plain file of a script's size."""
    try:
        return read_plain(path, LONGEST_FILE).decode(errors="surrogateescape")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def side_files(script: Path) -> tuple[SideFile, ...]:
    """The files beside a golden script: `NAME.ds_zero3.json` belongs to NAME.sh as ds_zero3.json."""
    others = sorted(script.parent.glob(f"{script.stem}.*"))
    return tuple(SideFile(o.name.removeprefix(f"{script.stem}."), text_of(o)) for o in others if o != script)


def rehearse_all(folder: Path, only: str, tell: Callable[[str], None]) -> list[GridRow]:
    """One after the other; `only` keeps those whose machine/name holds that text."""
    rows: list[GridRow] = []
    for cluster, path in scripts(folder):
        name = f"{cluster.id}/{path.stem}"
        if only in name:
            outcome = rehearse(text_of(path), side_files(path), cluster)
            rows.append(GridRow(cluster, path.stem, outcome))
            tell(f"{name}: {cell(outcome)}")
    return rows


def cell(outcome: Rehearsal) -> str:
    sizes = {rank.world_size for rank in outcome.ranks}
    formed = str(sizes.pop()) if len(sizes) == 1 else "no group"
    if outcome.passed:
        return f"{formed} of {outcome.promised}, {outcome.seconds:.0f} s"
    rules = ", ".join(
        dict.fromkeys(f.rule.removeprefix("rehearsal-") for f in outcome.findings if f.severity == "error")
    )
    return f"**failed**: {rules}"


def table(rows: list[GridRow], day: str) -> str:
    """Markdown: machines down, scripts across, the paper's four first."""
    names = sorted(
        {row.name for row in rows},
        key=lambda name: (name not in PAPER, PAPER.index(name) if name in PAPER else 0, name),
    )
    cells = {(row.cluster.title, row.name): cell(row.outcome) for row in rows}
    lines = [f"| machine | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for title in sorted({row.cluster.title for row in rows}):
        lines.append(f"| {title} | {' | '.join(cells.get((title, name), '') for name in names)} |")
    passed = sum(row.outcome.passed for row in rows)
    return HEAD.format(day=day, count=len(rows), passed=passed) + "\n".join(lines) + "\n"
