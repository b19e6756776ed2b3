"""Published measurements against the planner: memory within 15 %, speed inside the range, never a wrong "fits".

    uv run python bench/planner.py            the counts
    uv run python bench/planner.py --write    and docs/planner.md's table

Exit 1 where a target is missed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from graph.planning.resources.device import NETWORK_SHARE, Device
from graph.planning.resources.layout import Layout
from graph.planning.resources.memory import estimate_memory, judge, states_gib
from graph.planning.resources.parameters import find_model
from graph.planning.resources.speed import Range, flops_per_token, tokens_per_second
from knowledge.gpu_facts import GpuFacts, find_gpu

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "planner.md"
START, END = "<!-- made by bench/planner.py: from here -->", "<!-- made by bench/planner.py: to here -->"
CLOSE, ENOUGH = 0.15, 0.8
UNKNOWN_GPU = GpuFacts(model="?", tflops=100, hbm=1.0, mfu=(0.2, 0.3, 0.5), link_gbytes=32, bus_gbytes=20, assumed=True)


@dataclass(frozen=True, slots=True)
class Judged:
    """One example: measured and said; None where it was not measured."""

    id: str
    what: str
    source: str
    fitted: bool
    memory: tuple[float, float] | None
    rate: tuple[float, Range] | None
    verdict: tuple[bool, str] | None

    @property
    def memory_holds(self) -> bool:
        return self.memory is None or abs(self.memory[1] / self.memory[0] - 1) <= CLOSE

    @property
    def rate_holds(self) -> bool:
        return self.rate is None or self.rate[1].holds(self.rate[0])

    @property
    def is_wrong_fit(self) -> bool:
        return self.verdict is not None and not self.verdict[0] and self.verdict[1] == "fits"

    @property
    def verdict_holds(self) -> bool:
        return self.verdict is None or self.verdict[0] == (self.verdict[1] != "no")


def judged() -> list[Judged]:
    """Every example, judged."""
    data = yaml.safe_load((HERE / "planner_examples.yaml").read_text(encoding="utf-8"))
    return [judge_example(one) for one in data["examples"]] + [judge_states(one) for one in data["states"]]


def judge_example(one: dict[str, Any]) -> Judged:
    model = find_model(one["model"])
    assert model is not None, one["model"]
    layout = Layout(**one["layout"])
    device = Device(one["gpu"], one["gb"], find_gpu(one["gpu"]) or UNKNOWN_GPU, one["per_node"],
                    NETWORK_SHARE * one["network"] / 8)  # fmt: skip
    memory = estimate_memory(model, layout)
    flops = flops_per_token(model, layout.sequence)
    rate = one.get("rate")
    if "mfu" in one:
        rate = device.facts.tflops * 1e12 * one["mfu"] / flops
    if "tflops" in one:  # those papers count the recomputed forward pass: 8 FLOPs for every 6
        rate = one["tflops"] * 1e12 * 0.75 / flops
    splits = [("TP", layout.tensor), ("PP", layout.pipeline), ("CP", layout.context)]
    split = "".join(f" {name} {degree}" for name, degree in splits if degree > 1)
    what = f"{one['model']}, {layout.gpus} x {one['gpu']} {one['gb']} GB, {layout.method} {layout.spread}{split}"
    what += f", {layout.micro_batch:g} x {layout.sequence}, {layout.recompute} recomputation"
    return Judged(
        id=str(one["id"]),
        what=what + (f" ({one['note']})" if "note" in one else ""),
        source=one["source"],
        fitted=one.get("fitted", False),
        memory=(one["memory_gib"], memory.gib) if "memory_gib" in one else None,
        rate=(rate, tokens_per_second(model, layout, device, one.get("steps", 1))) if rate else None,
        verdict=(one["fits"], judge(memory, one["gb"])) if "fits" in one else None,
    )


def judge_states(one: dict[str, Any]) -> Judged:
    """The worst of the stages of a published table of states."""
    pairs = [
        (gb, states_gib(one["billions"] * 1e9, Layout(spread=spread, gpus=one["gpus"])) * 2**30 / 1e9)
        for spread, gb in one["gb"].items()
    ]
    worst = max(pairs, key=lambda pair: abs(pair[1] / pair[0] - 1))
    what = (
        f"states of {one['billions']} B parameters over {one['gpus']} GPUs, {', '.join(one['gb'])} (the worst, in GB)"
    )
    return Judged(str(one["id"]), what, one["source"], False, worst, None, None)


def counts(rows: Iterable[Judged]) -> dict[str, tuple[int, int]]:
    """What held, of how many."""
    rows = list(rows)
    held = {"memory within 15 %": [r.memory_holds for r in rows if r.memory]}
    held["of these, not used to fit a constant"] = [r.memory_holds for r in rows if r.memory and not r.fitted]
    held["speed inside the range"] = [r.rate_holds for r in rows if r.rate]
    held["ran, and the planner says fits or tight; did not, and it says no"] = [
        r.verdict_holds for r in rows if r.verdict
    ]
    held['no "fits" where it did not'] = [not r.is_wrong_fit for r in rows if r.verdict and not r.verdict[0]]
    return {name: (sum(found), len(found)) for name, found in held.items()}


def table(rows: Iterable[Judged]) -> str:
    """The table of docs/planner.md."""
    lines = [
        "| # | training | memory: measured, said (GiB) | tokens/s a GPU: measured, range | ran | said |",
        "|" + "---|" * 6,
    ]
    for row in rows:
        memory = (
            f"{row.memory[0]:g}, {row.memory[1]:.1f} ({row.memory[1] / row.memory[0] - 1:+.0%})" if row.memory else ""
        )
        memory += "" if row.memory_holds else " **miss**"
        rate = f"{row.rate[0]:,.0f}, {row.rate[1].low:,.0f} to {row.rate[1].best:,.0f}" if row.rate else ""
        rate += "" if row.rate_holds else " **miss**"
        ran, said = ("yes" if row.verdict[0] else "no", row.verdict[1]) if row.verdict else ("", "")
        said += "" if row.verdict_holds else " **miss**"
        fitted = " (fitted)" if row.fitted else ""
        lines.append(f"| [{row.id}]({row.source}) | {row.what}{fitted} | {memory} | {rate} | {ran} | {said} |")
    return "\n".join(lines)


def main() -> int:
    rows = judged()
    found = counts(rows)
    summary = "\n".join(f"- {name}: {held} of {of}" for name, (held, of) in found.items())
    print(summary)
    for row in rows:
        if not (row.memory_holds and row.rate_holds and row.verdict_holds):
            print(f"miss {row.id}: {row.what}: {row.memory or ''} {row.rate or ''} {row.verdict or ''}")
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        PAGE.write_text(f"{before}{START}\n{summary}\n\n{table(rows)}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    shares = {name: held / of for name, (held, of) in found.items()}
    good = min(shares["memory within 15 %"], shares["speed inside the range"]) >= ENOUGH
    return 0 if good and shares['no "fits" where it did not'] == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
