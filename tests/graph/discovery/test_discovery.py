"""A cluster file from what Slurm prints, and drift against known facts. The machine is invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graph.discovery.cluster_yaml import cluster_yaml
from graph.discovery.drift import drift_of
from graph.discovery.found import MachineFound
from graph.discovery.slurm_machine import slurm_machine
from knowledge.cluster_file import read_cluster
from knowledge.schedulers.asking import CouldNotAsk, Printed

SINFO = """\
gpu*|12|128|512000|gpu:a100:4(S:0-1)|a100,ib|2:32:2
gpu*|4|128|1024000|gpu:a100:8|a100|2:32:2
debug|2|128|512000|gpu:a100:4|a100,ib|2:32:2
cpu|90|64|256000|(null)|amd|2:32:1
"""
PARTITIONS = """\
PartitionName=gpu
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=8 MaxTime=2-00:00:00 MinNodes=1 LLN=NO MaxCPUsPerNode=UNLIMITED
   State=UP TotalCPUs=2048 TotalNodes=16 SelectTypeParameters=NONE

PartitionName=debug
   Default=NO MaxNodes=2 MaxTime=00:30:00 MinNodes=0 State=UP OverSubscribe=EXCLUSIVE

PartitionName=cpu
   Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=1 State=UP
"""


def ask(words: Sequence[str]) -> Printed | CouldNotAsk:
    if words[-1] == "config":
        return Printed("ClusterName             = Twinpeak\nAccountingStorageEnforce = associations,limits\n")
    return Printed(SINFO if words[0] == "sinfo" else PARTITIONS)


def found() -> MachineFound:
    answer = slurm_machine(ask)
    assert not isinstance(answer, CouldNotAsk)
    return answer


def test_a_cluster_file_is_written_that_the_catalogue_takes(tmp_path: Path) -> None:
    made = cluster_yaml(found(), "2026-11-22")
    assert made is not None
    path = tmp_path / "twinpeak.yaml"
    path.write_text(made.text)
    cluster = read_cluster(path)
    assert [(n.id, n.count, n.gpus.per_node, n.memory_gb) for n in cluster.node_types] == [
        ("a100x4", 12, 4, 500),
        ("a100x8", 4, 8, 1000),
    ]
    gpu, debug = cluster.queues
    assert (gpu.max_walltime, gpu.max_nodes, gpu.default, gpu.node_types) == ("48:00:00", 8, True, ("a100x4", "a100x8"))
    assert (debug.max_walltime, debug.purpose, debug.whole_nodes, debug.node_types) == (
        "00:30:00",
        "debug",
        True,
        ("a100x4",),
    )
    assert made.left_out == ("cpu",)
    assert "read here 2026-11-22" in str(gpu.source)
    assert cluster.account.needed


def test_a_machine_without_gpus_has_no_file() -> None:
    machine = found()
    bare = replace(machine, queues=tuple(queue for queue in machine.queues if queue.name == "cpu"))
    assert cluster_yaml(bare, "2026-11-22") is None


def test_drift_names_what_changed(tmp_path: Path) -> None:
    made = cluster_yaml(found(), "2026-11-22")
    assert made is not None
    path = tmp_path / "twinpeak.yaml"
    path.write_text(made.text.replace("48:00:00", "24:00:00").replace("max_nodes: 2", "max_nodes: 1"))
    cluster = read_cluster(path)
    assert [(d.queue, d.says) for d in drift_of(cluster, found().queues)] == [
        ("gpu", "time limit: the facts say 1 day, the scheduler 2 days"),
        ("debug", "most nodes: the facts say 1, the scheduler 2"),
    ]


def test_a_silent_scheduler_is_told_as_such() -> None:
    answer = slurm_machine(lambda words: CouldNotAsk(" ".join(words), "no answer within 15 s"))
    assert isinstance(answer, CouldNotAsk)
