"""What is made of the records of a rehearsal. Nothing is run: the records are written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from graph.extraction.script import read_script
from graph.verification.rehearsal import judge
from graph.verification.rehearsal.judge import causes
from graph.verification.rehearsal.report import text_of
from graph.verification.rehearsal.types import Rehearsal
from graph.verification.simulator.allocation import allocation
from graph.verification.simulator.config import StandIn
from graph.verification.simulator.running import Ran
from knowledge.catalogue import catalogue
from knowledge.types import Finding

SCRIPT = """#!/bin/bash
#SBATCH -N 2
#SBATCH -C gpu
#SBATCH --gpus-per-node=2
export MASTER_ADDR=$(scontrol show hostnames | head -n 1)
srun -n4 python train.py
"""
FACTS = StandIn("perlmutter", "slurm", ("n1", "n2"), 2, gpus_per_node=2, known_modules=("pytorch",), interface="hsn0")


def rank(number: int, **changes: object) -> dict[str, Any]:
    """A rank that did well, but for the changes."""
    good = {
        "rank": number, "local_rank": number % 2, "world_size": 4, "node": f"n{number // 2 + 1}",
        "device": str(number % 2),
        "devices_seen": ["0", "1"], "master": "n1:29500", "backend": "gloo", "strategy": "ddp", "sums_right": True,
        "loss": 5.7, "wrapper": "DDP", "seconds": 1.0, "error": "", "group": "",
    }  # fmt: skip
    return good | changes


def seen(number: int, **changes: str) -> dict[str, Any]:
    given = {"RANK": str(number), "MASTER_ADDR": "n1", "MASTER_PORT": "29500"} | changes
    return {"kind": "seen", "node": "n1", "variables": given}


ALL = [rank(n) for n in range(4)]
LAUNCH = {"kind": "launch", "launcher": "srun", "ntasks": 4, "counts": [2, 2], "command": ["python"], "warnings": []}


def judged(ranks: list[dict[str, Any]], *records: dict[str, Any], text: str = SCRIPT, **ran: Any) -> Rehearsal:
    cluster = catalogue().find("perlmutter")
    assert cluster
    script = read_script(text)
    what = Ran(records=[LAUNCH, *records], ranks=ranks, **ran)
    return judge.rehearsal(what, FACTS, allocation(script, cluster), script, text, "namespaces", 3.2)


def rules(outcome: Rehearsal) -> list[str]:
    return [one.rule.removeprefix("rehearsal-") for one in outcome.findings]


def test_all_well_is_no_finding() -> None:
    outcome = judged(ALL, *(seen(n) for n in range(4)))
    assert outcome.passed
    assert outcome.findings == ()
    assert "world size: 4 formed, 4 by the directives" in text_of(outcome)


@pytest.mark.parametrize(
    ("ranks", "rule"),
    [
        ([], "no-ranks"),
        (ALL[:2], "world-size"),
        ([rank(n, world_size=2) for n in range(4)], "world-size"),
        ([rank(0), rank(0), rank(1), rank(1)], "world-size"),
        ([rank(n, device="0") for n in range(4)], "shared-gpu"),
        ([rank(n, node="n1", device=str(n)) for n in range(4)], "spread"),
        ([*ALL[:3], rank(3, sums_right=False)], "wrong-sum"),
        ([*ALL[:3], rank(3, error="ValueError: no RANK", sums_right=False)], "rank-failed"),
        ([rank(n, node=f"n{n % 2 + 1}") for n in range(8)], "world-size"),
    ],
)
def test_what_ranks_say(ranks: list[dict[str, Any]], rule: str) -> None:
    outcome = judged(ranks)
    assert rule in rules(outcome)
    assert not outcome.passed


@pytest.mark.parametrize(
    ("records", "rule", "severity"),
    [
        ([seen(0), seen(1, MASTER_ADDR="n2")], "master-differs", "error"),
        ([seen(0, MASTER_ADDR="localhost")], "master-local", "error"),
        ([seen(0), seen(0)], "rank-twice", "error"),
        ([seen(0, NCCL_SOCKET_IFNAME="ib0")], "interface", "warning"),
        ([{"kind": "refused", "launcher": "srun", "says": "no"}], "refused", "error"),
        ([{"kind": "inner_failed", "program": "torch.distributed.run", "says": "x"}], "inner-failed", "error"),
        ([{"kind": "crashed", "name": "srun", "says": "x"}], "own-failure", "error"),
        ([{"kind": "shell", "what": "unknown", "words": ["srnu"]}], "unknown-command", "error"),
        ([{"kind": "shell", "what": "unknown", "words": ["sitetool"]}], "unknown-command", "warning"),
        ([{"kind": "shell", "what": "module", "words": ["load", "gromacs/2025"]}], "unknown-module", "info"),
        ([{"kind": "shell", "what": "module", "words": ["load", "pytroch/2.6"]}], "unknown-module", "error"),
        ([{"kind": "shell", "what": "module", "words": ["load", "pytorch2"]}], "unknown-module", "info"),
    ],
)
def test_what_the_records_say(records: list[dict[str, Any]], rule: str, severity: str) -> None:
    outcome = judged(ALL, *records)
    found = next(one for one in outcome.findings if one.rule == f"rehearsal-{rule}")
    assert found.severity == severity
    assert outcome.passed is (severity != "error")


@pytest.mark.parametrize(
    "variables", [{"NCCL_SOCKET_IFNAME": "hsn"}, {"NCCL_SOCKET_IFNAME": "hsn1,hsn2"}, {"NCCL_SOCKET_IFNAME": "^lo"}]
)
def test_an_interface_of_the_machine_is_fine(variables: dict[str, str]) -> None:
    assert judged(ALL, seen(0, **variables)).findings == ()


def test_a_hang_that_waits_for_nodes_is_explained() -> None:
    waits = {"kind": "inner", "program": "torch.distributed.run", "words": ["--nnodes=3", "train.py"]}
    assert rules(judged([], waits, timed_out=True)) == ["nodes"]


def test_a_failure_of_the_script_names_its_line() -> None:
    output = "/rehearsal/work/job.sh: line 6: VENV: unbound variable\n"
    found = next(f for f in judged(ALL, output=output, code=1).findings if f.rule == "rehearsal-exit-code")
    assert found.line == 6
    assert "unbound variable" in found.why


@pytest.mark.parametrize(
    ("text", "says"), [(SCRIPT.replace("\n", "\r\n"), "DOS line breaks"), ("\n" + SCRIPT, "batch script")]
)
def test_what_sbatch_would_not_take(text: str, says: str) -> None:
    assert any(says in one.says for one in judged(ALL, text=text).findings)


def test_modules_are_listed_as_they_were_loaded() -> None:
    words = [["purge"], ["load", "pytorch/2.6"], ["use", "/soft"], ["pytorch", "cuda/12"]]
    assert judged(ALL, *({"kind": "shell", "what": "module", "words": w} for w in words)).modules == (
        "pytorch/2.6", "pytorch", "cuda/12",
    )  # fmt: skip


def test_a_value_from_outside_is_told_alone() -> None:
    outcome = judged([], output="/rehearsal/work/job.sh: line 5: DATADIR: unbound variable\n", code=1)
    assert rules(outcome) == ["from-outside"]
    own = judged([], output="/rehearsal/work/job.sh: line 5: MASTER_ADDR: unbound variable\n", code=1)
    assert "exit-code" in rules(own)


def test_ranks_that_the_program_finds_itself_are_a_note() -> None:
    adopted = {"kind": "adopted", "names": ["LOCAL_RANK", "RANK"], "group": "", "step": True}
    outcome = judged(ALL, adopted, *(seen(n) for n in range(4)))
    assert (outcome.passed, rules(outcome)) == (True, ["own-needs"])


def test_what_every_round_of_a_loop_met_is_one_finding() -> None:
    one = Finding("rehearsal-refused", "error", 4, "srun refuses: error", "why", None)
    other = Finding("rehearsal-refused", "error", 5, "srun refuses: error", "why", None)
    assert causes([one, one, other, one]) == [one, other]
