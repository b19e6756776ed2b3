"""A rehearsal in words, for the terminal."""

from __future__ import annotations

import textwrap
from collections import Counter

from graph.verification.rehearsal.types import Rank, Rehearsal

MARKS = {"error": "x", "warning": "!", "info": "-"}


def text_of(rehearsal: Rehearsal) -> str:
    """The whole summary: verdict, group, nodes, findings, what was not run and not seen."""
    parts = [
        verdict(rehearsal),
        *group(rehearsal),
        *(f"  {MARKS[f.severity]} {place(f.line)}{f.says} ({f.why}) [{f.rule}]" for f in rehearsal.findings),
        *listed(
            "launched", [f"{c.launcher}: {c.ntasks} tasks on {c.nodes} nodes: {c.command}" for c in rehearsal.calls]
        ),
        *listed("modules loaded", [", ".join(rehearsal.modules)] if rehearsal.modules else []),
        *listed("variables that reached the program", wrapped([name for name, _ in rehearsal.variables])),
        *listed("recorded, not run", list(rehearsal.not_run)),
        *listed("not seen here", list(rehearsal.unseen)),
    ]
    if not rehearsal.passed and rehearsal.output.strip():
        tail = [line for line in rehearsal.output.splitlines() if line.strip()][-12:]
        parts += listed("the script's last words", [line[:200] for line in tail])
    return "\n".join(parts)


def wrapped(names: list[str]) -> list[str]:
    return textwrap.wrap(", ".join(names), 100)


def verdict(rehearsal: Rehearsal) -> str:
    word = "passed" if rehearsal.passed else "failed"
    return f"rehearsal {word} in {rehearsal.seconds:.0f} s (isolated by {rehearsal.isolation})"


def place(line: int) -> str:
    return f"line {line}: " if line else ""


def group(rehearsal: Rehearsal) -> list[str]:
    """World size formed against promised; ranks and devices node by node."""
    sizes = Counter(rank.world_size for rank in rehearsal.ranks)
    formed = " and ".join(str(size) for size in sorted(sizes)) or "none"
    part = f" ({rehearsal.nodes} of {rehearsal.nodes_of_job} nodes had processes)"
    wrapper = next((rank.wrapper for rank in rehearsal.ranks if rank.wrapper), rehearsal.strategy)
    lines = [
        f"  world size: {formed} formed"
        + (f", {rehearsal.promised} by the directives" if rehearsal.promised else "")
        + (part if rehearsal.nodes < rehearsal.nodes_of_job else ""),
        f"  strategy: {wrapper} ({rehearsal.framework})",
    ]
    nodes: dict[str, list[Rank]] = {}
    for rank in rehearsal.ranks:
        nodes.setdefault(rank.node, []).append(rank)
    for node, ranks in nodes.items():
        numbers = ",".join(str(rank.rank) for rank in ranks)
        lines.append(f"  {node}: ranks {numbers}; devices {','.join(rank.device or '?' for rank in ranks)}")
    return lines


def listed(title: str, rows: list[str]) -> list[str]:
    return [f"{title}:", *(f"  {row}" for row in rows)] if rows else []
