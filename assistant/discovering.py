"""`maple-chat clusters discover` and `check`: what the scheduler here tells of its machine."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from assistant.errors import InputError
from assistant.node_job import NodeJobWish, told_by_node
from graph.discovery.cluster_yaml import cluster_yaml
from graph.discovery.drift import drift_of
from graph.discovery.found import MachineFound
from graph.discovery.machine_here import machine_here
from knowledge.catalogue import site_folders
from knowledge.cluster import Cluster
from knowledge.schedulers.asking import BoundedAsking, CouldNotAsk, scheduler_here
from knowledge.types import SCHEDULER_TITLES


def discover_here(output: Path | None, wish: NodeJobWish | None = None) -> int:
    """Print (or write) a cluster file for this machine. Raises InputError where its scheduler cannot tell.

    wish: a job on a node that is sent after a yes, or whose output is here; None: no node is asked.
    """
    machine = asked_machine()
    probed = told_by_node(machine, wish) if wish else None
    made = cluster_yaml(machine, date.today().isoformat(), probed)
    if made is None:
        raise InputError(
            f"no queue here has GPUs that {SCHEDULER_TITLES[machine.scheduler]} knows of; "
            "a cluster file is for machines with GPUs"
        )
    if output is None:
        print(made.text, end="")
    else:
        output.write_text(made.text, encoding="utf-8")
    place = site_folders()[-1] / f"{made.id}.yaml"
    notes = [f"not told by any command, add by hand: {line}" for line in made.unknown]
    notes += [f"left out, no GPUs: {', '.join(made.left_out)}"] if made.left_out else []
    if wish is None:
        notes.append("--node-job asks a node itself (GPU memory, links, interfaces, NUMA, internet), after a yes")
    notes.append(f"look it through, then put it at {place}: script, check, rehearse and ask work with it")
    print("\n".join(f"maple-chat: {note}" for note in notes), file=sys.stderr)
    return 0


def check_here(cluster: Cluster) -> int:
    """Print what differs from the facts; 1 where something does."""
    machine = asked_machine()
    if machine.scheduler != cluster.scheduler:
        theirs, ours = SCHEDULER_TITLES[cluster.scheduler], SCHEDULER_TITLES[machine.scheduler]
        raise InputError(f"{cluster.title} runs {theirs}, and {ours} is here: this is another machine")
    drifts = drift_of(cluster, machine.queues)
    for drift in drifts:
        print(f"{drift.queue}: {drift.says}")
    if not drifts:
        print(f"what the scheduler tells agrees with the facts of {cluster.title} ({cluster.as_of})")
    return int(bool(drifts))


def asked_machine() -> MachineFound:
    """The machine here. Raises InputError where there is no scheduler, or it does not answer."""
    scheduler = scheduler_here()
    if scheduler is None:
        raise InputError(
            "no scheduler is here (none of squeue, bjobs, qstat, flux is found); run this on the machine's login node"
        )
    found = machine_here(scheduler, BoundedAsking())
    if isinstance(found, CouldNotAsk):
        raise InputError(f"{found.says}; try again when the scheduler answers")
    return found
