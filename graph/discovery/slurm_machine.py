"""Slurm: partitions and node kinds, from `sinfo` and `scontrol show partition`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.discovery.found import Kinds, MachineFound, NodeKind, QueueFound
from knowledge.schedulers.asking import CouldNotAsk, Printed
from knowledge.schedulers.live import Ask
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.times import printed_seconds

# Partition, nodes, cores, memory in MB, GPUs, features, sockets:cores:threads.
KINDS = ["sinfo", "-h", "-a", "-o", "%P|%D|%c|%m|%G|%f|%z"]
PARTITIONS = ["scontrol", "-a", "show", "partition"]
GPU = re.compile(r"gpu(?::([A-Za-z][\w.-]*))?:(\d{1,6})(?!\d)")


def slurm_machine(ask: Ask) -> MachineFound | CouldNotAsk:
    """This machine's partitions; why not, where one of the two commands could not be asked."""
    kinds, told = ask(KINDS), ask(PARTITIONS)
    for answer in (kinds, told):
        if isinstance(answer, CouldNotAsk):
            return answer
    assert isinstance(kinds, Printed)
    assert isinstance(told, Printed)
    nodes = kinds_by_partition(kinds.text.splitlines())
    rows = [dict(row) for output in scheduler_output(told.text) for row in output.rows]
    queues = tuple(queue_of(row, nodes.get(row["PartitionName"], ())) for row in rows if "PartitionName" in row)
    settings = ask(["scontrol", "show", "config"])
    config = settings.text if isinstance(settings, Printed) else ""
    needed = "associations" in setting(config, "AccountingStorageEnforce") if config else None
    return MachineFound("slurm", setting(config, "ClusterName"), queues, ("sinfo", "scontrol show partition"), needed)


def setting(config: str, name: str) -> str:
    """A value of `scontrol show config`."""
    found = re.search(rf"^[^\S\n]*{name}\s*=\s*(.*?)\s*$", config, re.MULTILINE)
    return found[1] if found else ""


def kinds_by_partition(lines: Sequence[str]) -> dict[str, Kinds]:
    """The kinds of nodes of each partition, most numerous first."""
    found: dict[str, dict[NodeKind, int]] = {}
    for line in lines:
        cells = line.split("|")
        if len(cells) == 7:
            kinds = found.setdefault(cells[0].rstrip("*"), {})
            kind = kind_of(cells)
            kinds[kind] = kinds.get(kind, 0) + first_number(cells[1])
    return {name: tuple(sorted(kinds.items(), key=lambda pair: -pair[1])) for name, kinds in found.items()}


def kind_of(cells: Sequence[str]) -> NodeKind:
    gpus = GPU.findall(cells[4])
    names = [name for name, _ in gpus if name]
    features = () if cells[5] == "(null)" else tuple(cells[5].split(","))
    threads = cells[6].rsplit(":", 1)[-1].rstrip("+")
    return NodeKind(
        first_number(cells[2]),
        first_number(cells[3]),
        names[0].lower() if names else "",
        sum(int(count) for _, count in gpus),
        features,
        first_number(threads) or 1,
    )


def first_number(text: str) -> int:
    found = re.match(r"\d{1,12}(?!\d)", text.strip())  # no number of nodes, cores or megabytes is longer
    return int(found.group()) if found else 0


def queue_of(row: dict[str, str], kinds: Kinds) -> QueueFound:
    """One block of `scontrol show partition` with its nodes."""
    most = row.get("MaxNodes", "")
    return QueueFound(
        row["PartitionName"],
        kinds,
        printed_seconds(row.get("MaxTime", "")),
        first_number(most) or None,
        max(1, first_number(row.get("MinNodes", "1"))),
        row.get("Default") == "YES",
        row.get("OverSubscribe") == "EXCLUSIVE",
        row.get("State") == "UP",
    )
