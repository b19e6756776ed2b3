# ruff: noqa: E501
"""Slurm's words become findings; where nothing answers, that is said."""

from __future__ import annotations

import pytest

from graph.verification.dry_run import dry_run

SCRIPT = (
    "#!/bin/bash\n#SBATCH --nodes=99\n#SBATCH --time=96:00:00\n#SBATCH --partition=gpux\n#SBATCH --gres=gpu:9\n"
    "#SBATCH --mem=9T\n#SBATCH --gpu-per-nodes=4\n#SBATCH --ntasks-per-node=four\n#SBATCH -a one\n"
    "#SBATCH --qos=debug\nsrun hostname\n"
)


@pytest.mark.parametrize(
    ("code", "output", "rule", "line"),
    [
        (1, "allocation failure: Requested time limit is invalid (missing or exceeds some limit)", "dry-run-walltime", 3),
        (1, "allocation failure: Node count specification invalid", "dry-run-nodes", 2),
        (1, "sbatch: error: invalid partition specified: gpux\nallocation failure: Invalid partition name specified", "dry-run-queue", 4),
        (1, "sbatch: error: Invalid generic resource (gres) specification", "dry-run-gpus", 5),
        (255, "sbatch: unrecognized option '--gpu-per-nodes=4'\nTry \"sbatch --help\" for more information", "dry-run-option", 7),
        (1, "sbatch: error: Memory specification can not be satisfied\nallocation failure: Requested node configuration is not available", "dry-run-memory", 6),
        (1, "allocation failure: Requested node configuration is not available", "dry-run-node", 0),
        (255, "sbatch: error: Invalid --time specification", "dry-run-value", 3),
        (1, "allocation failure: Invalid account or account/partition combination specified", "dry-run-account", 4),
        (1, "sbatch: error: More processors requested than permitted", "dry-run-nodes", 2),
        (255, "sbatch: error: Maximum node count 2 is less than minimum node count 4", "dry-run-nodes", 2),
        (255, 'sbatch: error: Invalid numeric value "four" for --ntasks-per-node.', "dry-run-value", 8),
        (1, "allocation failure: Invalid job array specification", "dry-run-array", 9),
        (1, "sbatch: error: QOSMaxWallDurationPerJobLimit\nallocation failure: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", "dry-run-walltime", 3),
        (1, "sbatch: error: QOSMaxNodePerJobLimit\nallocation failure: Job violates accounting/QOS policy", "dry-run-nodes", 2),
        (1, "sbatch: error: QOSMaxSubmitJobPerUserLimit\nallocation failure: Job violates accounting/QOS policy", "dry-run-policy", 10),
        (1, "sbatch: error: something that no table holds", "dry-run-refused", 0),
    ],
)  # fmt: skip
def test_refusals(code: int, output: str, rule: str, line: int) -> None:
    told = dry_run(SCRIPT, "slurm", lambda text: (code, output))
    assert told.asked
    assert (told.findings[0].rule, told.findings[0].line, told.findings[0].severity) == (rule, line, "error")
    assert len(told.findings) == 1


@pytest.mark.parametrize(
    ("directives", "output", "line"),
    [
        (("-N 2", "-t=01:00:00"), "sbatch: error: Invalid --time specification", 3),
        (("--cpus-per-task=64", "--gpus-per-node=9"), "Requested node configuration is not available", 0),
        (("--nodes=2", "--mem=0", "--gpus-per-node=9"), "Requested node configuration is not available", 4),
        (("--gpus-per-node=4 --cpus-per-task=99",), "Requested node configuration is not available", 2),
        (("--qos=debug", "--nodes=2"), "sbatch: error: QOSMaxWallDurationPerJobLimit", 2),
    ],
)
def test_the_line_that_is_blamed(directives: tuple[str, ...], output: str, line: int) -> None:
    text = "\n".join(["#!/bin/bash", *(f"#SBATCH {one}" for one in directives), "srun hostname", ""])
    assert [one.line for one in dry_run(text, "slurm", lambda _: (1, output)).findings] == [line]


def test_acceptance() -> None:
    told = dry_run(
        SCRIPT, "slurm", lambda text: (0, "sbatch: Job 2 to start at 2026-11-21T01:12:27 using 128 processors")
    )
    assert told.asked
    assert told.findings == ()
    assert "Job 2 to start" in told.says


@pytest.mark.parametrize(
    "output",
    ["sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
     "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error\nsbatch: fatal: Could not establish a configuration source"],
)  # fmt: skip
def test_no_answer_is_no_refusal(output: str) -> None:
    told = dry_run(SCRIPT, "slurm", lambda text: (1, output))
    assert not told.asked
    assert told.findings == ()


@pytest.mark.parametrize("scheduler", ["pbs", "lsf", "flux"])
def test_others_have_none(scheduler: str) -> None:
    told = dry_run(SCRIPT, scheduler)
    assert not told.asked
    assert "dry" in told.says
