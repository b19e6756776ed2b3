"""Changes of a waiting job's request, tried with a dry run that knows when each starts. All content is invented."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from assistant.printing.plain import print_plain
from graph.usecases.explain_waiting_here import explain_waiting_here
from knowledge.schedulers.asking import CouldNotAsk, Printed
from knowledge.schedulers.live import one_job

JOB = """\
JobId=51 JobName=sft
   UserId=mira(51234) GroupId=users(100) MCS_label=N/A
   Account=proj QOS=normal
   JobState=PENDING Reason={reason} Dependency=(null)
   RunTime=00:00:00 TimeLimit=02:00:00 TimeMin=N/A
   StartTime=2026-11-23T18:00:00 EndTime=Unknown
   Partition=gpu AllocNode:Sid=login1:1
   NumNodes=4-4 NumCPUs=8 NumTasks=8 CPUs/Task=1
"""
PARTITIONS = """\
PartitionName=gpu
   AllowAccounts=ALL AllowQos=ALL
   MaxNodes=8 MaxTime=1-00:00:00 State=UP

PartitionName=wide
   AllowAccounts=ALL AllowQos=ALL
   MaxNodes=64 MaxTime=1-00:00:00 State=UP

PartitionName=theirs
   AllowAccounts=other AllowQos=ALL
   MaxNodes=64 MaxTime=1-00:00:00 State=UP

PartitionName=short
   AllowAccounts=ALL AllowQos=ALL
   MaxNodes=64 MaxTime=01:00:00 State=UP
"""
SCRIPT = "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --time=02:00:00\nsrun python train.py\n"


class Cluster:
    """A Slurm with one waiting job; `starts` gives the hour that the dry run plans by a word of its options."""

    def __init__(self, starts: dict[str, str], reason: str = "Priority") -> None:
        self.starts, self.reason, self.tried = starts, reason, list[str]()

    def __call__(self, words: Sequence[str]) -> Printed | CouldNotAsk:
        command = " ".join(words)
        if command.startswith("scontrol show job"):
            return Printed(JOB.format(reason=self.reason))
        if command.startswith("scontrol show partition"):
            return Printed(PARTITIONS if command == "scontrol show partition" else PARTITIONS.split("\n\n")[0])
        if command.startswith("scontrol write"):
            return Printed(SCRIPT)
        if command.startswith("sbatch --test-only"):
            self.tried.append(command)
            hour = next((hour for word, hour in self.starts.items() if word in words), "20")
            if hour == "no":
                return CouldNotAsk(command, "allocation failure: Requested node configuration is not available")
            return Printed("", f"sbatch: Job 99 to start at 2026-11-23T{hour}:00:00 using 8 processors on nodes g[1-4]")
        return Printed("")


def told(cluster: Cluster) -> str:
    return print_plain(explain_waiting_here(one_job("slurm", "51", cluster), cluster).answer.document)


def test_what_starts_it_sooner_comes_first_with_its_diff() -> None:
    cluster = Cluster({"--partition=wide": "12", "--time=01:00:00": "15", "--nodes=2-2": "no"})
    said = told(cluster)
    wide, shorter = said.index("in the partition wide: the dry run plans"), said.index("with a time limit of 01:00:00")
    assert wide < shorter
    assert "scontrol update jobid=51 Partition=wide" in said and "+#SBATCH --partition=wide" in said
    assert "as it is: 23 November 2026 18:00" in said
    assert "NumNodes=2" not in said
    assert not [one for one in cluster.tried if "theirs" in one or "short" in one]
    assert all(one.startswith("sbatch --test-only") for one in cluster.tried)


def test_where_nothing_helps_nothing_is_advised() -> None:
    said = told(Cluster({}))
    assert "would not start it sooner" in said and "scontrol update" not in said


def test_a_change_that_the_dry_run_refuses_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules[__name__], "PARTITIONS", PARTITIONS.replace("MaxNodes=8 MaxTime=1-00", "MaxNodes=8 MaxTime=01")
    )
    said = told(Cluster({"--time=01:00:00": "no", "--partition=wide": "12"}, "PartitionTimeLimit"))
    assert "(tried: sbatch refuses it: Requested node configuration is not available)" in said
    assert "It would start:\n\n1. in the partition wide" in said


def test_a_hold_is_not_tried() -> None:
    cluster = Cluster({"--partition=wide": "12"}, "JobHeldUser")
    assert "--test-only" not in told(cluster) and not cluster.tried
