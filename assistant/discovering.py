"""`maple-chat clusters discover` and `check`: what the scheduler here tells of its machine."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from assistant.errors import InputError
from graph.discovery.cluster_yaml import cluster_yaml
from graph.discovery.drift import drift_of
from graph.discovery.partitions import PartitionFound, partitions_here
from knowledge.catalogue import site_folders
from knowledge.cluster import Cluster
from knowledge.schedulers.asking import CouldNotAsk, Printed, ask_command, scheduler_here


def discover_here(output: Path | None) -> int:
    """Print (or write) a cluster file for this machine. Raises InputError where its scheduler cannot tell."""
    found = slurm_partitions()
    config = ask_command(["scontrol", "show", "config"])
    told = config.text if isinstance(config, Printed) else ""
    made = cluster_yaml(
        setting(told, "ClusterName") or "this-machine", found, needs_account(told), date.today().isoformat()
    )
    if made is None:
        raise InputError("no partition here has GPUs that Slurm knows of; a cluster file is for machines with GPUs")
    if output is None:
        print(made.text, end="")
    else:
        output.write_text(made.text, encoding="utf-8")
    place = site_folders()[-1] / f"{made.id}.yaml"
    notes = [f"not told by any command, add by hand: {line}" for line in made.unknown]
    notes += [f"left out, no GPUs: {', '.join(made.left_out)}"] if made.left_out else []
    notes.append(f"look it through, then put it at {place}: script, check, rehearse and ask work with it")
    print("\n".join(f"maple-chat: {note}" for note in notes), file=sys.stderr)
    return 0


def check_here(cluster: Cluster) -> int:
    """Print what differs from the facts; 1 where something does."""
    drifts = drift_of(cluster, slurm_partitions())
    for drift in drifts:
        print(f"{drift.queue}: {drift.says}")
    if not drifts:
        print(f"what the scheduler tells agrees with the facts of {cluster.title} ({cluster.as_of})")
    return int(bool(drifts))


def slurm_partitions() -> tuple[PartitionFound, ...]:
    """The partitions of the Slurm here. Raises InputError where there is none, or it does not answer."""
    if scheduler_here() != "slurm":
        raise InputError("no Slurm is here (squeue is not found); run this on the login node of a machine with Slurm")
    found = partitions_here(ask_command)
    if isinstance(found, CouldNotAsk):
        raise InputError(f"`{found.command}` could not be asked ({found.why}); try again when the scheduler answers")
    return found


def setting(config: str, name: str) -> str:
    """A value of `scontrol show config`."""
    for line in config.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == name:
            return value.strip()
    return ""


def needs_account(config: str) -> bool:
    """Whether jobs without an account are refused: Slurm enforces associations."""
    return "associations" in setting(config, "AccountingStorageEnforce")
