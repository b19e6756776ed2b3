"""Bad scripts: a real Slurm refuses each, and `check` had already said why, on the line that is wrong.

Each is Delta's or Perlmutter's golden script with one line changed, or one line more. Slurm's words are those of
22.05; newer ones differ in places.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from graph.verification.checks.run import check
from graph.verification.dry_run import dry_run
from knowledge.catalogue import catalogue

GOLDEN = Path(__file__).parent.parent / "golden"
# Why no check can know it: the text is right in itself, and only the running machine says no.
ONLY_SLURM = {
    "node that does not exist": "the facts hold no node names",
    "reservation that does not exist": "reservations come and go: no fact",
}
# What no rule reads yet. A kind that is caught shows as XPASS: take it out here.
NO_RULE_YET: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bad:
    """The line of the golden script that is replaced (empty: a line more), what takes its place, Slurm's words.

    also is replaced too, and right in itself. blamed is the line that check names where that is another than the
    changed one. A queue, GPU type or constraint that the facts do not hold may still be there: a warning, no error.
    """

    kind: str
    old: str
    new: str
    slurm_says: str
    machine: str = "delta"
    also: tuple[str, str] | None = None
    blamed: str = ""
    severity: str = "error"

    def script(self) -> tuple[str, int]:
        """The bad text, and the number of the line that check should name."""
        lines = (GOLDEN / self.machine / "pytorch-ddp.sh").read_text().splitlines()
        if self.old:
            lines[lines.index(f"#SBATCH {self.old}")] = f"#SBATCH {self.new}"
        else:
            at = 1 + max(n for n, line in enumerate(lines) if line.startswith("#SBATCH"))
            lines.insert(at, f"#SBATCH {self.new}")
        if self.also:
            lines[lines.index(f"#SBATCH {self.also[0]}")] = f"#SBATCH {self.also[1]}"
        return "\n".join(lines) + "\n", 1 + lines.index(f"#SBATCH {self.blamed or self.new}")


USUAL, NODES, TIME, GPUS = "--partition=gpuA100x4", "--nodes=2", "--time=01:00:00", "--gpus-per-node=4"
CPUS = "--cpus-per-task=64"
NOT_THERE = "Requested node configuration is not available"
LAYOUT = "Node count specification invalid"
TABLE = (
    Bad("partition that does not exist", USUAL, "--partition=bigmem", "invalid partition", severity="warning"),
    Bad("partition misspelt", USUAL, "--partition=gpuA10x4", "invalid partition"),
    Bad("more nodes than the machine has", NODES, "--nodes=101", "More processors requested than permitted"),
    Bad("more nodes than the partition takes", NODES, "--nodes=5", LAYOUT, also=(USUAL, f"{USUAL}-interactive")),
    Bad("walltime beyond the limit", TIME, "--time=49:00:00", "Requested time limit is invalid"),
    Bad("walltime in words", TIME, "--time=2hours", "Invalid --time specification"),
    Bad("walltime with an equals sign after a short option", TIME, "-t=01:00:00", "Invalid --time specification"),
    Bad("option that does not exist", GPUS, "--gpu-per-node=4", "unrecognized option"),
    Bad("option of PBS", "", "-l walltime=01:00:00", "invalid option"),
    Bad("more GPUs than a node has", GPUS, "--gpus-per-node=8", NOT_THERE),
    Bad("GPUs of a type that is not there", GPUS, "--gpus-per-node=h100:4", NOT_THERE, severity="warning"),
    Bad("resource that does not exist", GPUS, "--gres=gpus:4", "Invalid generic resource"),
    Bad("more CPUs than a node has", CPUS, "--cpus-per-task=128", NOT_THERE),
    Bad(
        "more tasks than a node has CPUs",
        "--ntasks-per-node=1",
        "--ntasks-per-node=4",
        NOT_THERE,
        blamed="--cpus-per-task=64",
    ),
    Bad("more memory than a node has", "--mem=0", "--mem=600G", NOT_THERE),
    Bad("memory in a unit that is none", "--mem=0", "--mem=200GiBi", "Invalid --mem specification"),
    Bad("fewest nodes above most nodes", NODES, "--nodes=4-2", "less than minimum node count"),
    Bad("node count in words", NODES, "--nodes=two", "not a valid node count"),
    Bad("blanks round the equals sign", NODES, "--nodes = 2", "not a valid node count"),
    Bad("task count that is no number", "--ntasks-per-node=1", "--ntasks-per-node=four", "Invalid numeric value"),
    Bad("dependency of a kind that is none", "", "--dependency=afterdone:123", "dependency"),
    Bad("array that is no list of numbers", "", "--array=one-four", "array"),
    Bad("begin that is no time", "", "--begin=sometime", "Invalid --begin"),
    Bad("kind of mail that is none", "", "--mail-type=DONE", "Invalid --mail-type specification"),
    Bad("signal that is none", "", "--signal=SIGNOPE@60", "Invalid --signal specification"),
    Bad("exclusive of a kind that is none", "--exclusive", "--exclusive=yes", "Invalid --exclusive specification"),
    Bad(
        "constraint that no node has",
        "--constraint=gpu",
        "--constraint=v100",
        "Invalid feature",
        "perlmutter",
        severity="warning",
    ),
    Bad("QOS misspelt", "--qos=regular", "--qos=regulr", "Invalid qos", "perlmutter"),
    Bad("QOS that does not exist", "--qos=regular", "--qos=fast", "Invalid qos", "perlmutter", severity="warning"),
    Bad("walltime beyond the QOS", "--qos=regular", "--qos=debug", "QOSMaxWallDuration", "perlmutter", blamed=TIME),
    Bad("node that does not exist", "", "--nodelist=gpub999", "Invalid node name"),
    Bad("reservation that does not exist", "", "--reservation=tuesday", "reservation is invalid"),
)


@pytest.mark.parametrize("bad", TABLE, ids=lambda bad: bad.kind)
def test_slurm_refuses_it(whole_slurm, tmp_path, bad: Bad) -> None:  # type: ignore[no-untyped-def]
    script = tmp_path / "job.sh"
    script.write_text(bad.script()[0])
    said = whole_slurm(bad.machine).run("sbatch", "--test-only", str(script))
    assert said.returncode != 0 and bad.slurm_says in said.stderr, said.stderr
    told = dry_run(bad.script()[0], "slurm", lambda _: (said.returncode, said.stdout + said.stderr))
    assert told.findings and all(one.severity == "error" for one in told.findings)
    assert "dry-run-refused" not in {one.rule for one in told.findings}, said.stderr
    assert {one.line for one in told.findings} <= {0, bad.script()[1]}, told.findings


def test_the_dry_run_asks_the_slurm_that_is_there(whole_slurm, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("SLURM_CONF", whole_slurm("delta").environment["SLURM_CONF"])
    good = dry_run((GOLDEN / "delta" / "pytorch-ddp.sh").read_text(), "slurm")
    assert good.asked and not good.findings and "to start at" in good.says
    text, line = next(bad for bad in TABLE if bad.kind == "walltime beyond the limit").script()
    refused = dry_run(text, "slurm")
    assert refused.asked and [(one.rule, one.line) for one in refused.findings] == [("dry-run-walltime", line)]


def seen_by_check() -> list[object]:
    """The rows that a check could know, those without a rule yet marked."""
    late = pytest.mark.xfail(reason="no rule reads it yet", strict=False)
    rows = [bad for bad in TABLE if bad.kind not in ONLY_SLURM]
    return [pytest.param(bad, marks=[late] if bad.kind in NO_RULE_YET else [], id=bad.kind) for bad in rows]


@pytest.mark.parametrize("bad", seen_by_check())
def test_check_had_said_why(bad: Bad) -> None:
    text, line = bad.script()
    found = [one for one in check(text, catalogue().clusters[bad.machine]) if one.severity == bad.severity]
    assert line in {one.line for one in found}, [(one.line, one.rule, one.says) for one in found]


@pytest.mark.parametrize("machine", sorted({bad.machine for bad in TABLE}))
def test_check_has_nothing_against_the_script_they_are_made_from(machine: str) -> None:
    text = (GOLDEN / machine / "pytorch-ddp.sh").read_text()
    assert not [one for one in check(text, catalogue().clusters[machine]) if one.severity == "error"]
