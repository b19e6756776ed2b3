"""What is covered: every cluster x framework x strategy, planned with two nodes, or refused and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graph.planning.plan import plan
from knowledge.cluster import Cluster
from knowledge.types import Framework, JobRequest, LaunchPlan, Refusal, Strategy

# The first four are the paper's (arXiv 2510.08842).
CELLS: tuple[tuple[Framework, Strategy], ...] = (
    ("pytorch", "ddp"),
    ("pytorch", "fsdp"),
    ("deepspeed", "zero3"),
    ("accelerate", "ddp"),
    ("accelerate", "fsdp"),
    ("deepspeed", "zero1"),
    ("deepspeed", "zero2"),
    ("megatron", "tp"),
    ("megatron", "pp"),
    ("megatron", "3d"),
)
NODES = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination and what planning says of it."""

    cluster: Cluster
    framework: Framework
    strategy: Strategy
    outcome: LaunchPlan | Refusal

    @property
    def name(self) -> str:
        return f"{self.framework}-{self.strategy}"


def covered(clusters: list[Cluster]) -> Iterator[Cell]:
    """Every cell of every cluster, in order."""
    for cluster in clusters:
        for framework, strategy in CELLS:
            request = JobRequest(machine=cluster.id, framework=framework, strategy=strategy, nodes=NODES)
            yield Cell(cluster, framework, strategy, plan(request, cluster))


def coverage_table(clusters: list[Cluster]) -> str:
    """docs/coverage.md."""
    heads = [f"{framework} {strategy}" for framework, strategy in CELLS]
    rows, refused = [], []
    cells = list(covered(clusters))
    for cluster in clusters:
        own = [cell for cell in cells if cell.cluster.id == cluster.id]
        rows.append(f"| {cluster.title} | " + " | ".join(in_a_word(cell) for cell in own) + " |")
        refused += [why_refused(cell) for cell in own if isinstance(cell.outcome, Refusal)]
    lines = [
        "# What is covered",
        "",
        "Made by `uv run python tests/golden/make.py` from the facts; a test fails when it is out of date.",
        "Each word is the outer launcher and what its tasks are: `srun torchrun` starts one torchrun a node,",
        "`srun` alone one task a rank.",
        "An asterisk marks our reading of the facts where no page of the site shows the launch.",
        "",
        "| cluster | " + " | ".join(heads) + " |",
        "|" + "---|" * (len(heads) + 1),
        *rows,
        "",
        "## Refused",
        "",
        *(refused or ["Nothing."]),
        "",
    ]
    return "\n".join(lines)


def in_a_word(cell: Cell) -> str:
    if isinstance(cell.outcome, Refusal):
        return "refused"
    launch = cell.outcome.launch
    inner = "" if launch.workers == "ranks" else f" {launch.workers}"
    reading = any(note.startswith("No page") for note in cell.outcome.notes)
    return f"{launch.launcher}{inner}{'*' if reading else ''}"


def why_refused(cell: Cell) -> str:
    outcome = cell.outcome
    assert isinstance(outcome, Refusal)
    ways = "; ".join(way.says for way in outcome.instead)
    source = f" Source: {outcome.source}" if outcome.source else ""
    return f"- {cell.cluster.title}, {cell.name}: {outcome.says} {outcome.why} Instead: {ways}.{source}"
