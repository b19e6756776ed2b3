"""Values that sbatch cannot read, each beside good ones of the same option."""

from __future__ import annotations

import pytest

from graph.usecases.mend_script import cure
from graph.verification.checks import check
from knowledge.catalogue import catalogue

JOB = "#!/bin/bash\n#SBATCH --ntasks=1 --time=01:00:00\n#SBATCH {}\nsrun python train.py\n"


def said(directive: str, rule: str = "directive-value", machine: str | None = None) -> list[tuple[int, str, str]]:
    cluster = catalogue().clusters[machine] if machine else None
    return [(one.line, one.severity, one.says) for one in check(JOB.format(directive), cluster) if one.rule == rule]


@pytest.mark.parametrize(
    ("bad", "names"),
    [
        ("--mem=64GiB", "64GiB"),
        ("--mem=1.5T", "1.5T"),
        ("--mem-per-cpu=lots", "lots"),
        ("--array=1-N", "1-N"),
        ("-a one,two", "one,two"),
        ("--dependency=afterokay:17", "nearest is afterok"),
        ("-d afterok:17,whenever:18", "whenever"),
        ("--mail-type=FAILED", "nearest is FAIL"),
        ("--mail-type=success", "there are ALL"),
        ("--begin=monday", "monday"),
        ("--signal=B:SIGUSR3@60", "SIGUSR3"),
        ("--signal=USR1@5m", "5m"),
        ("--exclusive=true", "true"),
        ("--nodes=8-4", "8-4"),
        ("--gres=gpus:2", "called gpu"),
        ("--gres=pgu:2", "called gpu"),
        ("--gres=GPU:2", "called gpu"),
    ],
)
def test_bad_values(bad: str, names: str) -> None:
    found = said(bad)
    assert [(line, severity) for line, severity, _ in found] == [(3, "error")]
    assert names in found[0][2]


@pytest.mark.parametrize(
    "good",
    [
        *("--mem=0", "--mem=64", "--mem=64G", "--mem=64gb", "--mem-per-cpu=2000M", "--mem=$MEMORY"),
        *("--array=7", "--array=1-4", "--array=0-15:4%2", "--array=1,3,5-7", "-a 1-10%3", "--array=<tasks>", "-a 1-4,"),
        *(
            "--dependency=singleton",
            "-d afterok:1:2,afternotok:3",
            "-d after:17+10",
            "-d afterany:1?afterok:2",
            "-d 17",
        ),
        *("--dependency=aftercorr:17_4", "--dependency=AfterOk:17"),
        *("--mail-type=ALL", "--mail-type=end,fail", "--mail-type=TIME_LIMIT_80,ARRAY_TASKS", "--mail-type=NONE"),
        *("--begin=now+1hour", "--begin=16:00", "--begin=2027-01-02T03:04:05", '--begin="tomorrow 8:00"', "-b noon"),
        *("--signal=USR1", "--signal=B:SIGTERM@300", "--signal=10@60", "--signal=R:usr2@1"),
        *("--exclusive", "--exclusive=user", "--exclusive=topo", "--nodes=2-4", "--nodes=2-2", "--nodes=4"),
        *("--gres=gpu:4", "--gres=gpu:a100:2,nvme:1", "--gres=vgpu:1", "--gres=gpu", "--gres=shard:2", "--gres=none"),
    ],
)
def test_good_values(good: str) -> None:
    assert said(good) == []


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("--mem=64GiB", "--mem=64G"),
        ("--dependency=afterokay:17", "--dependency=afterok:17"),
        ("--gres=gpus:2", "--gres=gpu:2"),
        ("--nodes=8-4", "--nodes=4-8"),
    ],
)
def test_cures(bad: str, good: str) -> None:
    assert f"#SBATCH {good}\n" in cure(JOB.format(bad), None).text


@pytest.mark.parametrize(
    ("rule", "machine", "bad", "good"),
    [
        ("node-gpu-type", "delta", "--gres=gpu:nvidia_v100:2", "--gres=gpu:nvidia_a100:2"),
        ("node-gpu-type", "delta", "--gpus=mi250x:1", "--gpus=mi100:1"),
        ("node-gpu-type", "delta", "--gpus-per-node=h100:4", "--gpus-per-node=1g.10gb:4"),
        ("node-constraint", "perlmutter", "--constraint=v100", "--constraint=gpu"),
        ("node-constraint", "perlmutter", "-C a100", "-C gpu&hbm40g"),
        ("node-constraint", "perlmutter", "-C haswell", "-C hbm80g"),
    ],
)
def test_what_the_machine_does_not_have(rule: str, machine: str, bad: str, good: str) -> None:
    assert [(line, severity) for line, severity, _ in said(bad, rule, machine)] == [(3, "warning")]
    assert said(good, rule, machine) == []


def test_constraints_are_left_alone_where_the_facts_do_not_choose_nodes_by_them() -> None:
    assert said("--constraint=v100", "node-constraint", "delta") == []


@pytest.mark.parametrize(
    ("directive", "severity", "near"),
    [("-p gpuA10x4", "error", "gpuA100x4"), ("-p gpua100x4", "error", "gpuA100x4"), ("-p gpuA100x4-x", "warning", "")],
)
def test_a_queue_of_mixed_case_is_found_as_the_nearest(directive: str, severity: str, near: str) -> None:
    ((line, weight, says),) = said(directive, "queue-unknown", "delta")
    assert (line, weight) == (3, severity)
    assert says.endswith(f"the nearest is '{near}'") if near else "nearest" not in says


def test_a_qos_is_known_in_any_case() -> None:
    assert said("-q Regular", "queue-unknown", "perlmutter") == []
